// Recursive device functions: divergent depth, several calls a level, locals that live across
// calls.
#include <vector>

#include "check.h"

__host__ __device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ __noinline__ void quicksort(int* a, int low, int high) {
  if (low >= high) return;
  int pivot = a[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i <= j) {
      int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  quicksort(a, low, j);
  quicksort(a, i, high);
}

__host__ __device__ bool is_odd(int n);
__host__ __device__ __noinline__ bool is_even(int n) { return n == 0 ? true : is_odd(n - 1); }
__host__ __device__ __noinline__ bool is_odd(int n) { return n == 0 ? false : is_even(n - 1); }

__global__ void run(int* fib, unsigned* ack, int* sorted, int* parity) {
  int t = threadIdx.x;
  fib[t] = fibonacci(t % 15);
  ack[t] = ackermann(t % 3, t % 5);
  int local[24];
  for (int i = 0; i < 24; ++i) local[i] = (i * 7919 + t * 31) % 101;
  quicksort(local, 0, 23 - t % 4);
  for (int i = 0; i < 24; ++i) sorted[t * 24 + i] = local[i];
  parity[t] = is_even(t);
}

int main() {
  Verdict verdict;
  const int n = 64;
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
  int *fib, *sorted, *parity;
  unsigned* ack;
  CHECK(cudaMallocManaged(&fib, n * sizeof(int)));
  CHECK(cudaMallocManaged(&ack, n * sizeof(unsigned)));
  CHECK(cudaMallocManaged(&sorted, n * 24 * sizeof(int)));
  CHECK(cudaMallocManaged(&parity, n * sizeof(int)));
  run<<<1, n>>>(fib, ack, sorted, parity);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int t = 0; t < n; ++t) {
    verdict.equal(fib[t], fibonacci(t % 15), "fibonacci", t);
    verdict.equal(ack[t], ackermann(t % 3, t % 5), "ackermann", t);
    verdict.equal(parity[t], int(t % 2 == 0), "parity", t);
    int local[24];
    for (int i = 0; i < 24; ++i) local[i] = (i * 7919 + t * 31) % 101;
    quicksort(local, 0, 23 - t % 4);
    for (int i = 0; i < 24; ++i) verdict.equal(sorted[t * 24 + i], local[i], "sorted", t * 24 + i);
  }
  return verdict.finish();
}
