// Exclusive prefix sums of one block: the work-efficient tree, and warp shuffles.
#include <vector>

#include "check.h"

__global__ void scan_tree(const int* in, int* out, int n) {
  extern __shared__ int temp[];
  int t = threadIdx.x, offset = 1;
  temp[2 * t] = in[2 * t];
  temp[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = temp[a];
      temp[a] = temp[b];
      temp[b] += v;
    }
  }
  __syncthreads();
  out[2 * t] = temp[2 * t];
  out[2 * t + 1] = temp[2 * t + 1];
}

__global__ void scan_shuffle(const int* in, int* out) {
  __shared__ int totals[32];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5, own = in[t], v = own;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    int left = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += left;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int w = lane < blockDim.x / 32 ? totals[lane] : 0;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      int left = __shfl_up_sync(0xffffffffu, w, d);
      if (lane >= d) w += left;
    }
    totals[lane] = w;
  }
  __syncthreads();
  out[t] = v - own + (warp ? totals[warp - 1] : 0);
}

int main() {
  Verdict verdict;
  int *din, *dout;
  CHECK(cudaMalloc(&din, 2048 * sizeof(int)));
  CHECK(cudaMalloc(&dout, 2048 * sizeof(int)));
  for (int n : {64, 256, 1024, 2048}) {
    std::vector<int> in(n), out(n);
    Random random(n);
    for (int& v : in) v = static_cast<int>(random.below(1000)) - 300;
    CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (int kind = 0; kind < 2; ++kind) {
      if (kind == 1 && n > 1024) continue;
      if (kind == 0) scan_tree<<<1, n / 2, n * sizeof(int)>>>(din, dout, n);
      if (kind == 1) scan_shuffle<<<1, n>>>(din, dout);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
      for (int i = 0, sum = 0; i < n; sum += in[i++]) {
        verdict.equal(out[i], sum, kind ? "shuffle" : "tree", n * 10000 + i);
      }
    }
  }
  return verdict.finish();
}
