// Adds two vectors whose length is no multiple of the block: bounds check and plain loads/stores.
#include <vector>

#include "check.h"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 50007;
  std::vector<float> a(n), b(n), c(n + 1, -1.0f);
  Random random(1);
  for (int i = 0; i < n; ++i) {
    a[i] = random.unit();
    b[i] = random.unit() * 1000;
  }
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, n * sizeof(float)));
  CHECK(cudaMalloc(&db, n * sizeof(float)));
  CHECK(cudaMalloc(&dc, (n + 1) * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dc, c.data(), (n + 1) * sizeof(float), cudaMemcpyHostToDevice));
  vector_add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, (n + 1) * sizeof(float), cudaMemcpyDeviceToHost));
  Verdict verdict;
  for (int i = 0; i < n; ++i) verdict.equal(c[i], a[i] + b[i], "sum", i);
  verdict.equal(c[n], -1.0f, "the element beyond the end", n);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return verdict.finish();
}
