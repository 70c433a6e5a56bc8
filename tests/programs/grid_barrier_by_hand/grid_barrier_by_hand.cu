// A barrier over the grid made of atomics, without a cooperative launch: works wherever all blocks
// are resident. Blocks spin on one another, more of them than small machines have cores.
#include <vector>

#include "check.h"

__device__ void grid_barrier(unsigned* arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*reinterpret_cast<volatile unsigned*>(arrived) < goal) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void rotate(volatile int* a, volatile int* b, unsigned* arrived, int rounds) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    volatile int* from = r % 2 ? b : a;
    volatile int* to = r % 2 ? a : b;
    to[(i + blockDim.x + 1) % n] = from[i] + 1;
    grid_barrier(arrived, (r + 1) * gridDim.x);
  }
}

int main() {
  Verdict verdict;
  const int blocks = 8, threads = 96, n = blocks * threads, rounds = 10;
  std::vector<int> a(n), want(n), got(n);
  for (int i = 0; i < n; ++i) a[i] = i * 1000;
  for (int i = 0; i < n; ++i) want[(i + rounds * (threads + 1)) % n] = a[i] + rounds;
  int *da, *db;
  unsigned* arrived;
  CHECK(cudaMalloc(&da, n * sizeof(int)));
  CHECK(cudaMalloc(&db, n * sizeof(int)));
  CHECK(cudaMalloc(&arrived, sizeof(unsigned)));
  CHECK(cudaMemset(arrived, 0, sizeof(unsigned)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  rotate<<<blocks, threads>>>(da, db, arrived, rounds);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), da, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) verdict.equal(got[i], want[i], "element", i);
  return verdict.finish();
}
