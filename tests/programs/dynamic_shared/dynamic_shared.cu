// Dynamic shared memory: several arrays in one, with static shared beside it, above 48 KiB after
// cudaFuncSetAttribute, too much refused, and the occupancy answers.
#include <vector>

#include "check.h"

extern __shared__ __align__(16) unsigned char raw[];

__global__ void three_arrays(int n, double* out) {
  __shared__ int fixed[16];
  double* d = reinterpret_cast<double*>(raw);
  float* f = reinterpret_cast<float*>(d + n);
  unsigned char* c = reinterpret_cast<unsigned char*>(f + n);
  int t = threadIdx.x;
  if (t < 16) fixed[t] = t * 100;
  d[t] = t + 0.5;
  f[t] = t * 2.0f;
  c[t] = static_cast<unsigned char>(t);
  __syncthreads();
  int o = n - 1 - t;
  out[t] = d[o] + f[o] + c[o] + fixed[t % 16];
}

__global__ void large(int words, unsigned* out) {
  unsigned* s = reinterpret_cast<unsigned*>(raw);
  for (int i = threadIdx.x; i < words; i += blockDim.x) s[i] = i * 2654435761u;
  __syncthreads();
  unsigned sum = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) sum += s[words - 1 - i] ^ i;
  atomicAdd(out, sum);
}

__global__ void size_of(unsigned* out) { asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[0])); }

int main() {
  Verdict verdict;
  const int n = 200;
  double *d, got[n];
  CHECK(cudaMalloc(&d, sizeof got));
  three_arrays<<<1, n, n * 13>>>(n, d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int t = 0; t < n; ++t) {
    int o = n - 1 - t;
    verdict.equal(got[t], o + 0.5 + o * 2.0 + o + t % 16 * 100, "arrays", t);
  }
  int most;
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  verdict.expect(most >= 96 << 10, "opt-in shared memory", most);
  const int bytes = 96 << 10;
  unsigned *u, sum;
  CHECK(cudaMalloc(&u, sizeof(unsigned)));
  large<<<1, 256, bytes>>>(bytes / 4, u);
  verdict.equal<int>(cudaGetLastError(), cudaErrorInvalidValue, "96 KiB without the attribute");
  CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaMemset(u, 0, sizeof(unsigned)));
  large<<<3, 256, bytes>>>(bytes / 4, u);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&sum, u, sizeof sum, cudaMemcpyDeviceToHost));
  unsigned want = 0, words = bytes / 4;
  for (unsigned i = 0; i < words; ++i) want += ((words - 1 - i) * 2654435761u) ^ i;
  verdict.equal(sum, 3 * want, "large");
  verdict.equal<int>(
      cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
      cudaErrorInvalidValue, "more than the device has");
  cudaGetLastError();
  size_of<<<1, 1, 1234>>>(u);
  CHECK(cudaMemcpy(&sum, u, sizeof sum, cudaMemcpyDeviceToHost));
  verdict.expect(sum >= 1234 && sum < 1234 + 1024, "%dynamic_smem_size", sum);
  int blocks;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 256, bytes));
  verdict.expect(blocks >= 1 && blocks <= 2, "resident blocks", blocks);
  return verdict.finish();
}
