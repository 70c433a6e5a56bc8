// The smallest useful CUDA program, for the time from start to end of a whole process.
#include <cstdio>
#include <vector>

__global__ void add(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

int main() {
  const int n = 50000;
  std::vector<float> a(n), b(n), out(n);
  for (int i = 0; i < n; ++i) a[i] = i * 0.5f, b[i] = n - i;
  float *da, *db, *dout;
  size_t bytes = n * sizeof(float);
  cudaMalloc(&da, bytes);
  cudaMalloc(&db, bytes);
  cudaMalloc(&dout, bytes);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(dout, da, db, n);
  cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    std::printf("FAILED: %s\n", cudaGetErrorString(error));
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    if (out[i] != a[i] + b[i]) {
      std::printf("FAILED at %d\n", i);
      return 1;
    }
  }
  std::printf("PASSED\n");
  return 0;
}
