// The host is built with -ffast-math, whose start-up code sets flush-to-zero for the process;
// kernels must keep subnormals exact, and the host's own mode must come back unchanged after a
// launch.
#include <xmmintrin.h>

#include <cstring>

#include "check.h"

__global__ void subnormals(const unsigned* in, unsigned* out) {
  float a = __uint_as_float(in[0]), b = __uint_as_float(in[1]);
  out[0] = __float_as_uint(__fadd_rn(a, b));
  out[1] = __float_as_uint(__fmul_rn(a, 2.0f));
  out[2] = __float_as_uint(__fmul_rn(__uint_as_float(in[2]), 0.25f));
  out[3] = __float_as_uint(__fmaf_rn(a, 3.0f, b));
  out[4] = __float_as_uint(__fdiv_rn(__uint_as_float(in[2]), 8.0f));
  double d = __longlong_as_double(0x0008000000000000ll);
  out[5] = __double2hiint(__dadd_rn(d, d * in[3]));
  out[6] = __float_as_uint(__fsqrt_rn(a));
  out[7] = a > 0.0f;
}

int main() {
  Verdict verdict;
  unsigned before = _mm_getcsr() & 0x8040;
  std::printf("host flush-to-zero and denormals-are-zero: 0x%x\n", before);
  const unsigned in[4] = {0x00000123, 0x00400000, 0x00800000, 1};
  const unsigned want[8] = {0x00400123, 0x00000246, 0x00200000, 0x00400369,
                            0x00100000, 0x00100000, 0x1c40ff56, 1};
  unsigned *din, *dout, got[8];
  CHECK(cudaMalloc(&din, sizeof in));
  CHECK(cudaMalloc(&dout, sizeof got));
  CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
  subnormals<<<1, 1>>>(din, dout);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, dout, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) {
    if (got[i] != want[i]) std::printf("%d: got 0x%08x want 0x%08x\n", i, got[i], want[i]);
    if (i != 6) verdict.expect(got[i] == want[i], "bits", i);
  }
  // sqrt(0x123 * 2^-149), correctly rounded, by integers only (the host flushes subnormals).
  verdict.expect(got[6] == want[6], "square root of a subnormal", got[6]);
  verdict.expect((_mm_getcsr() & 0x8040) == before, "the host's mode is unchanged");
  return verdict.finish();
}
