// Wrong launches and the limits: bad dimensions, too many threads, too much shared memory, unknown
// streams and events, wrong flags and directions, launches nested too deep, more launches than the
// limit allows. A wrong call leaves its code as the thread's last error and launches nothing.
#include "check.h"

__device__ int ran;
__global__ void child(int* out) { atomicAdd(out, 1); }

struct Result {
  int code, peeked, after;
};
__device__ Result result(int code) {
  const int peeked = cudaPeekAtLastError();
  return {code, cudaGetLastError() == peeked ? peeked : -1, cudaGetLastError()};
}

__global__ void wrong_launches(Result* r, int* count, int zero) {
  child<<<zero, 32>>>(count);
  r[0] = result(0);
  child<<<1, zero>>>(count);
  r[1] = result(0);
  child<<<1, 1025>>>(count);
  r[2] = result(0);
  child<<<1, dim3(1, 1, 65)>>>(count);
  r[3] = result(0);
  child<<<dim3(1, 65536), 1>>>(count);
  r[4] = result(0);
  child<<<1, 1, 300 * 1024>>>(count);
  r[5] = result(0);
  child<<<1, 1, 0, reinterpret_cast<cudaStream_t>(0x1234567)>>>(count);
  r[6] = result(0);
  cudaStream_t stream;
  r[7] = result(cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
  cudaEvent_t event;
  r[8] = result(cudaEventCreateWithFlags(&event, cudaEventDefault));
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  r[9] = result(cudaEventRecord(event, cudaStreamTailLaunch));
  r[10] = result(cudaEventRecord(event, cudaStreamFireAndForget));
  r[11] = result(cudaStreamWaitEvent(cudaStreamTailLaunch, event, 0));
  r[12] = result(cudaMemcpyAsync(count + 1, count, 4, cudaMemcpyHostToDevice, 0));
  int value;
  r[13] = result(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  child<<<1, 1>>>(count);
  r[14] = result(0);
}

// The last error is a thread's own.
__global__ void own_errors(int* codes, int zero, int* count) {
  if (threadIdx.x % 2 == 0) child<<<zero, 1>>>(count);
  codes[threadIdx.x] = cudaGetLastError();
}

__global__ void deeper(int depth, int* deepest, int* code) {
  atomicMax(deepest, depth);
  if (depth == 40) return;
  deeper<<<1, 1>>>(depth + 1, deepest, code);
  const int failed = cudaGetLastError();
  if (failed) *code = failed;
}

__global__ void too_many(int n, int* count, int* refused, int* code) {
  for (int i = 0; i < n; ++i) {
    child<<<1, 1>>>(count);
    const int failed = cudaGetLastError();
    if (failed) ++*refused, *code = failed;
  }
}

int main() {
  Verdict verdict;
  constexpr int cases = 15;
  Result *r, got[cases];
  int *count, values[3];
  CHECK(cudaMalloc(&r, sizeof got));
  CHECK(cudaMalloc(&count, 64 * sizeof(int)));
  CHECK(cudaMemset(r, 0xff, sizeof got));
  CHECK(cudaMemset(count, 0, 64 * sizeof(int)));
  wrong_launches<<<1, 1>>>(r, count, 0);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got, r, sizeof got, cudaMemcpyDeviceToHost));
  const int codes[cases] = {9, 9, 9, 9, 9, 9, 400, 1, 1, 1, 1, 1, 21, 1, 0};
  for (int i = 0; i < cases; ++i) {
    if (i >= 7 && i < 14) verdict.equal(got[i].code, codes[i], "code", i);
    verdict.equal(got[i].peeked, codes[i], "last error", i);
    verdict.equal(got[i].after, 0, "last error, asked again", i);
  }
  CHECK(cudaMemcpy(values, count, sizeof values, cudaMemcpyDeviceToHost));
  verdict.equal(values[0], 1, "only the right launch ran");

  own_errors<<<1, 64>>>(count, 0, count);
  static int own[64];
  CHECK(cudaMemcpy(own, count, sizeof own, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) verdict.equal(own[i], i % 2 == 0 ? 9 : 0, "own error", i);

  CHECK(cudaMemset(count, 0, 3 * sizeof(int)));
  deeper<<<1, 1>>>(0, count, count + 1);
  CHECK(cudaMemcpy(values, count, sizeof values, cudaMemcpyDeviceToHost));
  verdict.equal(values[0], 24, "levels");
  verdict.equal(values[1], static_cast<int>(cudaErrorLaunchMaxDepthExceeded), "too deep");

  // One block launches and does not end meanwhile: few of its children can be over, none need be.
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 256));
  CHECK(cudaMemset(count, 0, 3 * sizeof(int)));
  too_many<<<1, 1>>>(50000, count, count + 1, count + 2);
  CHECK(cudaMemcpy(values, count, sizeof values, cudaMemcpyDeviceToHost));
  verdict.equal(values[0] + values[1], 50000, "launched or refused");
  verdict.expect(values[0] >= 256, "as many as the limit", values[0]);
  if (values[1]) verdict.equal(values[2], static_cast<int>(cudaErrorLaunchOutOfResources), "refusal");
  std::printf("%d of 50000 launches refused\n", values[1]);
  return verdict.finish();
}
