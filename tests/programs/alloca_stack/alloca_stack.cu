// alloca in device code: sizes that differ by thread, across barriers, in called functions, and
// stacksave and stackrestore in a loop that would otherwise take more stack than there is.
#include <vector>

#include "check.h"

__device__ __noinline__ int sum_squares(int n) {
  int* room = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) room[i] = i * i;
  int sum = 0;
  for (int i = n - 1; i >= 0; --i) sum += room[i];
  return sum;
}

__global__ void reverse(int* out) {
  __shared__ int exchange[128];
  const int n = threadIdx.x % 7 + 1;
  int* room = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) room[i] = threadIdx.x * 100 + i;
  exchange[threadIdx.x] = n;
  __syncthreads();
  int other = exchange[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += room[n - 1 - i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + other * 1000000 + sum_squares(n);
}

__global__ void many(unsigned* out) {
  unsigned total = 0;
  for (int r = 0; r < 2000; ++r) {
    unsigned long long saved, p;
    asm volatile("stacksave.u64 %0;" : "=l"(saved));
    asm volatile("alloca.u64 %0, %1, 16;" : "=l"(p) : "l"((unsigned long long)256));
    asm volatile("st.local.u32 [%0], %1;" ::"l"(p), "r"(threadIdx.x + r) : "memory");
    asm volatile("st.local.u32 [%0+252], %1;" ::"l"(p), "r"(r) : "memory");
    unsigned a, b;
    asm volatile("ld.local.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory");
    asm volatile("ld.local.u32 %0, [%1+252];" : "=r"(b) : "l"(p) : "memory");
    total += a + 2 * b + (p % 16 != 0);
    asm volatile("stackrestore.u64 %0;" ::"l"(saved));
  }
  out[threadIdx.x] = total;
}

int main() {
  Verdict verdict;
  const int blocks = 3, threads = 128;
  int* out;
  CHECK(cudaMallocManaged(&out, blocks * threads * sizeof(int)));
  reverse<<<blocks, threads>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < blocks * threads; ++i) {
    int t = i % threads, n = t % 7 + 1, other = (threads - 1 - t) % 7 + 1;
    int want = n * t * 100 + n * (n - 1) / 2 + other * 1000000 + (n - 1) * n * (2 * n - 1) / 6;
    verdict.equal(out[i], want, "alloca", i);
  }
  unsigned* sums = reinterpret_cast<unsigned*>(out);
  many<<<1, 64>>>(sums);
  CHECK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 64; ++i)
    verdict.equal(sums[i], 2000 * i + 3 * (1999 * 2000 / 2), "stackrestore", i);
  return verdict.finish();
}
