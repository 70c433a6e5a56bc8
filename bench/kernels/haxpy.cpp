// out = a x + y over 2^25 halves, two a thread in one __half2. The OpenMP peer computes in floats
// and rounds, eight a step through F16C; PoCL has no half arithmetic, so that its peer does the
// same.
#include "bench.h"
#include "half_bits.h"

constexpr int count = 1 << 25;
constexpr float factor = 1.5f;

static std::vector<uint16_t> xs() {
  return bench::halves_of(bench::random_floats(count, 12, 0.0f, 1.0f));
}
static std::vector<uint16_t> ys() {
  return bench::halves_of(bench::random_floats(count, 13, 1.0f, 2.0f));
}

#if defined(PEER_CUDA)

#include <cuda_fp16.h>

__global__ void haxpy(__half2* out, const __half2* x, const __half2* y, float a, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) out[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}

int main(int argc, char** argv) {
  uint16_t *x = bench::to_device(xs()), *y = bench::to_device(ys());
  uint16_t* out = bench::on_device<uint16_t>(count);
  return bench::measure(
      argc, argv,
      [&] {
        haxpy<<<count / 2 / 256, 256>>>(reinterpret_cast<__half2*>(out),
                                        reinterpret_cast<__half2*>(x),
                                        reinterpret_cast<__half2*>(y), factor, count / 2);
        bench::finish();
      },
      [&] { return bench::floats_of(bench::from_device(out, count)); });
}

#elif defined(PEER_OPENMP)

#if defined(__F16C__) && defined(__FMA__)
#include <immintrin.h>

static void haxpy(uint16_t* out, const uint16_t* x, const uint16_t* y) {
  __m256 a = _mm256_set1_ps(factor);
  __m256 wide_x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  __m256 wide_y = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(y)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm256_cvtps_ph(_mm256_fmadd_ps(a, wide_x, wide_y), _MM_FROUND_TO_NEAREST_INT));
}
#else
static void haxpy(uint16_t* out, const uint16_t* x, const uint16_t* y) {
  for (int i = 0; i < 8; ++i)
    out[i] = bench::half_of(factor * bench::float_of(x[i]) + bench::float_of(y[i]));
}
#endif

int main(int argc, char** argv) {
  std::vector<uint16_t> x = xs(), y = ys(), out(count);
  return bench::measure(
      argc, argv,
      [&] {
        const uint16_t *px = x.data(), *py = y.data();
        uint16_t* to = out.data();
#pragma omp parallel for
        for (int i = 0; i < count; i += 8) haxpy(to + i, px + i, py + i);
      },
      [&] { return bench::floats_of(out); });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void haxpy(global half* out, global const half* x, global const half* y, float a,
                      int n) {
      int i = get_global_id(0);
      if (i < n) vstore_half2(fma((float2)(a), vload_half2(i, x), vload_half2(i, y)), i, out);
    })");
  cl_mem out = cl.on_device<uint16_t>(count);
  cl_kernel haxpy =
      cl.kernel("haxpy", out, cl.to_device(xs()), cl.to_device(ys()), factor, count / 2);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(haxpy, count / 2, 256);
        cl.finish();
      },
      [&] { return bench::floats_of(cl.from_device<uint16_t>(out, count)); });
}

#endif
