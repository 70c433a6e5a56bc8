// Lanes that have left their loop, and with it the kernel, are not waited for by `.sync`
// instructions with a full mask, nor by barriers. As on an H200.
#include <cstdio>

__global__ void votes(int n, int* out) {
  for (int k = threadIdx.x + blockIdx.x * blockDim.x; k < n; k += blockDim.x * gridDim.x) {
    int rounds = 0;
    while (!__all_sync(0xffffffff, rounds >= k % 5)) ++rounds;
    __syncwarp();
    out[k] = rounds * 100 + __popc(__ballot_sync(0xffffffff, true));
  }
}

__global__ void barriers(int n, int* out) {
  __shared__ int seen[256];
  int k = threadIdx.x;
  seen[k] = 0;
  if (k < n) {
    seen[k] = k + 1;
    __syncthreads();
    out[k] = seen[(k + 1) % n];
  }
}

int main() {
  const int n = 1000;
  static int got[n];
  int* out;
  cudaMalloc(&out, n * sizeof(int));
  votes<<<4, 256>>>(n, out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int k = 0; k < n; ++k) {
    const int present = k / 32 * 32 + 32 <= n ? 32 : n % 32;
    int most = 0;
    for (int j = k / 32 * 32; j < k / 32 * 32 + present; ++j) most = j % 5 > most ? j % 5 : most;
    if (got[k] != most * 100 + present) return printf("FAILED votes %d: %d\n", k, got[k]), 1;
  }
  barriers<<<1, 256>>>(200, out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int k = 0; k < 200; ++k)
    if (got[k] != (k + 1) % 200 + 1) return printf("FAILED barriers %d: %d\n", k, got[k]), 1;
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("FAILED %s\n", cudaGetErrorString(e)), 1;
  printf("PASSED\n");
  return 0;
}
