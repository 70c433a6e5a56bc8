// Blocks that wait for later blocks of the grid while they go round through their own barriers, as
// ECL-BH's sort kernel does: no block ends before all have begun, and none ever only spins.
#include <vector>

#include "check.h"

/// Block b may write its value once block b + 1 has; all threads look at their own element.
__global__ void chain_volatile(volatile int* values, int start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool done = false;
  while (!__syncthreads_and(done)) {
    if (done) continue;
    const int before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (before != 0) values[i] = before + 1, done = true;
  }
}

/// The same with threads that leave for themselves.
__global__ void chain_leaving(volatile int* values, int start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (bool done = false; !done;) {
    const int before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (before != 0) values[i] = before + 1, done = true;
    __syncthreads();
  }
}

/// Plain loads: what lies between two barriers is read anew.
__global__ void chain_plain(int* values, int start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (;;) {
    const int before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (__syncthreads_and(before != 0)) {
      values[i] = before + 1;
      return;
    }
  }
}

/// Plain loads between fences, and no barrier at all.
__global__ void chain_fenced(int* values, int start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int before;
  for (;;) {
    before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (before != 0) break;
    __threadfence();
  }
  values[i] = before + 1;
}

/// Some of a block's warps sleep between looks.
__global__ void chain_sleeping(volatile int* values, int start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (bool done = false; !done;) {
    const int before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (before != 0)
      values[i] = before + 1, done = true;
    else if (threadIdx.x / 32 % 2 == 0)
      __nanosleep(1000);
    __syncthreads();
  }
}

int main() {
  Verdict verdict;
  const int blocks = 8, threads = 256, n = blocks * threads;
  std::vector<int> got(n);
  int* values;
  CHECK(cudaMalloc(&values, n * sizeof(int)));
  const auto check = [&](const char* name) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) verdict.equal(got[i], 100 + blocks - i / threads, name, i);
    CHECK(cudaMemset(values, 0, n * sizeof(int)));
  };
  CHECK(cudaMemset(values, 0, n * sizeof(int)));
  chain_volatile<<<blocks, threads>>>(values, 100);
  check("volatile");
  chain_leaving<<<blocks, threads>>>(values, 100);
  check("leaving");
  chain_sleeping<<<blocks, threads>>>(values, 100);
  check("sleeping");
  chain_plain<<<blocks, threads>>>(values, 100);
  check("plain");
  chain_fenced<<<blocks, threads>>>(values, 100);
  check("fenced");
  return verdict.finish();
}
