// binary16 and bfloat16: conversions of every half value, arithmetic, packed pairs, comparisons and
// NaN, against a software model.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "check.h"

static float half_to_float(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  float v = exponent == 0    ? std::ldexp(float(mantissa), -24)
            : exponent == 31 ? (mantissa ? NAN : INFINITY)
                             : std::ldexp(float(mantissa + 1024), exponent - 25);
  return h >> 15 ? -v : v;
}

// Round to nearest even, from a double that is exact or correctly rounded enough (products of two
// halves and sums of two halves are exact in double).
static uint16_t double_to_half(double v) {
  if (v != v) return 0x7fff;
  uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  v = std::fabs(v);
  if (v >= 65520) return sign | 0x7c00;
  int exponent;
  std::frexp(v, &exponent);
  int shift = std::max(exponent - 11, -24);
  double scaled = std::nearbyint(std::ldexp(v, -shift));
  if (v == 0) return sign;
  if (scaled >= 2048) {
    scaled /= 2;
    ++shift;
  }
  if (scaled < 1024) return sign | uint16_t(scaled);
  return sign | uint16_t(((shift + 25) << 10) + (int(scaled) - 1024));
}

__global__ void widen(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(i)));
}

__global__ void narrow(const float* in, unsigned short* rn, unsigned short* rz, unsigned short* bf,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  rn[i] = __half_as_ushort(__float2half_rn(in[i]));
  rz[i] = __half_as_ushort(__float2half_rz(in[i]));
  bf[i] = __bfloat16_as_ushort(__float2bfloat16_rn(in[i]));
}

__global__ void arithmetic(const unsigned short* a, const unsigned short* b, unsigned short* out,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]);
  out[i] = __half_as_ushort(__hadd_rn(x, y));
  out[n + i] = __half_as_ushort(__hsub_rn(x, y));
  out[2 * n + i] = __half_as_ushort(__hmul_rn(x, y));
  out[3 * n + i] = __half_as_ushort(__hfma(x, y, y));
  __half2 p = __halves2half2(x, y), q = __hadd2_rn(p, __halves2half2(y, x));
  out[4 * n + i] = __half_as_ushort(__high2half(q));
  out[5 * n + i] = static_cast<unsigned short>(__hlt(x, y) | __heq(x, y) << 1 | __hgt(x, y) << 2 |
                                               __hisnan(x) << 3 | __hne(x, y) << 4);
  out[6 * n + i] = __half_as_ushort(__hneg(x));
  out[7 * n + i] = __half_as_ushort(__habs(x));
}

int main() {
  Verdict verdict;
  float* df;
  CHECK(cudaMalloc(&df, 65536 * sizeof(float)));
  std::vector<float> wide(65536);
  widen<<<256, 256>>>(df);
  CHECK(cudaMemcpy(wide.data(), df, 65536 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 65536; ++i) {
    float want = half_to_float(static_cast<uint16_t>(i));
    if (want != want) {
      verdict.expect(wide[i] != wide[i], "NaN", i);
    } else {
      verdict.equal(wide[i], want, "half to float", i);
    }
  }

  const int n = 20000;
  Random random(23);
  std::vector<float> in(n);
  std::vector<unsigned short> rn(n), rz(n), bf(n), a(n), b(n), out(8 * n);
  for (int i = 0; i < n; ++i) {
    in[i] = std::ldexp(random.unit() - 0.5f, int(random.below(44)) - 26);
    if (i < 4) in[i] = i == 0 ? 65519.9f : i == 1 ? 65520.0f : i == 2 ? INFINITY : -0.0f;
    a[i] = static_cast<unsigned short>(random.bits());
    b[i] = i % 3 ? static_cast<unsigned short>(random.bits()) : a[i] ^ (random.bits() & 0x83ff);
  }
  unsigned short *d1, *d2, *d3;
  CHECK(cudaMalloc(&d1, 8 * n * 2));
  CHECK(cudaMalloc(&d2, n * 2));
  CHECK(cudaMalloc(&d3, n * 2));
  CHECK(cudaMemcpy(df, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  narrow<<<(n + 127) / 128, 128>>>(df, d1, d2, d3, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(rn.data(), d1, n * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(rz.data(), d2, n * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(bf.data(), d3, n * 2, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    verdict.equal(rn[i], double_to_half(in[i]), "to half, nearest", i);
    uint16_t zero = double_to_half(in[i]);
    if (std::fabs(half_to_float(zero)) > std::fabs(in[i])) --zero;
    verdict.equal(rz[i], zero, "to half, towards zero", i);
    uint32_t bits;
    std::memcpy(&bits, &in[i], 4);
    auto nearest = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    verdict.equal(bf[i], nearest, "to bfloat16", i);
  }
  CHECK(cudaMemcpy(d2, a.data(), n * 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d3, b.data(), n * 2, cudaMemcpyHostToDevice));
  arithmetic<<<(n + 127) / 128, 128>>>(d2, d3, d1, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d1, 8 * n * 2, cudaMemcpyDeviceToHost));
  const char* names[] = {"add", "subtract", "multiply", "fma", "add2 high"};
  for (int i = 0; i < n; ++i) {
    double x = half_to_float(a[i]), y = half_to_float(b[i]);
    const double want[] = {x + y, x - y, x * y, x * y + y, y + x};
    for (int k = 0; k < 5; ++k) {
      uint16_t bits = double_to_half(want[k]);
      // x*y+y may need more than 53 bits: leave the ties that double rounding could spoil.
      if (k == 3 && std::fabs(std::fma(x, y, y) - want[k]) > 0) continue;
      verdict.equal(out[k * n + i], bits, names[k], i);
    }
    int compare = (x < y) | (x == y) << 1 | (x > y) << 2 | (x != x) << 3 | (x < y || x > y) << 4;
    verdict.equal<int>(out[5 * n + i], compare, "compare", i);
    if (x == x) {
      verdict.equal<int>(out[6 * n + i], a[i] ^ 0x8000, "negate", i);
      verdict.equal<int>(out[7 * n + i], a[i] & 0x7fff, "absolute", i);
    }
  }
  return verdict.finish();
}
