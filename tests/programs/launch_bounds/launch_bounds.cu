// __launch_bounds__, maxntid and register limits: a launch within them runs, one beyond is refused,
// and cudaFuncGetAttributes tells them.
#include "check.h"

__global__ __launch_bounds__(128) void at_most_128(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ __launch_bounds__(256, 2) void two_blocks(int* out) {
  out[threadIdx.x] = threadIdx.x * 2;
}
__global__ void no_bound(int* out) {
  __shared__ int s[100];
  s[threadIdx.x % 100] = 1;
  __syncthreads();
  int local[20];
  for (int i = 0; i < 20; ++i) local[i] = s[i] + i * threadIdx.x;
  out[threadIdx.x] = local[threadIdx.x % 20];
}

int main() {
  Verdict verdict;
  int *d, got[256];
  CHECK(cudaMalloc(&d, 1024 * sizeof(int)));
  at_most_128<<<1, 128>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) verdict.equal(got[i], i, "within the bound", i);
  at_most_128<<<1, 129>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "beyond the bound");
  two_blocks<<<1, 256>>>(d);
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) verdict.equal(got[i], i * 2, "two blocks", i);
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, at_most_128));
  verdict.equal(a.maxThreadsPerBlock, 128, "maxThreadsPerBlock");
  CHECK(cudaFuncGetAttributes(&a, two_blocks));
  verdict.equal(a.maxThreadsPerBlock, 256, "maxThreadsPerBlock");
  CHECK(cudaFuncGetAttributes(&a, no_bound));
  verdict.equal(a.maxThreadsPerBlock, 1024, "maxThreadsPerBlock");
  verdict.expect(a.sharedSizeBytes == 400, "sharedSizeBytes", (long long)a.sharedSizeBytes);
  verdict.expect(a.numRegs > 0 && a.numRegs <= 255, "numRegs", a.numRegs);
  verdict.expect(a.ptxVersion >= 75 && a.binaryVersion >= 75, "versions", a.ptxVersion);
  int grid, block;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, at_most_128));
  verdict.expect(block >= 32 && block <= 128 && grid >= 1, "suggested block", block);
  return verdict.finish();
}
