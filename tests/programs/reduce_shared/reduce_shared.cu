// Tree reduction in dynamic shared memory: many barriers, interleaved and sequential addressing,
// and the old warp-synchronous tail with __syncwarp.
#include <vector>

#include "check.h"

__global__ void reduce_interleaved(const int* in, int* out, int n) {
  extern __shared__ int buffer[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  buffer[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) buffer[t] += buffer[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = buffer[0];
}

__global__ void reduce_sequential(const int* in, int* out, int n) {
  extern __shared__ int buffer[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  buffer[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) buffer[t] += buffer[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = buffer[0];
}

__global__ void reduce_warp_tail(const int* in, int* out, int n) {
  extern __shared__ int buffer[];
  volatile int* v = buffer;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  v[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) v[t] += v[t + s];
    __syncthreads();
  }
  if (t < 32) {
    for (int s = 32; s > 0; s >>= 1) {
      int sum = v[t];
      if (t + s < blockDim.x) sum += v[t + s];
      __syncwarp();
      v[t] = sum;
      __syncwarp();
    }
  }
  if (t == 0) out[blockIdx.x] = v[0];
}

int main() {
  Verdict verdict;
  const int n = 20011;
  std::vector<int> in(n);
  long long want = 0;
  Random random(8);
  for (int& v : in) want += v = static_cast<int>(random.below(10000));
  int *din, *dout;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&dout, n * sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (int kind = 0; kind < 3; ++kind) {
    for (int block : {64, 128, 512}) {
      int each = kind == 1 ? block * 2 : block, blocks = (n + each - 1) / each;
      size_t bytes = block * sizeof(int);
      if (kind == 0) reduce_interleaved<<<blocks, block, bytes>>>(din, dout, n);
      if (kind == 1) reduce_sequential<<<blocks, block, bytes>>>(din, dout, n);
      if (kind == 2) reduce_warp_tail<<<blocks, block, bytes>>>(din, dout, n);
      CHECK(cudaGetLastError());
      std::vector<int> out(blocks);
      CHECK(cudaMemcpy(out.data(), dout, blocks * sizeof(int), cudaMemcpyDeviceToHost));
      long long got = 0;
      for (int v : out) got += v;
      verdict.equal(got, want, "sum", kind * 1000 + block);
    }
  }
  return verdict.finish();
}
