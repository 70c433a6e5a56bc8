// Sums kept in global memory inside a loop (x[i] += a * y), as PolyBench's kernels have them:
// nothing says that x does not alias a or y, so the loop loads and stores; rows and columns, and
// real aliasing.
#include <vector>

#include "check.h"

constexpr int n = 512;

__global__ void rows(const float* a, float* x, const float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int j = 0; j < n; j++) x[i] += a[i * n + j] * y[j];
  }
}

__global__ void columns(const float* a, float* x, const float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int j = 0; j < n; j++) x[i] += a[j * n + i] * y[j];
  }
}

__global__ void aliased(float* x, const float* y, int rounds) {
  int i = threadIdx.x;
  for (int j = 0; j < rounds; j++) x[i] += y[i] + 1;  // y is x itself
}

int main() {
  Verdict verdict;
  std::vector<float> a(n * n), x(n), y(n), got(n);
  for (int i = 0; i < n; ++i) {
    x[i] = float(i % 7);
    y[i] = float(i % 5 - 2);
    for (int j = 0; j < n; ++j) a[i * n + j] = float((i * 3 + j) % 11);
  }
  float *da, *dx, *dy;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&dx, n * sizeof(float)));
  CHECK(cudaMalloc(&dy, n * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  for (int kind = 0; kind < 2; ++kind) {
    CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    if (kind == 0) rows<<<(n + 255) / 256, dim3(256, 1)>>>(da, dx, dy);
    if (kind == 1) columns<<<(n + 255) / 256, dim3(256, 1)>>>(da, dx, dy);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), dx, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
      float want = x[i];  // small whole numbers: every sum is exact
      for (int j = 0; j < n; ++j) want += (kind ? a[j * n + i] : a[i * n + j]) * y[j];
      verdict.equal(got[i], want, kind ? "columns" : "rows", i);
    }
  }
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  aliased<<<1, 256>>>(dx, dx, 10);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), dx, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    float want = x[i];
    for (int j = 0; j < 10 && i < 256; ++j) want += want + 1;
    verdict.equal(got[i], want, "aliased", i);
  }
  return verdict.finish();
}
