// The OpenMP peer of both matrix products: rows shared out in chunks, k in blocks that stay in
// cache, the inner loop along a row of B and C, which g++ vectorises. Needs `n` from the includer.
#pragma once

int main(int argc, char** argv) {
  std::vector<float> a = bench::random_floats(n * n, 1), b = bench::random_floats(n * n, 2);
  std::vector<float> c(n * n);
  return bench::measure(
      argc, argv,
      [&] {
        const float *pa = a.data(), *pb = b.data();
        float* pc = c.data();
        constexpr int rows = 4, depth = 64;
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i += rows) {
          std::fill(pc + i * n, pc + (i + rows) * n, 0.0f);
          for (int base = 0; base < n; base += depth) {
            for (int k = base; k < base + depth; ++k) {
              float a0 = pa[i * n + k], a1 = pa[(i + 1) * n + k];
              float a2 = pa[(i + 2) * n + k], a3 = pa[(i + 3) * n + k];
#pragma omp simd
              for (int j = 0; j < n; ++j) {
                float value = pb[k * n + j];
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
