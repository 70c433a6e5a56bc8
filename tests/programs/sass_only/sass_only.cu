// Built with machine code of one architecture and no PTX: on any other device the launch answers
// 209 (no kernel image) and the process lives on. Limen's CPU device answers so too.
#include "check.h"

__global__ void fine(int* p) { p[threadIdx.x] = 1; }

int main() {
  Verdict verdict;
  int* d;
  CHECK(cudaMalloc(&d, 128));
  fine<<<1, 32>>>(d);
  verdict.equal<int>(cudaGetLastError(), cudaErrorNoKernelImageForDevice, "launch");
  verdict.equal<int>(cudaDeviceSynchronize(), cudaSuccess, "the context lives on");
  cudaFuncAttributes attributes;
  verdict.equal<int>(cudaFuncGetAttributes(&attributes, fine), cudaErrorNoKernelImageForDevice,
                     "attributes");
  cudaGetLastError();
  CHECK(cudaMemset(d, 0, 128));
  CHECK(cudaFree(d));
  return verdict.finish();
}
