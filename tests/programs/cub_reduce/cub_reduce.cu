// CUB: device-wide reduce, scan, radix sort and select, and block-wide collectives in a kernel.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

__global__ void block_work(const int* in, int* sums, int* scans, int* sorted) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 2>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
    Sort::TempStorage sort;
  } temp;
  int i = blockIdx.x * 256 + threadIdx.x * 2;
  int items[2] = {in[i], in[i + 1]};
  int sum = Reduce(temp.reduce).Sum(items[0] + items[1]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  int scanned[2];
  Scan(temp.scan).ExclusiveSum(items, scanned);
  scans[i] = scanned[0];
  scans[i + 1] = scanned[1];
  __syncthreads();
  Sort(temp.sort).Sort(items);
  sorted[i] = items[0];
  sorted[i + 1] = items[1];
}

struct Odd {
  __device__ bool operator()(int v) const { return v & 1; }
};

int main() {
  Verdict verdict;
  const int n = 5120;
  std::vector<int> in(n), got(n);
  Random random(32);
  for (int& v : in) v = static_cast<int>(random.below(100000)) - 50000;
  int *d, *out, *extra, *third, *count;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&extra, n * sizeof(int)));
  CHECK(cudaMalloc(&third, n * sizeof(int)));
  CHECK(cudaMalloc(&count, sizeof(int)));
  CHECK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  void* temp = nullptr;
  auto with_temp = [&](auto call) {
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    CHECK(cudaFree(temp));
    CHECK(cudaMalloc(&temp, bytes + 1));
    CHECK(call(temp, bytes));
  };
  auto fetch = [&](const int* from, int how_many) {
    CHECK(cudaMemcpy(got.data(), from, how_many * sizeof(int), cudaMemcpyDeviceToHost));
  };
  with_temp([&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, d, out, n); });
  fetch(out, 1);
  verdict.equal(got[0], std::accumulate(in.begin(), in.end(), 0), "DeviceReduce::Sum");
  with_temp([&](void* t, size_t& b) { return cub::DeviceReduce::Max(t, b, d, out, n); });
  fetch(out, 1);
  verdict.equal(got[0], *std::max_element(in.begin(), in.end()), "DeviceReduce::Max");
  with_temp([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, d, out, n); });
  fetch(out, n);
  for (int i = 0, sum = 0; i < n; sum += in[i++]) verdict.equal(got[i], sum, "DeviceScan", i);
  with_temp([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, d, out, n); });
  fetch(out, n);
  std::vector<int> want = in;
  std::sort(want.begin(), want.end());
  for (int i = 0; i < n; ++i) verdict.equal(got[i], want[i], "DeviceRadixSort", i);
  with_temp(
      [&](void* t, size_t& b) { return cub::DeviceSelect::If(t, b, d, out, count, n, Odd()); });
  fetch(count, 1);
  std::vector<int> odd;
  std::copy_if(in.begin(), in.end(), std::back_inserter(odd), [](int v) { return v & 1; });
  verdict.equal<int>(got[0], int(odd.size()), "DeviceSelect count");
  fetch(out, int(odd.size()));
  for (size_t i = 0; i < odd.size(); ++i) verdict.equal(got[i], odd[i], "DeviceSelect", i);
  block_work<<<n / 256, 128>>>(d, out, extra, third);
  CHECK(cudaGetLastError());
  fetch(out, n / 256);
  for (int b = 0; b < n / 256; ++b) {
    verdict.equal(got[b], std::accumulate(&in[b * 256], &in[b * 256] + 256, 0), "BlockReduce", b);
  }
  fetch(extra, n);
  for (int i = 0, sum = 0; i < n; ++i) {
    if (i % 256 == 0) sum = 0;
    verdict.equal(got[i], sum, "BlockScan", i);
    sum += in[i];
  }
  fetch(third, n);
  want = in;
  for (int b = 0; b < n; b += 256) std::sort(want.begin() + b, want.begin() + b + 256);
  for (int i = 0; i < n; ++i) verdict.equal(got[i], want[i], "BlockRadixSort", i);
  return verdict.finish();
}
