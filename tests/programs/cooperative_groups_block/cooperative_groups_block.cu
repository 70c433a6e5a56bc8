// Cooperative groups inside a block: thread_block, tiles of 2 to 32, coalesced groups, labelled and
// binary partitions, reduce and scan of groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

template <int N>
__device__ int tile_sum(int v) {
  auto tile = cg::tiled_partition<N>(cg::this_thread_block());
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_xor(v, d);
  tile.sync();
  return v;
}

__global__ void tiles(const int* in, int* out, int n) {
  auto block = cg::this_thread_block();
  int t = block.thread_rank(), v = in[t];
  out[t] = tile_sum<2>(v);
  out[n + t] = tile_sum<8>(v);
  out[2 * n + t] = tile_sum<32>(v);
  auto tile = cg::tiled_partition<16>(block);
  out[3 * n + t] = cg::reduce(tile, v, cg::greater<int>());
  out[4 * n + t] = cg::exclusive_scan(tile, v);
  out[5 * n + t] = tile.meta_group_rank() * 1000 + tile.thread_rank() * 10 + tile.any(v == 3);
}

__global__ void groups(const int* in, int* out, int* counter, int n) {
  auto block = cg::this_thread_block();
  int t = block.thread_rank(), v = in[t];
  out[t] = out[n + t] = -1;
  if (v % 3 == 0) {
    auto active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
    out[t] = active.shfl(base, 0) + active.thread_rank();
  }
  auto warp = cg::tiled_partition<32>(block);
  auto label = cg::labeled_partition(warp, v % 4);
  out[n + t] = cg::reduce(label, v, cg::plus<int>());
  auto half = cg::binary_partition(warp, v > 50);
  out[2 * n + t] = half.size() * 100 + half.thread_rank();
  __shared__ int total;
  if (t == 0) total = 0;
  block.sync();
  cg::invoke_one(warp, [&] { atomicAdd(&total, 1); });
  block.sync();
  out[3 * n + t] = total;
}

int main() {
  Verdict verdict;
  const int n = 256;
  std::vector<int> in(n), got(6 * n);
  Random random(33);
  for (int& v : in) v = static_cast<int>(random.below(100));
  int *d, *out, *counter;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMalloc(&out, 6 * n * sizeof(int)));
  CHECK(cudaMalloc(&counter, sizeof(int)));
  CHECK(cudaMemset(counter, 0, sizeof(int)));
  CHECK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  tiles<<<1, n>>>(d, out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, 6 * n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int t = 0; t < n; ++t) {
    auto sum = [&](int size) {
      int s = 0;
      for (int i = t / size * size; i < t / size * size + size; ++i) s += in[i];
      return s;
    };
    int start = t / 16 * 16, most = in[start], before = 0, three = 0;
    for (int i = start; i < start + 16; ++i) {
      most = std::max(most, in[i]);
      if (i < t) before += in[i];
      three |= in[i] == 3;
    }
    verdict.equal(got[t], sum(2), "tile of 2", t);
    verdict.equal(got[n + t], sum(8), "tile of 8", t);
    verdict.equal(got[2 * n + t], sum(32), "tile of 32", t);
    verdict.equal(got[3 * n + t], most, "reduce", t);
    verdict.equal(got[4 * n + t], before, "exclusive scan", t);
    verdict.equal(got[5 * n + t], t / 16 * 1000 + t % 16 * 10 + three, "ranks", t);
  }
  groups<<<1, n>>>(d, out, counter, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, 4 * n * sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<int> places(n, 0);
  int multiples = 0;
  for (int t = 0; t < n; ++t) {
    int warp = t / 32 * 32, same = 0, size = 0, rank = 0;
    for (int i = warp; i < warp + 32; ++i) {
      if (in[i] % 4 == in[t] % 4) same += in[i];
      if ((in[i] > 50) == (in[t] > 50)) {
        ++size;
        rank += i < t;
      }
    }
    if (in[t] % 3 == 0) {
      ++multiples;
      if (verdict.expect(got[t] >= 0 && got[t] < n, "place", t)) ++places[got[t]];
    } else {
      verdict.equal(got[t], -1, "not in the group", t);
    }
    verdict.equal(got[n + t], same, "labelled partition", t);
    verdict.equal(got[2 * n + t], size * 100 + rank, "binary partition", t);
    verdict.equal(got[3 * n + t], 8, "invoke_one", t);
  }
  for (int i = 0; i < n; ++i) verdict.equal(places[i], int(i < multiples), "places once", i);
  return verdict.finish();
}
