// Bitonic sort: within a block in shared memory, and across blocks with one launch a step.
#include <algorithm>
#include <vector>

#include "check.h"

__global__ void sort_block(unsigned* data) {
  __shared__ unsigned s[1024];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int k = 2; k <= 1024; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      int other = t ^ j;
      if (other > t) {
        bool up = (t & k) == 0;
        unsigned a = s[t], b = s[other];
        if ((a > b) == up) {
          s[t] = b;
          s[other] = a;
        }
      }
      __syncthreads();
    }
  }
  data[blockIdx.x * 1024 + t] = s[t];
}

__global__ void sort_step(unsigned* data, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i) {
    unsigned a = data[i], b = data[other];
    bool up = (i & k) == 0;
    if (up ? a > b : a < b) {
      data[i] = b;
      data[other] = a;
    }
  }
}

int main() {
  const int n = 1 << 14;
  std::vector<unsigned> in(n), out(n);
  Random random(12);
  for (unsigned& v : in) v = random.bits() >> (random.below(2) * 24);
  unsigned* d;
  CHECK(cudaMalloc(&d, n * sizeof(unsigned)));
  Verdict verdict;
  CHECK(cudaMemcpy(d, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  sort_block<<<n / 1024, 1024>>>(d);
  CHECK(cudaMemcpy(out.data(), d, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  std::vector<unsigned> want = in;
  for (int b = 0; b < n; b += 1024) std::sort(want.begin() + b, want.begin() + b + 1024);
  for (int i = 0; i < n; ++i) verdict.equal(out[i], want[i], "block", i);

  CHECK(cudaMemcpy(d, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  for (int k = 2; k <= n; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) sort_step<<<n / 256, 256>>>(d, j, k);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  std::sort(want.begin(), want.end());
  for (int i = 0; i < n; ++i) verdict.equal(out[i], want[i], "whole", i);
  return verdict.finish();
}
