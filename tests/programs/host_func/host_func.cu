// Host functions and callbacks in a stream: in order with kernels and copies, off the calling
// thread, while other streams go on.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

__global__ void add(int* v, int a) { atomicAdd(v, a); }

struct Step {
  int* pinned;
  int expected;
  std::atomic<int>* good;
  std::thread::id caller;
};

static void CUDART_CB check_step(void* data) {
  Step* step = static_cast<Step*>(data);
  if (*step->pinned == step->expected && std::this_thread::get_id() != step->caller) ++*step->good;
  *step->pinned = -1;
}

static void CUDART_CB old_style(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) ++*static_cast<std::atomic<int>*>(data);
}

int main() {
  Verdict verdict;
  const int rounds = 50;
  int *d, *pinned;
  CHECK(cudaMalloc(&d, sizeof(int)));
  CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CHECK(cudaMemset(d, 0, sizeof(int)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  std::atomic<int> good{0}, called{0};
  std::vector<Step> steps(rounds);
  for (int k = 0; k < rounds; ++k) {
    steps[k] = {pinned, (k + 1) * (k + 2) / 2 * 32, &good, std::this_thread::get_id()};
    add<<<1, 32, 0, stream>>>(d, k + 1);
    CHECK(cudaMemcpyAsync(pinned, d, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, check_step, &steps[k]));
  }
  CHECK(cudaStreamAddCallback(stream, old_style, &called, 0));
  CHECK(cudaStreamSynchronize(stream));
  verdict.equal(good.load(), rounds, "host functions that saw the right value");
  verdict.equal(called.load(), 1, "callbacks");

  // A host function that waits for the main thread must not hold up another stream.
  std::atomic<bool> release{false};
  CHECK(cudaLaunchHostFunc(
      stream,
      [](void* p) {
        while (!*static_cast<std::atomic<bool>*>(p)) std::this_thread::yield();
      },
      &release));
  cudaStream_t other;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  add<<<1, 32, 0, other>>>(d, 1000);
  CHECK(cudaStreamSynchronize(other));
  verdict.equal<int>(cudaStreamQuery(stream), cudaErrorNotReady, "the waiting stream");
  release = true;
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(pinned, d, sizeof(int), cudaMemcpyDeviceToHost));
  verdict.equal(*pinned, rounds * (rounds + 1) / 2 * 32 + 32000, "sum");
  return verdict.finish();
}
