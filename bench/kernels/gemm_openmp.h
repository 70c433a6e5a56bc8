// The OpenMP peer of the matrix products: rows shared out in chunks, k in blocks that stay in
// cache, the inner loop along a row of B and C, which g++ vectorises. `Size` is a multiple of 64.
#pragma once
#include "bench.h"

namespace bench {

template <int Size, typename T>
int measure_gemm(int argc, char** argv, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(size_t{Size} * Size);
  return measure(
      argc, argv,
      [&] {
        const T *pa = a.data(), *pb = b.data();
        T* pc = c.data();
        constexpr int n = Size, rows = 4, depth = 64;
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i += rows) {
          std::fill(pc + i * n, pc + (i + rows) * n, T{0});
          for (int base = 0; base < n; base += depth) {
            for (int k = base; k < base + depth; ++k) {
              T a0 = pa[i * n + k], a1 = pa[(i + 1) * n + k];
              T a2 = pa[(i + 2) * n + k], a3 = pa[(i + 3) * n + k];
#pragma omp simd
              for (int j = 0; j < n; ++j) {
                T value = pb[k * n + j];
                pc[i * n + j] += a0 * value;
                pc[(i + 1) * n + j] += a1 * value;
                pc[(i + 2) * n + j] += a2 * value;
                pc[(i + 3) * n + j] += a3 * value;
              }
            }
          }
        }
      },
      [&] { return c; });
}

}  // namespace bench
