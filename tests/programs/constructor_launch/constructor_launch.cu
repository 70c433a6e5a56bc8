// Kernels launched by static constructors and destructors, before and after main, also from a
// function registered with atexit; and a thread that calls the driver until the process is gone. It
// calls past the runtime: NVIDIA's static one crashes in a thread that calls it while it unloads.
#include <thread>

#include "check.h"

__device__ int counter = 100;
__global__ void bump(int by) { atomicAdd(&counter, by); }

static int read_counter() {
  int value = -1;
  if (cudaMemcpyFromSymbol(&value, counter, sizeof value) != cudaSuccess) return -2;
  return value;
}

struct Early {
  int seen;
  Early() {
    bump<<<1, 5>>>(1);
    seen = read_counter();
  }
  ~Early() {
    bump<<<1, 1>>>(1000);
    cudaError_t code = cudaDeviceSynchronize();
    // The runtime may already be gone here: cudaErrorCudartUnloading is a fair answer.
    bool fair = code == cudaSuccess || code == cudaErrorCudartUnloading;
    std::printf("destructor: %s\n", fair ? "fair" : cudaGetErrorName(code));
    std::fflush(stdout);
    if (!fair) std::_Exit(1);
  }
};
static Early early;

static void at_the_end() {
  bump<<<1, 1>>>(10000);
  cudaError_t code = cudaDeviceSynchronize();
  if (code != cudaSuccess && code != cudaErrorCudartUnloading) {
    std::printf("atexit: %s\nFAILED\n", cudaGetErrorName(code));
    std::_Exit(1);
  }
}

int main() {
  Verdict verdict;
  std::atexit(at_the_end);
  verdict.equal(early.seen, 105, "in the constructor");
  bump<<<2, 8>>>(2);
  CHECK(cudaDeviceSynchronize());
  verdict.equal(read_counter(), 137, "in main");
  void* query = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuStreamQuery", &query, 12000, cudaEnableDefault, &found));
  std::thread([query] {
    cudaSetDevice(0);
    for (;;) reinterpret_cast<int (*)(cudaStream_t)>(query)(nullptr);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  return verdict.finish();
}
