// A sum that all threads read from shared[0], and no barrier before warp 0 writes there again. It is
// a race, but one that goes unnoticed on a GPU, where all warps have read long before (HeCBench's
// lda adds up its sums so).
#include <vector>

#include "check.h"

__device__ float sum_of(float value) {
  __shared__ float shared[32];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? shared[lane] : 0.0f;
  if (warp == 0) {
    for (int offset = 16; offset > 0; offset /= 2)
      value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x == 0) shared[0] = value;
  }
  __syncthreads();
  return shared[0];
}

__global__ void sums(float* out, int rounds) {
  float total = 0;
  for (int r = 1; r <= rounds; ++r) total += sum_of(static_cast<float>(r * (threadIdx.x % 3)));
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

int main() {
  Verdict verdict;
  const int blocks = 5, rounds = 7;
  for (int threads : {64, 256, 1024}) {
    const int n = blocks * threads;
    std::vector<float> got(n);
    float* out;
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    sums<<<blocks, threads>>>(out, rounds);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
    float one = 0;
    for (int t = 0; t < threads; ++t) one += static_cast<float>(t % 3);
    for (int i = 0; i < n; ++i)
      verdict.equal(got[i], one * rounds * (rounds + 1) / 2, "thread", i);
    CHECK(cudaFree(out));
  }
  return verdict.finish();
}
