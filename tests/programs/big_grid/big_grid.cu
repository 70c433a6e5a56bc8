// Large grids: 70,000 blocks in x, the last of 65,535 in y and z, many tiny blocks; each block is
// run once.
#include <vector>

#include "check.h"

__global__ void mark(unsigned char* seen) {
  unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 0) ++seen[b];
}

__global__ void count(unsigned long long* total) {
  if (threadIdx.x == 31) atomicAdd(total, 1ull);
}

int main() {
  Verdict verdict;
  unsigned char* d;
  CHECK(cudaMalloc(&d, 1 << 20));
  for (dim3 grid : {dim3(70000), dim3(1, 65535), dim3(1, 1, 65535), dim3(130, 71, 53)}) {
    unsigned n = grid.x * grid.y * grid.z;
    CHECK(cudaMemset(d, 0, n));
    mark<<<grid, 32>>>(d);
    CHECK(cudaGetLastError());
    std::vector<unsigned char> seen(n);
    CHECK(cudaMemcpy(seen.data(), d, n, cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < n; ++b) verdict.equal<int>(seen[b], 1, "block", b);
  }
  unsigned long long *total, got;
  CHECK(cudaMalloc(&total, sizeof got));
  CHECK(cudaMemset(total, 0, sizeof got));
  count<<<1000000, 32>>>(total);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&got, total, sizeof got, cudaMemcpyDeviceToHost));
  verdict.equal(got, 1000000ull, "a million blocks");
  // The codes are those of CUDA 13 on an H200: the driver refuses, 1 and not 9.
  mark<<<dim3(1, 65536), 32>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "65,536 in y");
  mark<<<dim3(1, 1), dim3(1, 1, 65)>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "65 threads in z");
  mark<<<1, 1025>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "1,025 threads");
  mark<<<0, 32>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "no blocks");
  mark<<<1, 0>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "no threads");
  CHECK(cudaDeviceSynchronize());
  return verdict.finish();
}
