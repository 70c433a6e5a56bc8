// Tail launches: a chain of a kernel that launches itself; a tail launch sees what its parent, its
// parent's children and their children did; several tail launches run in order; those of a tail
// launch come before its next sibling; work queued behind the host's launch sees all of it.
#include "check.h"

__device__ int log_at, log_entries[4096];
__device__ int sum, steps, seen[16];

__device__ void note(int what) {
  const int at = atomicAdd(&log_at, 1);
  if (at < 4096) log_entries[at] = what;
}

__global__ void step(int left) {
  ++steps;
  sum += left;
  if (left > 0) step<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1);
}

// An iterative solver: many blocks work on an array, the last step decides whether to go on.
__global__ void relax(float* x, int n, int round, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f * x[i] + 1.0f;
  if (i == 0 && round + 1 < rounds)
    relax<<<gridDim.x, blockDim.x, 0, cudaStreamTailLaunch>>>(x, n, round + 1, rounds);
}

__global__ void slow_leaf(int* counter, int work) {
  int value = 0;
  for (int i = 0; i < work; ++i) value += i % 7;
  if (value >= 0) atomicAdd(counter, 1);
}
__global__ void middle(int* counter) {
  slow_leaf<<<8, 32>>>(counter, 4000);
  slow_leaf<<<4, 32, 0, cudaStreamFireAndForget>>>(counter, 4000);
}
__global__ void look(const int* counter, int* out) { *out = *counter; }
__global__ void parent(int* counter, int* out) {
  if (threadIdx.x == 0) look<<<1, 1, 0, cudaStreamTailLaunch>>>(counter, out);
  middle<<<1, 1, 0, cudaStreamFireAndForget>>>(counter);
  middle<<<1, 1>>>(counter);
  atomicAdd(counter, 1);
}

__global__ void entry(int what) { note(what); }
__global__ void outer(int what) {
  note(what);
  entry<<<1, 1, 0, cudaStreamTailLaunch>>>(what * 10 + 1);
  entry<<<1, 1, 0, cudaStreamTailLaunch>>>(what * 10 + 2);
}
__global__ void ordered() {
  outer<<<1, 1, 0, cudaStreamTailLaunch>>>(1);
  entry<<<1, 1, 0, cudaStreamTailLaunch>>>(2);
  outer<<<1, 1, 0, cudaStreamTailLaunch>>>(3);
  note(0);
}
__global__ void after() { note(99); }

int main() {
  Verdict verdict;
  const int zero = 0;
  int got;
  step<<<1, 1>>>(300);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyFromSymbol(&got, steps, sizeof got));
  verdict.equal(got, 301, "steps of the chain");
  CHECK(cudaMemcpyFromSymbol(&got, sum, sizeof got));
  verdict.equal(got, 300 * 301 / 2, "sum over the chain");

  const int n = 5000, rounds = 20;
  float* x;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMemset(x, 0, n * sizeof(float)));
  relax<<<(n + 127) / 128, 128>>>(x, n, 0, rounds);
  static float host[n];
  CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  float want = 0;
  for (int i = 0; i < rounds; ++i) want = 0.5f * want + 1.0f;
  for (int i = 0; i < n; ++i) verdict.equal(host[i], want, "relaxed", i);

  int* counter;
  CHECK(cudaMalloc(&counter, 2 * sizeof(int)));
  for (int repeat = 0; repeat < 20; ++repeat) {
    CHECK(cudaMemset(counter, 0, 2 * sizeof(int)));
    parent<<<1, 4>>>(counter, counter + 1);
    int values[2];
    CHECK(cudaMemcpy(values, counter, sizeof values, cudaMemcpyDeviceToHost));
    const int all = 4 + 4 * 2 * (8 + 4) * 32;
    verdict.equal(values[0], all, "counted", repeat);
    verdict.equal(values[1], all, "seen by the tail launch", repeat);
  }

  for (int repeat = 0; repeat < 20; ++repeat) {
    CHECK(cudaMemcpyToSymbol(log_at, &zero, sizeof zero));
    ordered<<<1, 1>>>();
    after<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    const int want_log[] = {0, 1, 11, 12, 2, 3, 31, 32, 99};
    const int count = sizeof want_log / sizeof *want_log;
    int entries[count];
    CHECK(cudaMemcpyFromSymbol(&got, log_at, sizeof got));
    verdict.equal(got, count, "entries", repeat);
    CHECK(cudaMemcpyFromSymbol(entries, log_entries, sizeof entries));
    for (int i = 0; i < count; ++i)
      verdict.equal(entries[i], want_log[i], "order", repeat * 100 + i);
  }
  return verdict.finish();
}
