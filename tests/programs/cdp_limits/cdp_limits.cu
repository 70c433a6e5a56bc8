// Wrong launches and the limits: bad dimensions, too many threads, too much shared memory, unknown
// streams and events, wrong flags and directions, launches nested deep, more launches than the
// limit allows. A wrong call leaves its code as the thread's last error and launches nothing.
// The expectations are an H200's answers (driver 580.159.04, CUDA 13.0).
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

constexpr int levels = 100;
template <int kind>
__global__ void deeper(int depth, int* deepest, int* code) {
  atomicMax(deepest, depth);
  if (depth == levels) return;
  cudaStream_t stream = 0;
  if (kind == 1) stream = cudaStreamFireAndForget;
  if (kind == 2) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (kind == 3) stream = cudaStreamTailLaunch;
  deeper<kind><<<1, 1, 0, stream>>>(depth + 1, deepest, code);
  const int failed = cudaGetLastError();
  if (failed) *code = failed;
}

// r: launches that ran, refused ones, the first of them, their code.
__global__ void too_many(int n, cudaStream_t stream, int* r) {
  r[2] = -1;
  for (int i = 0; i < n; ++i) {
    child<<<1, 1, 0, stream>>>(r);
    const int failed = cudaGetLastError();
    if (!failed) continue;
    if (++r[1] == 1) r[2] = i;
    r[3] = failed;
  }
}

__global__ void use(cudaStream_t stream, int* count, int* code) {
  child<<<1, 1, 0, stream>>>(count);
  *code = cudaGetLastError();
}
__global__ void hand_down(int* count, int* code) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  use<<<1, 1>>>(stream, count, code);
}

__device__ cudaEvent_t events[5000];
__global__ void many_events(int* made, int* code) {
  int n = 0;
  while (n < 5000 && !(*code = cudaEventCreateWithFlags(&events[n], cudaEventDisableTiming))) ++n;
  *made = n;
  for (int i = 0; i < n; ++i) cudaEventDestroy(events[i]);
}

int main() {
  Verdict verdict;
  constexpr int cases = 15;
  Result *r, got[cases];
  int *count, values[4];
  CHECK(cudaMalloc(&r, sizeof got));
  CHECK(cudaMalloc(&count, 64 * sizeof(int)));
  CHECK(cudaMemset(r, 0xff, sizeof got));
  CHECK(cudaMemset(count, 0, 64 * sizeof(int)));
  wrong_launches<<<1, 1>>>(r, count, 0);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got, r, sizeof got, cudaMemcpyDeviceToHost));
  const int codes[cases] = {9, 9, 9, 9, 9, 9, 1, 0, 1, 1, 1, 1, 21, 1, 0};
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

  auto clear = [&] { CHECK(cudaMemset(count, 0, sizeof values)); };
  auto fetch = [&] {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(values, count, sizeof values, cudaMemcpyDeviceToHost));
  };
  for (int kind = 0; kind < 4; ++kind) {
    clear();
    if (kind == 0) deeper<0><<<1, 1>>>(0, count, count + 1);
    if (kind == 1) deeper<1><<<1, 1>>>(0, count, count + 1);
    if (kind == 2) deeper<2><<<1, 1>>>(0, count, count + 1);
    if (kind == 3) deeper<3><<<1, 1>>>(0, count, count + 1);
    fetch();
    verdict.equal(values[0], levels, "levels", kind);
    verdict.equal(values[1], 0, "code of launches nested deep", kind);
  }

  // A stream belongs to its grid.
  clear();
  hand_down<<<1, 1>>>(count, count + 1);
  fetch();
  verdict.equal(values[0], 0, "launches to another grid's stream");
  verdict.equal(values[1], 1, "code of another grid's stream");

  clear();
  many_events<<<1, 1>>>(count, count + 1);
  fetch();
  verdict.equal(values[0], 4096, "events");
  verdict.equal(values[1], static_cast<int>(cudaErrorMemoryAllocation), "code of too many events");

  // Launches that begin while more are made are none too many; of tail launches none can begin.
  constexpr int launches = 20000;
  for (int limit : {2048, 256}) {
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, limit));
    for (int kind = 0; kind < 3; ++kind) {
      clear();
      too_many<<<1, 1>>>(launches,
                         kind == 0   ? cudaStream_t(0)
                         : kind == 1 ? cudaStreamFireAndForget
                                     : cudaStreamTailLaunch,
                         count);
      fetch();
      const bool tail = kind == 2;
      verdict.equal(values[0], tail ? limit : launches, "launches that ran", limit + kind);
      verdict.equal(values[1], tail ? launches - limit : 0, "launches refused", limit + kind);
      verdict.equal(values[2], tail ? limit : -1, "first one refused", limit + kind);
      verdict.equal(values[3], tail ? static_cast<int>(cudaErrorLaunchPendingCountExceeded) : 0,
                    "code of the refusal", limit + kind);
    }
  }
  return verdict.finish();
}
