// Directed rounding: add, multiply, fused multiply-add, divide, square root and conversions in all
// four modes and both precisions, against the host's rounding mode (fesetround).
#include <cfenv>
#include <cstring>
#include <vector>

#include "check.h"

constexpr int ops = 7;

// Order of modes everywhere: nearest, towards zero, up, down.
#define FOUR(out, kind, n, i, name, ...)                  \
  out[((kind) * 4 + 0) * n + i] = name##_rn(__VA_ARGS__); \
  out[((kind) * 4 + 1) * n + i] = name##_rz(__VA_ARGS__); \
  out[((kind) * 4 + 2) * n + i] = name##_ru(__VA_ARGS__); \
  out[((kind) * 4 + 3) * n + i] = name##_rd(__VA_ARGS__)

__global__ void run_double(const double* x, const double* y, const double* z, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = y[i], c = z[i];
  FOUR(out, 0, n, i, __dadd, a, b);
  FOUR(out, 1, n, i, __dmul, a, b);
  FOUR(out, 2, n, i, __fma, a, b, c);
  FOUR(out, 3, n, i, __ddiv, a, b);
  FOUR(out, 4, n, i, __dsqrt, fabs(a));
  FOUR(out, 5, n, i, __ll2double, static_cast<long long>(a * 1e15));
  FOUR(out, 6, n, i, __double2float, a);
}

__global__ void run_float(const double* x, const double* y, const double* z, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = y[i], c = z[i];
  FOUR(out, 0, n, i, __fadd, a, b);
  FOUR(out, 1, n, i, __fmul, a, b);
  FOUR(out, 2, n, i, __fmaf, a, b, c);
  FOUR(out, 3, n, i, __fdiv, a, b);
  FOUR(out, 4, n, i, __fsqrt, fabsf(a));
  FOUR(out, 5, n, i, __int2float, __double2int_rz(x[i] * 1e6));
  FOUR(out, 6, n, i, __frcp, a);
}

template <typename T>
static T compute(int op, double x, double y, double z) {
  volatile T a = static_cast<T>(x), b = static_cast<T>(y), c = static_cast<T>(z), r;
  switch (op) {
    case 0:
      r = a + b;
      break;
    case 1:
      r = a * b;
      break;
    case 2:
      r = std::fma(a, b, c);
      break;
    case 3:
      r = a / b;
      break;
    case 4:
      r = std::sqrt(std::fabs(a));
      break;
    default:
      r = T(1) / a;
      break;
  }
  return r;
}

int main() {
  Verdict verdict;
  const int n = 3000;
  const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  std::vector<double> x(n), y(n), z(n), out(ops * 4 * n);
  std::vector<float> outf(ops * 4 * n);
  Random random(41);
  for (int i = 0; i < n; ++i) {
    // Floats as doubles, so that the conversion to float in the kernel is exact; some magnitudes
    // far apart, some results subnormal or infinite.
    auto value = [&] {
      return double(std::ldexp(random.unit() - 0.5f, int(random.below(i % 5 ? 12 : 250)) - 6));
    };
    x[i] = value();
    y[i] = value();
    z[i] = value();
    if (i % 7 == 0) y[i] = -x[i];
    if (i % 11 == 0) z[i] = -double(float(x[i] * y[i]));
    if (i % 31 == 0) x[i] = 1e-38f * random.unit();
  }
  double *dx, *dy, *dz, *d;
  float* df;
  CHECK(cudaMalloc(&dx, n * 8));
  CHECK(cudaMalloc(&dy, n * 8));
  CHECK(cudaMalloc(&dz, n * 8));
  CHECK(cudaMalloc(&d, out.size() * 8));
  CHECK(cudaMalloc(&df, outf.size() * 4));
  CHECK(cudaMemcpy(dx, x.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dz, z.data(), n * 8, cudaMemcpyHostToDevice));
  run_double<<<(n + 127) / 128, 128>>>(dx, dy, dz, d, n);
  run_float<<<(n + 127) / 128, 128>>>(dx, dy, dz, df, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d, out.size() * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(outf.data(), df, outf.size() * 4, cudaMemcpyDeviceToHost));
  const char* names[ops] = {"add", "multiply", "fma", "divide", "sqrt", "from integer", "convert"};
  for (int op = 0; op < ops; ++op) {
    int shown = 0;
    for (int mode = 0; mode < 4; ++mode) {
      for (int i = 0; i < n; ++i) {
        std::fesetround(modes[mode]);
        double want, want_f;
        if (op == 5) {
          volatile long long v = static_cast<long long>(x[i] * 1e15);
          want = double(v);
        } else if (op == 6) {
          volatile double v = x[i];
          want = float(v);
        } else {
          want = compute<double>(op, x[i], y[i], z[i]);
        }
        std::fesetround(FE_TONEAREST);
        bool huge = std::fabs(x[i] * 1e15) > 9e18;
        volatile int whole = std::fabs(x[i] * 1e6) < 2e9 ? int(x[i] * 1e6) : 0;
        std::fesetround(modes[mode]);
        want_f = op == 5 ? float(whole) : compute<float>(op, x[i], y[i], z[i]);
        std::fesetround(FE_TONEAREST);
        double got = out[(op * 4 + mode) * n + i];
        float got_f = outf[(op * 4 + mode) * n + i];
        auto differs = [](double a, double b) { return a != b && (a == a || b == b); };
        bool skip = op == 5 && huge;
        // The integer of op 5 is made by a rounded product on both sides; only nearest is the same.
        if (op == 5) skip = skip || mode != 0;
        if (!skip && differs(got, want)) {
          if (shown++ < 3) {
            std::printf("double %s mode %d: x %a y %a z %a got %a want %a\n", names[op], mode, x[i],
                        y[i], z[i], got, want);
          }
          ++verdict.failures;
        }
        if (op == 5 && std::fabs(x[i] * 1e6) >= 2e9) continue;
        if (differs(got_f, want_f)) {
          if (shown++ < 6) {
            std::printf("float %s mode %d: x %a y %a z %a got %a want %a\n", names[op], mode, x[i],
                        y[i], z[i], double(got_f), want_f);
          }
          ++verdict.failures;
        }
      }
    }
  }
  return verdict.finish();
}
