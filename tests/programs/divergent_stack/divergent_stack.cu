// Each lane works off its own stack of pairs in local memory and writes results to an interleaved
// stack in global memory: depth, trip count and branches differ by lane (adaptive bisection).
#include <vector>

#include "check.h"

struct Range {
  double low, high;
};
constexpr int threads = 128, depth = 64, most = 100;

template <typename T, int N>
struct Stack {
  T data[N];
  int top;
  __host__ __device__ Stack() : top(-1) {}
  __host__ __device__ void push(const T& v) { data[++top] = v; }
  __host__ __device__ T pop() { return data[top--]; }
  __host__ __device__ bool empty() const { return top == -1; }
};

/// Cuts a range in halves until it is narrow or its key says stop; calls `keep` for what is left.
template <typename Keep>
__host__ __device__ void bisect(Range start, int id, Keep& keep) {
  Stack<Range, depth> work;
  Range now = start;
  while (true) {
    double middle = (now.low + now.high) * 0.5, width = now.high - now.low;
    int key = static_cast<int>(middle * 1024) * 7 + id;
    bool done = width <= 1.0 / 64 || key % 5 == 0;
    bool has_second = true;
    Range first = {now.low, middle}, second = {middle, now.high};
    if (key % 7 == 1) has_second = false;
    if (done) {
      keep(now);
      if (work.empty()) break;
      now = work.pop();
    } else {
      if (key % 3 == 0) {
        now = first;
        if (has_second) work.push(second);
      } else {
        if (has_second) {
          work.push(first);
          now = second;
        } else {
          now = first;
        }
      }
    }
  }
}

/// Keeps the first `most` ranges of a lane, `stride` elements apart.
struct Keeper {
  Range* out;
  int at, stride, count;
  __host__ __device__ void operator()(Range r) {
    if (count < most) {
      out[at] = r;
      at += stride;
      ++count;
    }
  }
};

__host__ __device__ int work_off(Range* out, int id, int lanes) {
  Keeper keeper = {out, id, lanes, 0};
  bisect({id * 0.125, id * 0.125 + 1}, id, keeper);
  return keeper.count;
}

__global__ void run(Range* out, int* counts) {
  int id = blockIdx.x * threads + threadIdx.x;
  counts[id] = work_off(out, id, threads * gridDim.x);
}

int main() {
  Verdict verdict;
  const int blocks = 4, lanes = threads * blocks;
  std::vector<Range> got(lanes * most);
  std::vector<int> counts(lanes);
  Range* d;
  int* dc;
  CHECK(cudaMalloc(&d, got.size() * sizeof(Range)));
  CHECK(cudaMalloc(&dc, lanes * sizeof(int)));
  run<<<blocks, threads>>>(d, dc);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, got.size() * sizeof(Range), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(counts.data(), dc, lanes * sizeof(int), cudaMemcpyDeviceToHost));
  long long total = 0;
  std::vector<Range> want(lanes * most);
  for (int id = 0; id < lanes; ++id) {
    int n = work_off(want.data(), id, lanes);
    verdict.equal(counts[id], n, "count", id);
    for (int k = 0; k < n; ++k) {
      verdict.equal(got[k * lanes + id].low, want[k * lanes + id].low, "low", id);
      verdict.equal(got[k * lanes + id].high, want[k * lanes + id].high, "high", id);
    }
    total += n;
  }
  verdict.expect(total > 5000, "enough work", total);
  return verdict.finish();
}
