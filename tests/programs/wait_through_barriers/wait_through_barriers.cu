// Blocks that wait for later blocks of the grid while they go round through their own barriers, as
// ECL-BH's sort kernel does: no block ends before all have begun, and none ever only spins.
#include <vector>

#include "sections.h"

/// Block b may write its value once block b + 1 has; all threads look at their own element.
__global__ void chain_volatile_loads(int* plain, int start) {
  volatile int* values = plain;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool done = false;
  while (!__syncthreads_and(done)) {
    if (done) continue;
    const int before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (before != 0) values[i] = before + 1, done = true;
  }
}

/// The same with threads that leave for themselves.
__global__ void chain_leaving(int* plain, int start) {
  volatile int* values = plain;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (bool done = false; !done;) {
    const int before = blockIdx.x + 1 == gridDim.x ? start : values[i + blockDim.x];
    if (before != 0) values[i] = before + 1, done = true;
    __syncthreads();
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
__global__ void chain_sleeping(int* plain, int start) {
  volatile int* values = plain;
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

static void check(Verdict& verdict, const char* name, void (*chain)(int*, int)) {
  const int blocks = 8, threads = 256, n = blocks * threads, start = 100;
  std::vector<int> got(n);
  int* values;
  CHECK(cudaMalloc(&values, n * sizeof(int)));
  CHECK(cudaMemset(values, 0, n * sizeof(int)));
  chain<<<blocks, threads>>>(values, start);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) verdict.equal(got[i], start + blocks - i / threads, name, i);
  CHECK(cudaFree(values));
}

/// Arguments: the chains to run; none is all.
int main(int argc, char** argv) {
#define CHAIN(name) {#name, [](Verdict& v) { check(v, #name, chain_##name); }}
  static const Section sections[] = {CHAIN(volatile_loads), CHAIN(leaving), CHAIN(fenced),
                                     CHAIN(sleeping)};
  return run_sections(sections, argc, argv);
}
