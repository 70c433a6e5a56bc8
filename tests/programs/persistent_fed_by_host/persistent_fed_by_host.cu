// A kernel that never ends by itself serves requests that the host writes into mapped memory.
// Meanwhile another stream must copy and run kernels, so the spinning blocks may not hold the
// device.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

struct Mailbox {
  volatile int request;
  volatile int argument;
  volatile int answered;
  volatile long long answer;
};

__global__ void server(Mailbox* box) {
  Mailbox* mine = box + blockIdx.x;
  int last = 0;
  while (true) {
    if (threadIdx.x == 0) {
      while (mine->request == last) {
      }
      __threadfence_system();
    }
    __syncthreads();
    int now = mine->request;
    if (now < 0) return;
    long long argument = mine->argument;
    __syncthreads();
    if (threadIdx.x == 0) {
      mine->answer = argument * argument + now;
      __threadfence_system();
      mine->answered = now;
    }
    last = now;
  }
}

__global__ void other_work(int* out) { out[threadIdx.x] = threadIdx.x * 7; }

static bool wait_for(volatile int& flag, int value) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (flag != value) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

int main() {
  Verdict verdict;
  const int blocks = 4, rounds = 20;
  Mailbox *host, *device;
  CHECK(cudaHostAlloc(&host, blocks * sizeof(Mailbox), cudaHostAllocMapped));
  for (int b = 0; b < blocks; ++b) host[b].request = host[b].answered = 0;
  CHECK(cudaHostGetDevicePointer(&device, host, 0));
  cudaStream_t serving, working;
  CHECK(cudaStreamCreateWithFlags(&serving, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking));
  int *d, *pinned;
  CHECK(cudaMalloc(&d, 64 * sizeof(int)));
  CHECK(cudaMallocHost(&pinned, 64 * sizeof(int)));
  // NVIDIA's driver loads kernels at their first use, and that may wait for a running kernel.
  CHECK(cudaMemsetAsync(d, 0, 64 * sizeof(int), working));
  other_work<<<1, 64, 0, working>>>(d);
  CHECK(cudaMemcpyAsync(pinned, d, 64 * sizeof(int), cudaMemcpyDeviceToHost, working));
  CHECK(cudaDeviceSynchronize());
  server<<<blocks, 64, 0, serving>>>(device);
  CHECK(cudaGetLastError());
  verdict.expect(cudaStreamQuery(serving) == cudaErrorNotReady, "the server runs");
  for (int r = 1; r <= rounds; ++r) {
    for (int b = 0; b < blocks; ++b) {
      host[b].argument = r * 100 + b;
      std::atomic_thread_fence(std::memory_order_seq_cst);
      host[b].request = r;
    }
    for (int b = 0; b < blocks; ++b) {
      if (!verdict.expect(wait_for(host[b].answered, r), "no answer", r * 10 + b)) std::_Exit(1);
      long long argument = r * 100 + b;
      verdict.equal<long long>(host[b].answer, argument * argument + r, "answer", r * 10 + b);
    }
    if (r % 5 == 0) {
      CHECK(cudaMemsetAsync(d, 0, 64 * sizeof(int), working));
      other_work<<<1, 64, 0, working>>>(d);
      CHECK(cudaMemcpyAsync(pinned, d, 64 * sizeof(int), cudaMemcpyDeviceToHost, working));
      CHECK(cudaStreamSynchronize(working));
      for (int i = 0; i < 64; ++i) verdict.equal(pinned[i], i * 7, "other stream", i);
    }
  }
  for (int b = 0; b < blocks; ++b) host[b].request = -1;
  CHECK(cudaStreamSynchronize(serving));
  return verdict.finish();
}
