// A byte histogram: shared atomics, then global ones; also global only, and with hot bins.
#include <vector>

#include "check.h"

__global__ void histogram_shared(const unsigned* words, int count, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    unsigned w = words[i];
    atomicAdd(&local[w & 255], 1u);
    atomicAdd(&local[(w >> 8) & 255], 1u);
    atomicAdd(&local[(w >> 16) & 255], 1u);
    atomicAdd(&local[w >> 24], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

__global__ void histogram_global(const unsigned char* bytes, int count, unsigned* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&bins[bytes[i]], 1u);
}

int main() {
  Verdict verdict;
  const int words = 60001, bytes = words * 4;
  std::vector<unsigned char> data(bytes);
  for (int hot = 0; hot < 2; ++hot) {
    Random random(6 + hot);
    std::vector<unsigned> want(256, 0), got(256);
    for (auto& b : data) {
      b = static_cast<unsigned char>(hot ? 7 + random.below(2) : random.below(256));
      ++want[b];
    }
    unsigned char* d;
    unsigned* bins;
    CHECK(cudaMalloc(&d, bytes));
    CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
    CHECK(cudaMemcpy(d, data.data(), bytes, cudaMemcpyHostToDevice));
    for (int kind = 0; kind < 2; ++kind) {
      CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
      if (kind == 0) {
        histogram_shared<<<20, 192>>>(reinterpret_cast<unsigned*>(d), words, bins);
      } else {
        histogram_global<<<(bytes + 255) / 256, 256>>>(d, bytes, bins);
      }
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(got.data(), bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
      for (int i = 0; i < 256; ++i) verdict.equal(got[i], want[i], kind ? "global" : "shared", i);
    }
    CHECK(cudaFree(d));
    CHECK(cudaFree(bins));
  }
  return verdict.finish();
}
