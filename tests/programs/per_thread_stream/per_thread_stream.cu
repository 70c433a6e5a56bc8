// Built with -default-stream per-thread: each host thread has its own default stream; eight threads
// work at once, each in order; cudaStreamLegacy still joins with blocking streams.
#include <thread>
#include <vector>

#include "check.h"

__global__ void step(int* v, int n, int m, int a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * m + a;
}

static void work(int id, int* wrong) {
  const int n = 3000;
  int* d;
  std::vector<int> host(n, id);
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMemcpyAsync(d, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  unsigned want = id;
  for (int k = 0; k < 100; ++k) {
    step<<<(n + 63) / 64, 64>>>(d, n, 5, k + id);
    want = want * 5 + k + id;
  }
  CHECK(cudaMemcpyAsync(host.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost,
                        cudaStreamPerThread));
  CHECK(cudaStreamSynchronize(0));
  for (int v : host) *wrong += unsigned(v) != want;
  CHECK(cudaFree(d));
}

int main() {
  Verdict verdict;
  int wrong[8] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back(work, t, &wrong[t]);
  for (auto& t : threads) t.join();
  for (int t = 0; t < 8; ++t) verdict.equal(wrong[t], 0, "wrong elements of thread", t);
  int *d, got;
  CHECK(cudaMalloc(&d, sizeof(int)));
  CHECK(cudaMemset(d, 0, sizeof(int)));
  step<<<1, 64, 0, cudaStreamLegacy>>>(d, 1, 1, 7);
  step<<<1, 64, 0, cudaStreamPerThread>>>(d, 1, 3, 1);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&got, d, sizeof got, cudaMemcpyDeviceToHost));
  verdict.equal(got, 22, "legacy, then per thread");
  return verdict.finish();
}
