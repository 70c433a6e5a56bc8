// What this machine can do at most: streaming bandwidth (read, write, triad a = b + s c with stores
// past the caches) and multiply-adds a second in f32 and f64, with all threads of OpenMP. Prints one
// line of JSON, GB/s and GFLOP/s (a multiply-add is two). Knows nothing of the kernels.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
using Floats = float __attribute__((vector_size(vector_bytes)));
using Doubles = double __attribute__((vector_size(vector_bytes)));

// Three arrays of 256 MiB: far beyond the last cache of the machines that this is run on.
constexpr ptrdiff_t array_bytes = ptrdiff_t{256} << 20, vectors = array_bytes / vector_bytes;
constexpr int rounds = 7;

void stream(Floats* to, Floats value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(reinterpret_cast<float*>(to), value);
#elif defined(__AVX__)
  _mm256_stream_ps(reinterpret_cast<float*>(to), value);
#else
  _mm_stream_ps(reinterpret_cast<float*>(to), value);
#endif
}

/// The least of several times, in seconds: a limit is what was reached once.
template <typename Work>
double least_time(Work work) {
  double least = 1e30;
  for (int round = 0; round < rounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return least;
}

float read(const Floats* a) {
  float total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Floats sum[8] = {};
#pragma omp for
    for (ptrdiff_t i = 0; i < vectors; i += 8) {
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) sum[k] += a[i + k];
    }
    for (const Floats& part : sum) total += part[0];
  }
  return total;
}

void write(Floats* a) {
#pragma omp parallel
  {
#pragma omp for
    for (ptrdiff_t i = 0; i < vectors; ++i) stream(a + i, Floats{} + 1.0f);
    _mm_sfence();
  }
}

void triad(Floats* a, const Floats* b, const Floats* c, float s) {
#pragma omp parallel
  {
#pragma omp for
    for (ptrdiff_t i = 0; i < vectors; ++i) stream(a + i, b[i] + s * c[i]);
    _mm_sfence();
  }
}

/// Twelve chains a thread hide a latency of up to six cycles at two multiply-adds a cycle, and fit
/// into sixteen registers together with the factors.
constexpr int chains = 12;
constexpr long turns = 4'000'000;

template <typename Vector, typename Number>
double multiply_adds(Number factor, Number term, double* check) {
  double total = 0;
  double took = least_time([&] {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      Vector chain[chains];
      for (int k = 0; k < chains; ++k) chain[k] = Vector{} + Number(k);
      for (long i = 0; i < turns; ++i) {
#pragma GCC unroll 12
        for (int k = 0; k < chains; ++k) chain[k] = chain[k] * factor + term;
      }
      for (const Vector& part : chain) sum += part[0];
    }
    total += sum;
  });
  *check += total;
  return took;
}

}  // namespace

extern "C" int omp_get_max_threads(void);

int main(int argc, char**) {
  Floats* array[3];
  for (Floats*& one : array) {
    one = static_cast<Floats*>(std::aligned_alloc(4096, array_bytes));
    if (!one) return std::fprintf(stderr, "roofline: no memory\n"), 1;
    write(one);
  }
  int threads = omp_get_max_threads();
  double check = 0;
  double read_s = least_time([&] { check += read(array[0]); });
  double write_s = least_time([&] { write(array[1]); });
  double triad_s = least_time([&] { triad(array[0], array[1], array[2], 0.5f * argc); });
  // Factors from the command line's length, so that the compiler cannot reckon ahead.
  float factor = 0.999f + 1e-5f * argc;
  double f32_s = multiply_adds<Floats>(factor, 0.5f * argc, &check);
  double f64_s = multiply_adds<Doubles>(double(factor), 0.5 * argc, &check);
  double operations = 2.0 * turns * chains * threads * vector_bytes;
  std::printf(
      "{\"threads\": %d, \"read_gbs\": %.2f, \"write_gbs\": %.2f, \"triad_gbs\": %.2f, "
      "\"f32_gflops\": %.2f, \"f64_gflops\": %.2f, \"check\": %g}\n",
      threads, array_bytes / read_s / 1e9, array_bytes / write_s / 1e9,
      3.0 * array_bytes / triad_s / 1e9, operations / 4 / f32_s / 1e9,
      operations / 8 / f64_s / 1e9, check);
  return 0;
}
