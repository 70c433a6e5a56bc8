// Single precision matrix product with 16x16 and 32x32 shared tiles, ragged edges included.
#include <vector>

#include "check.h"

template <int T>
__global__ void sgemm(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float ta[T][T], tb[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    tb[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

template <int T>
void run(int m, int n, int k, Verdict& verdict) {
  std::vector<float> a(m * k), b(k * n), c(m * n);
  Random random(m + n + k);
  for (float& v : a) v = random.unit() - 0.5f;
  for (float& v : b) v = random.unit() - 0.5f;
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  sgemm<T><<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, da, db, dc);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int l = 0; l < k; ++l) want += double(a[i * k + l]) * b[l * n + j];
      verdict.near(c[i * n + j], want, 2e-5, "product", i * n + j);
    }
  }
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
}

int main() {
  Verdict verdict;
  run<16>(128, 128, 128, verdict);
  run<32>(128, 96, 160, verdict);
  run<16>(67, 129, 45, verdict);
  run<32>(33, 31, 70, verdict);
  return verdict.finish();
}
