// Threads that return before a barrier count as arrived: part of a warp, whole warps, all but one,
// and a second barrier after more threads have left.
#include <vector>

#include "check.h"

__global__ void shift_left(const int* in, int* out, int n) {
  __shared__ int buffer[256];
  int t = threadIdx.x;
  if (t >= n) return;
  buffer[t] = in[t];
  __syncthreads();
  out[t] = t + 1 < n ? buffer[t + 1] : -1;
}

__global__ void shrinking_sum(int* out, int n) {
  __shared__ int buffer[256];
  int t = threadIdx.x;
  buffer[t] = t < n ? t + 1 : 0;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t >= half) return;
    buffer[t] += buffer[t + half];
  }
  if (t == 0) out[0] = buffer[0];
}

__global__ void exit_in_loop(const int* lengths, int* out) {
  __shared__ int alive;
  int t = threadIdx.x, length = lengths[t];
  if (t == 0) alive = 0;
  __syncthreads();
  for (int round = 0; round < 64; ++round) {
    if (round == length) {
      out[t] = round;
      return;
    }
    atomicAdd(&alive, 1);
    __syncthreads();
  }
  out[t] = alive;
}

int main() {
  Verdict verdict;
  int *in, *out;
  CHECK(cudaMalloc(&in, 256 * sizeof(int)));
  CHECK(cudaMalloc(&out, 256 * sizeof(int)));
  std::vector<int> host(256), got(256);
  for (int i = 0; i < 256; ++i) host[i] = i * i;
  CHECK(cudaMemcpy(in, host.data(), 256 * sizeof(int), cudaMemcpyHostToDevice));
  for (int n : {1, 5, 31, 32, 33, 64, 100, 255, 256}) {
    CHECK(cudaMemset(out, 0, 256 * sizeof(int)));
    shift_left<<<1, 256>>>(in, out, n);
    CHECK(cudaMemcpy(got.data(), out, 256 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; ++i) {
      verdict.equal(got[i], i >= n ? 0 : i + 1 < n ? host[i + 1] : -1, "shift", n * 1000 + i);
    }
    shrinking_sum<<<1, 256>>>(out, n);
    CHECK(cudaMemcpy(got.data(), out, sizeof(int), cudaMemcpyDeviceToHost));
    verdict.equal(got[0], n * (n + 1) / 2, "shrinking sum", n);
  }
  int total = 0;
  for (int i = 0; i < 256; ++i) {
    host[i] = i == 77 ? 64 : (i * 37) % 50;
    total += host[i];
  }
  CHECK(cudaMemcpy(in, host.data(), 256 * sizeof(int), cudaMemcpyHostToDevice));
  exit_in_loop<<<1, 256>>>(in, out);
  CHECK(cudaMemcpy(got.data(), out, 256 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) verdict.equal(got[i], i == 77 ? total : host[i], "rounds", i);
  return verdict.finish();
}
