// SAXPY over managed memory with a grid-stride loop; the host reads the result without a copy.
#include "check.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = fmaf(a, x[i], y[i]);
  }
}

int main() {
  const int n = 100003;
  float *x, *y;
  CHECK(cudaMallocManaged(&x, n * sizeof(float)));
  CHECK(cudaMallocManaged(&y, n * sizeof(float)));
  for (int i = 0; i < n; ++i) {
    x[i] = 0.25f * i;
    y[i] = 1.0f / (i + 1);
  }
  saxpy<<<7, 192>>>(n, 1.5f, x, y);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  saxpy<<<64, 256>>>(n, -0.5f, x, y);
  CHECK(cudaDeviceSynchronize());
  Verdict verdict;
  for (int i = 0; i < n; ++i) {
    float want = std::fmaf(-0.5f, x[i], std::fmaf(1.5f, x[i], 1.0f / (i + 1)));
    verdict.equal(y[i], want, "y", i);
  }
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, x));
  verdict.equal(static_cast<int>(attributes.type), static_cast<int>(cudaMemoryTypeManaged),
                "pointer type");
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return verdict.finish();
}
