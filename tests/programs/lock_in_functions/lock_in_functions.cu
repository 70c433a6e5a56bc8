// A lock a thread, taken and released by functions that are not inlined: the wait is a loop around a
// call. So is every atomic of a debug build (-G). Lanes of one warp wait for each other.
#include <cstdio>

__device__ int lock = 0;
__device__ int counter = 0;

__device__ __noinline__ int try_lock(int* l) { return atomicCAS(l, 0, 1); }

__device__ __noinline__ void take(int* l) {
  while (try_lock(l) != 0) {
  }
}

__device__ __noinline__ void release(int* l) {
  __threadfence();
  atomicExch(l, 0);
}

__global__ void loop_in_kernel() {
  while (try_lock(&lock) != 0) {
  }
  *(volatile int*)&counter = *(volatile int*)&counter + 1;
  release(&lock);
}

__global__ void loop_in_function() {
  take(&lock);
  *(volatile int*)&counter = *(volatile int*)&counter + 1;
  release(&lock);
}

static bool counts(int want) {
  int got = 0;
  cudaMemcpyFromSymbol(&got, counter, sizeof got);
  if (got == want) return true;
  printf("FAILED %d, not %d: %s\n", got, want, cudaGetErrorString(cudaGetLastError()));
  return false;
}

int main() {
  loop_in_kernel<<<2, 64>>>();
  if (!counts(128)) return 1;
  loop_in_function<<<2, 64>>>();
  if (!counts(256)) return 1;
  printf("PASSED\n");
  return 0;
}
