// Order inside a stream, between streams through events, the legacy default stream's barrier with
// blocking streams, queries, timing, priorities.
#include <vector>

#include "check.h"

__global__ void multiply_add(int* v, int n, int m, int a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * m + a;
}

__global__ void slow_set(int* v, int n, int value, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i;
  for (int k = 0; k < turns; ++k) x = x * 1664525u + 1013904223u;
  if (i < n) v[i] = value + (x == 0x7fffffffu && turns < 0);
}

__global__ void copy(const int* from, int* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

int main() {
  Verdict verdict;
  const int n = 10000, grid = (n + 127) / 128;
  int *a, *b, *host;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaStream_t one, two, free_one;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreate(&two));
  CHECK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));

  // In one stream, many small kernels keep their order.
  CHECK(cudaMemsetAsync(a, 0, n * sizeof(int), one));
  unsigned want = 0;
  for (int k = 0; k < 200; ++k) {
    multiply_add<<<grid, 128, 0, one>>>(a, n, 3, k);
    want = want * 3 + k;
  }
  CHECK(cudaMemcpyAsync(host, a, n * sizeof(int), cudaMemcpyDeviceToHost, one));
  CHECK(cudaStreamSynchronize(one));
  CHECK(cudaStreamQuery(one));
  for (int i = 0; i < n; ++i) verdict.equal(unsigned(host[i]), want, "in order", i);

  // Across streams by an event: two waits for one's slow kernel.
  cudaEvent_t event, start, stop;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int round = 1; round <= 10; ++round) {
    slow_set<<<grid, 128, 0, free_one>>>(a, n, round, 20000);
    CHECK(cudaEventRecord(event, free_one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    copy<<<grid, 128, 0, two>>>(a, b, n);
    CHECK(cudaMemcpyAsync(host, b, n * sizeof(int), cudaMemcpyDeviceToHost, two));
    CHECK(cudaStreamSynchronize(two));
    CHECK(cudaEventQuery(event));
    for (int i = 0; i < n; i += 97) verdict.equal(host[i], round, "after the event", i);
  }

  // The legacy default stream waits for blocking streams, and they for it.
  slow_set<<<grid, 128, 0, one>>>(a, n, 77, 50000);
  copy<<<grid, 128>>>(a, b, n);
  slow_set<<<grid, 128, 0, two>>>(a, n, 78, 0);
  CHECK(cudaMemcpy(host, b, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) verdict.equal(host[i], 77, "default stream", i);

  // Timing: an interval around a kernel is positive and additive; codes of unrecorded events.
  float whole, none;
  CHECK(cudaEventRecord(start, one));
  slow_set<<<grid, 128, 0, one>>>(a, n, 1, 20000);
  CHECK(cudaEventRecord(stop, one));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaEventElapsedTime(&whole, start, stop));
  verdict.expect(whole > 0.0005f && whole < 20000, "elapsed time in ms", (long long)(whole * 1000));
  cudaEvent_t fresh;
  CHECK(cudaEventCreate(&fresh));
  CHECK(cudaEventQuery(fresh));
  CHECK(cudaEventSynchronize(fresh));
  verdict.equal<int>(cudaEventElapsedTime(&none, start, fresh), cudaErrorInvalidResourceHandle,
                     "elapsed time of an unrecorded event");
  verdict.equal<int>(cudaEventElapsedTime(&none, event, stop), cudaErrorInvalidResourceHandle,
                     "elapsed time without timing");
  cudaGetLastError();

  int low, high;
  CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
  cudaStream_t urgent;
  CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high));
  int priority;
  unsigned flags;
  CHECK(cudaStreamGetPriority(urgent, &priority));
  CHECK(cudaStreamGetFlags(urgent, &flags));
  verdict.equal(priority, high, "priority");
  verdict.equal(flags, unsigned(cudaStreamNonBlocking), "flags");
  CHECK(cudaStreamDestroy(urgent));

  // A destroyed stream's work still completes.
  slow_set<<<grid, 128, 0, two>>>(a, n, 99, 30000);
  CHECK(cudaStreamDestroy(two));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(host, a, n * sizeof(int), cudaMemcpyDeviceToHost));
  verdict.equal(host[n - 1], 99, "work of a destroyed stream");
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(one));
  CHECK(cudaStreamDestroy(free_one));
  return verdict.finish();
}
