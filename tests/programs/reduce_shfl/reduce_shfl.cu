// Block reduction by warp shuffles (down and xor), one atomic a block, for int and float.
#include <vector>

#include "check.h"

template <typename T>
__device__ T warp_sum(T v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

template <typename T>
__global__ void reduce(const T* in, T* out, int n) {
  __shared__ T partial[32];
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  sum = warp_sum(sum);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < (blockDim.x + 31) / 32 ? partial[lane] : T(0);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) atomicAdd(out, sum);
  }
}

__global__ void warp_scan(const int* in, int* out) {
  int v = in[threadIdx.x];
  int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += left;
  }
  out[threadIdx.x] = v + __shfl_sync(0xffffffffu, v, 31, 8);
}

int main() {
  Verdict verdict;
  const int n = 123457;
  std::vector<int> data(n);
  std::vector<float> data_f(n);
  long long want = 0;
  Random random(2);
  for (int i = 0; i < n; ++i) {
    data[i] = static_cast<int>(random.below(2001)) - 1000;
    data_f[i] = static_cast<float>(data[i]);  // every partial sum is exact in binary32
    want += data[i];
  }
  int *d, *out;
  float *df, *out_f;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMalloc(&df, n * sizeof(float)));
  CHECK(cudaMalloc(&out, sizeof(int)));
  CHECK(cudaMalloc(&out_f, sizeof(float)));
  CHECK(cudaMemcpy(d, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(df, data_f.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  for (int block : {32, 64, 256, 1024}) {
    CHECK(cudaMemset(out, 0, sizeof(int)));
    CHECK(cudaMemset(out_f, 0, sizeof(float)));
    reduce<int><<<13, block>>>(d, out, n);
    reduce<float><<<13, block>>>(df, out_f, n);
    CHECK(cudaGetLastError());
    int got;
    float got_f;
    CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&got_f, out_f, sizeof got_f, cudaMemcpyDeviceToHost));
    verdict.equal(got, static_cast<int>(want), "int sum with block", block);
    verdict.equal(got_f, static_cast<float>(want), "float sum with block", block);
  }
  int scan_out[128];
  int* ds;
  CHECK(cudaMalloc(&ds, sizeof scan_out));
  warp_scan<<<1, 128>>>(d, ds);
  CHECK(cudaMemcpy(scan_out, ds, sizeof scan_out, cudaMemcpyDeviceToHost));
  for (int w = 0; w < 4; ++w) {
    int prefix[32];
    for (int l = 0, sum = 0; l < 32; ++l) prefix[l] = sum += data[w * 32 + l];
    // Source lane 31 taken in segments of 8 is the segment's last lane.
    for (int l = 0; l < 32; ++l) {
      verdict.equal(scan_out[w * 32 + l], prefix[l] + prefix[(l & ~7) + 7], "scan", w * 32 + l);
    }
  }
  return verdict.finish();
}
