// A recursive quicksort: each launch partitions its part in one block and launches the two halves
// into streams of its own; small parts are sorted in place. Several inputs, checked on the host.
#include <algorithm>
#include <vector>

#include "check.h"

constexpr int small_part = 64, threads = 64, most_depth = 20;

__device__ int launches, deepest, failed_launches;

__device__ void insertion_sort(unsigned* data, int left, int right) {
  for (int i = left + 1; i <= right; ++i) {
    unsigned value = data[i];
    int j = i - 1;
    for (; j >= left && data[j] > value; --j) data[j + 1] = data[j];
    data[j + 1] = value;
  }
}

__global__ void sort_rest(unsigned* data, int left, int right) {
  if (threadIdx.x == 0) insertion_sort(data, left, right);
}

/// Three-way partition of data[left..right] through `scratch`: less, equal, greater.
__global__ void quicksort(unsigned* data, unsigned* scratch, int left, int right, int depth) {
  __shared__ int less, greater;
  const int t = threadIdx.x;
  const unsigned a = data[left], b = data[(left + right) / 2], c = data[right];
  const unsigned pivot = max(min(a, b), min(max(a, b), c));
  if (t == 0) {
    less = left;
    greater = right;
    atomicAdd(&launches, 1);
    atomicMax(&deepest, depth);
  }
  __syncthreads();
  for (int i = left + t; i <= right; i += threads) {
    const unsigned value = data[i];
    if (value < pivot) scratch[atomicAdd(&less, 1)] = value;
    if (value > pivot) scratch[atomicSub(&greater, 1)] = value;
  }
  __syncthreads();
  const int first_equal = less, last_equal = greater;
  for (int i = left + t; i <= right; i += threads)
    data[i] = i < first_equal || i > last_equal ? scratch[i] : pivot;
  __syncthreads();
  if (t != 0) return;
  auto launch = [&](int from, int to) {
    if (from >= to) return;
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
      atomicAdd(&failed_launches, 1);
    if (to - from < small_part || depth >= most_depth)
      sort_rest<<<1, 32, 0, stream>>>(data, from, to);
    else
      quicksort<<<1, threads, 0, stream>>>(data, scratch, from, to, depth + 1);
    if (cudaGetLastError() != cudaSuccess) atomicAdd(&failed_launches, 1);
    cudaStreamDestroy(stream);
  };
  launch(left, first_equal - 1);
  launch(last_equal + 1, right);
}

int main() {
  Verdict verdict;
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 16384));
  for (int kind = 0; kind < 3; ++kind) {
    const int n = 20000;
    std::vector<unsigned> values(n);
    Random random(17 + kind);
    for (int i = 0; i < n; ++i)
      values[i] = kind == 0 ? random.bits() : kind == 1 ? random.below(50) : n - i;
    unsigned *data, *scratch;
    CHECK(cudaMalloc(&data, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&scratch, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(data, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    const int zero = 0;
    CHECK(cudaMemcpyToSymbol(launches, &zero, sizeof zero));
    CHECK(cudaMemcpyToSymbol(deepest, &zero, sizeof zero));
    quicksort<<<1, threads>>>(data, scratch, 0, n - 1, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> got(n);
    CHECK(cudaMemcpy(got.data(), data, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::sort(values.begin(), values.end());
    for (int i = 0; i < n; ++i) verdict.equal(got[i], values[i], "sorted", kind * 100000 + i);
    int count, depth, failed;
    CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
    CHECK(cudaMemcpyFromSymbol(&depth, deepest, sizeof depth));
    CHECK(cudaMemcpyFromSymbol(&failed, failed_launches, sizeof failed));
    verdict.equal(failed, 0, "failed launches", kind);
    verdict.expect(count > (kind == 1 ? 5 : 100), "quicksort launched itself", count);
    std::printf("input %d: %d partitions, depth %d\n", kind, count, depth);
    CHECK(cudaFree(data));
    CHECK(cudaFree(scratch));
  }
  return verdict.finish();
}
