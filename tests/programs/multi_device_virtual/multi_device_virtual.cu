// Several devices: properties and distinct ids, work on each from one thread and from one thread a
// device, copies between devices. It uses as many as there are (limen run --devices 4 gives four).
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

__global__ void fill(int* v, int n, int seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    v[i] = i * 3 + seed;
  }
}

__device__ int own_counter;
__global__ void count() { atomicAdd(&own_counter, 1); }

int main(int argc, char** argv) {
  Verdict verdict;
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  std::printf("%d devices\n", devices);
  if (argc > 1) verdict.equal(devices, std::atoi(argv[1]), "devices");
  const int n = 5000;
  std::vector<int*> memory(devices);
  std::vector<cudaDeviceProp> properties(devices);
  for (int k = 0; k < devices; ++k) {
    CHECK(cudaGetDeviceProperties(&properties[k], k));
    for (int j = 0; j < k; ++j) {
      verdict.expect(std::memcmp(&properties[k].uuid, &properties[j].uuid, 16) != 0, "UUID", k);
      char a[32], b[32];
      CHECK(cudaDeviceGetPCIBusId(a, sizeof a, k));
      CHECK(cudaDeviceGetPCIBusId(b, sizeof b, j));
      verdict.expect(std::strcmp(a, b) != 0, "PCI bus id", k);
    }
    CHECK(cudaSetDevice(k));
    CHECK(cudaMalloc(&memory[k], n * sizeof(int)));
    fill<<<4, 128>>>(memory[k], n, k * 1000000);
    for (int i = 0; i <= k; ++i) count<<<1, 1>>>();
    CHECK(cudaGetLastError());
  }
  for (int k = 0; k < devices; ++k) {
    CHECK(cudaSetDevice(k));
    int current, got, place;
    CHECK(cudaGetDevice(&current));
    verdict.equal(current, k, "current device");
    CHECK(cudaMemcpyFromSymbol(&got, own_counter, sizeof got));
    verdict.equal(got, k + 1, "each device has its own variables", k);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, memory[k]));
    place = attributes.device;
    verdict.equal(place, k, "device of a pointer");
  }
  std::vector<int> wrong(devices, 0);
  std::vector<std::thread> threads;
  for (int k = 0; k < devices; ++k) {
    threads.emplace_back([&, k] {
      CHECK(cudaSetDevice(k));
      std::vector<int> host(n);
      for (int round = 0; round < 20; ++round) {
        fill<<<3, 96>>>(memory[k], n, k + round);
        CHECK(cudaMemcpy(host.data(), memory[k], n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; ++i) wrong[k] += host[i] != i * 3 + k + round;
      }
    });
  }
  for (auto& t : threads) t.join();
  for (int k = 0; k < devices; ++k) verdict.equal(wrong[k], 0, "thread of a device", k);
  for (int k = 1; k < devices; ++k) {
    std::vector<int> host(n);
    CHECK(cudaMemcpyPeer(memory[k], k, memory[0], 0, n * sizeof(int)));
    CHECK(cudaSetDevice(k));
    CHECK(cudaMemcpy(host.data(), memory[k], n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) verdict.equal(host[i], i * 3 + 19, "peer copy", i);
  }
  verdict.equal<int>(cudaSetDevice(devices), cudaErrorInvalidDevice, "one device too many");
  return verdict.finish();
}
