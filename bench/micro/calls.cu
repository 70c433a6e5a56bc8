// What single calls cost: microseconds a call, medians over many, as one line of JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void empty() {}

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "calls: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Median over `rounds` of the time of one of `calls` calls of `work`.
template <typename Work, typename After>
double median_us(int rounds, int calls, Work work, After after) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    double begin = now_us();
    for (int i = 0; i < calls; ++i) work();
    times.push_back((now_us() - begin) / calls);
    after();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  auto sync = [] { check(cudaDeviceSynchronize()); };
  empty<<<1, 32>>>();
  check(cudaGetLastError());
  sync();
  double launch = median_us(51, 100, [] { empty<<<1, 32>>>(); }, sync);
  double launch_sync = median_us(501, 1, [&] { empty<<<1, 32>>>(); sync(); }, [] {});
  double burst = median_us(21, 1, [&] {
    for (int i = 0; i < 1000; ++i) empty<<<1, 32>>>();
    sync();
  }, [] {}) / 1000;
  auto malloc_free = [](size_t bytes) {
    return [bytes] {
      void* memory = nullptr;
      check(cudaMalloc(&memory, bytes));
      check(cudaFree(memory));
    };
  };
  double small = median_us(501, 1, malloc_free(256), [] {});
  double middle = median_us(501, 1, malloc_free(1 << 20), [] {});
  double large = median_us(101, 1, malloc_free(64 << 20), [] {});
  // The usual loop on the default pool, whose release threshold is 0: each round gives all back.
  auto pool_loop = [](size_t bytes) {
    return [bytes] {
      void* memory = nullptr;
      check(cudaMallocAsync(&memory, bytes, nullptr));
      empty<<<1, 32>>>();
      check(cudaFreeAsync(memory, nullptr));
      check(cudaStreamSynchronize(nullptr));
    };
  };
  double pool_middle = median_us(501, 1, pool_loop(1 << 20), [] {});
  double pool_large = median_us(101, 1, pool_loop(64 << 20), [] {});
  int* memory = nullptr;
  int value = 0;
  check(cudaMalloc(&memory, sizeof value));
  double up = median_us(501, 1, [&] {
    check(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
  }, [] {});
  double down = median_us(501, 1, [&] {
    check(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  }, [] {});
  check(cudaGetLastError());
  std::printf("{\"launch\": %.3f, \"launch_sync\": %.3f, \"burst\": %.3f, \"malloc_256B\": %.3f, "
              "\"malloc_1MiB\": %.3f, \"malloc_64MiB\": %.3f, \"pool_loop_1MiB\": %.3f, "
              "\"pool_loop_64MiB\": %.3f, \"copy_4B_up\": %.3f, "
              "\"copy_4B_down\": %.3f}\n",
              launch, launch_sync, burst, small, middle, large, pool_middle, pool_large, up, down);
  return 0;
}
