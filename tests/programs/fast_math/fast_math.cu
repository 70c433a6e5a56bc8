// Built with -use_fast_math: .approx and .ftz instructions within the documented errors, subnormal
// inputs and results flushed, and intrinsics (__expf, __sinf, __fdividef, rsqrt).
#include <cstring>
#include <vector>

#include "check.h"

constexpr int functions = 12;

__global__ void run(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = y[i];
  float r[functions] = {a / b,    sqrtf(fabsf(a)), 1.0f / b,          rsqrtf(fabsf(a)),
                        sinf(a),  cosf(a),         expf(b),           logf(fabsf(a)),
                        exp2f(b), log2f(fabsf(a)), powf(fabsf(a), b), tanhf(b)};
  for (int k = 0; k < functions; ++k) out[k * n + i] = r[k];
}

__global__ void flush(const float* in, float* out) {
  out[0] = in[0] + 0.0f;   // subnormal in
  out[1] = in[1] * in[2];  // subnormal out
  out[2] = in[0] * in[3];
  out[3] = fmaf(in[1], in[2], 0.0f);
}

int main() {
  const int n = 4096;
  std::vector<float> x(n), y(n), out(n * functions);
  Random random(22);
  for (int i = 0; i < n; ++i) {
    x[i] = (random.unit() - 0.5f) * 6.28f;
    y[i] = (random.unit() - 0.5f) * 8;
  }
  float *dx, *dy, *d;
  CHECK(cudaMalloc(&dx, n * sizeof(float)));
  CHECK(cudaMalloc(&dy, n * sizeof(float)));
  CHECK(cudaMalloc(&d, out.size() * sizeof(float)));
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  run<<<n / 128, 128>>>(dx, dy, d, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  Verdict verdict;
  const char* names[functions] = {"divide", "sqrt", "reciprocal", "rsqrt", "sin", "cos",
                                  "exp",    "log",  "exp2",       "log2",  "pow", "tanh"};
  for (int i = 0; i < n; ++i) {
    double a = x[i], b = y[i], p = std::fabs(a);
    double want[functions] = {a / b,        std::sqrt(p), 1 / b,          1 / std::sqrt(p),
                              std::sin(a),  std::cos(a),  std::exp(b),    std::log(p),
                              std::exp2(b), std::log2(p), std::pow(p, b), std::tanh(b)};
    for (int k = 0; k < functions; ++k) {
      double got = out[k * n + i], error = std::fabs(got - want[k]);
      // sin, cos: 2^-21 absolute in [-pi, pi]; log, log2: absolute near 1; the rest relative.
      double bound = k == 4 || k == 5   ? 1.0 / (1 << 20)
                     : k == 7 || k == 9 ? 1e-6 + 4e-7 * std::fabs(want[k])
                     : k == 10 ? std::fabs(want[k]) * (2e-6 + 3e-7 * std::fabs(b * std::log2(p)) +
                                                       1e-6 * std::fabs(b))
                     : k == 11 ? 6e-4 * std::fabs(want[k])  // tanh.approx: 2^-10.987
                               : 1.5e-6 * std::fabs(want[k]);
      if (!(error <= bound)) verdict.near(got, want[k], -1, names[k], i);
    }
  }
  float in[4], got[4];
  uint32_t subnormal = 0x00400000;
  std::memcpy(&in[0], &subnormal, 4);
  in[1] = 1e-30f;
  in[2] = 1e-10f;
  in[3] = 1e30f;
  CHECK(cudaMemcpy(dx, in, sizeof in, cudaMemcpyHostToDevice));
  flush<<<1, 1>>>(dx, d);
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) verdict.equal(got[i], 0.0f, "flushed to zero", i);
  return verdict.finish();
}
