// Fire-and-forget launches by the thousand: trees that count their own nodes (over 10,000 grids),
// one block that launches from all its threads, and grids launched from divergent code. The host's
// launch is over only when all of them are.
#include "check.h"

__device__ int nodes, failures;
__device__ unsigned long long weight;

__global__ void grow(int depth, int branches, unsigned id) {
  atomicAdd(&nodes, 1);
  atomicAdd(&weight, static_cast<unsigned long long>(id));
  if (depth == 0) return;
  for (int i = 0; i < branches; ++i) {
    grow<<<1, 1, 0, cudaStreamFireAndForget>>>(depth - 1, branches, id * 5 + i + 1);
    if (cudaGetLastError() != cudaSuccess) atomicAdd(&failures, 1);
  }
}

__global__ void grow_into(int* count, int depth, int branches) {
  atomicAdd(count, 1);
  for (int i = 0; depth > 0 && i < branches; ++i) {
    if (i % 2 == 0)
      grow_into<<<1, 1>>>(count, depth - 1, branches);
    else
      grow_into<<<1, 1, 0, cudaStreamFireAndForget>>>(count, depth - 1, branches);
  }
}

__global__ void leaf(int* out, int value) { out[threadIdx.x] += value; }

__global__ void from_all_threads(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  leaf<<<1, 4, 0, cudaStreamFireAndForget>>>(out + 4 * t, t + 1);
}

__global__ void divergent(int* out) {
  const int t = threadIdx.x;
  if (t % 3 == 0) {
    leaf<<<1, 2, 0, cudaStreamFireAndForget>>>(out + 4 * t, 1);
  } else if (t % 3 == 1) {
    for (int i = 0; i < t % 4; ++i) leaf<<<1, 1>>>(out + 4 * t, 10);
  }
  if (t > 50) return;
  leaf<<<1, 1, 0, cudaStreamFireAndForget>>>(out + 4 * t + 3, 7);
}

int main() {
  Verdict verdict;
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 32768));
  const int depth = 8, branches = 3;  // 9,841 grids
  int want = 0;
  for (int level = 0, grids = 1; level <= depth; ++level, grids *= branches) want += grids;
  unsigned long long want_weight = 0;
  struct Walk {
    unsigned long long* total;
    int branches;
    void visit(int depth, unsigned id) {
      *total += id;
      for (int i = 0; depth && i < branches; ++i) visit(depth - 1, id * 5 + i + 1);
    }
  } walk{&want_weight, branches};
  walk.visit(depth, 1);
  grow<<<1, 1>>>(depth, branches, 1);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  int got, failed;
  unsigned long long got_weight;
  CHECK(cudaMemcpyFromSymbol(&got, nodes, sizeof got));
  CHECK(cudaMemcpyFromSymbol(&failed, failures, sizeof failed));
  CHECK(cudaMemcpyFromSymbol(&got_weight, weight, sizeof got_weight));
  verdict.equal(got, want, "grids of the tree");
  verdict.equal(failed, 0, "failed launches");
  verdict.equal(got_weight, want_weight, "sum of their numbers");

  const int threads = 1024;
  int* out;
  static int host[4 * threads];
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMemset(out, 0, sizeof host));
  from_all_threads<<<4, threads / 4>>>(out);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4 * threads; ++i)
    verdict.equal(host[i], i / 4 + 1, "launched by every thread", i);

  CHECK(cudaMemset(out, 0, sizeof host));
  divergent<<<1, 96>>>(out);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 96; ++t) {
    const int first = t % 3 == 0 ? 1 : t % 3 == 1 ? 10 * (t % 4) : 0;
    verdict.equal(host[4 * t], first, "first", t);
    verdict.equal(host[4 * t + 1], t % 3 == 0 ? 1 : 0, "second", t);
    verdict.equal(host[4 * t + 3], t > 50 ? 0 : 7, "fourth", t);
  }
  // Several of the host's streams at once; what each has queued behind sees its whole tree.
  constexpr int streams = 4, rounds = 10;
  cudaStream_t stream[streams];
  int* results;
  CHECK(cudaHostAlloc(&results, streams * rounds * sizeof(int), cudaHostAllocDefault));
  CHECK(cudaMemset(out, 0, sizeof host));
  for (auto& s : stream) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  for (int round = 0; round < rounds; ++round)
    for (int s = 0; s < streams; ++s) {
      grow_into<<<1, 1, 0, stream[s]>>>(out + s, 4, 3);  // 121 grids
      CHECK(cudaMemcpyAsync(results + s * rounds + round, out + s, sizeof(int),
                            cudaMemcpyDeviceToHost, stream[s]));
    }
  for (auto& s : stream) {
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
  }
  for (int s = 0; s < streams; ++s)
    for (int round = 0; round < rounds; ++round)
      verdict.equal(results[s * rounds + round], 121 * (round + 1), "trees in host streams", s);
  return verdict.finish();
}
