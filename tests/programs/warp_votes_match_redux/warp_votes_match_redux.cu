// Warp votes, match, redux, activemask, elect-like leader code, under full and partial masks and in
// divergent branches; lane masks and ids.
#include <algorithm>
#include <vector>

#include "check.h"

struct Out {
  unsigned any, all, ballot, match_any, match_all, match_all_pred, sum, min_u, max_u, bits_and,
      bits_or, bits_xor, active, lane, lt, le, eq, ge, gt, popcount;
  int min_s, max_s;
};

__global__ void full(const int* in, Out* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, v = in[t];
  Out o;
  o.any = __any_sync(~0u, v > 90);
  o.all = __all_sync(~0u, v >= -50);
  o.ballot = __ballot_sync(~0u, v & 1);
  o.match_any = __match_any_sync(~0u, v % 5);
  int predicate;
  o.match_all = __match_all_sync(~0u, t / 64, &predicate);
  o.match_all_pred = predicate + 2 * (__match_all_sync(~0u, v, &predicate) != 0);
#if __CUDA_ARCH__ >= 800
  o.sum = __reduce_add_sync(~0u, unsigned(v));
  o.min_u = __reduce_min_sync(~0u, unsigned(v));
  o.max_u = __reduce_max_sync(~0u, unsigned(v));
  o.bits_and = __reduce_and_sync(~0u, unsigned(v) | 0xff00);
  o.bits_or = __reduce_or_sync(~0u, unsigned(v) & 0xff);
  o.bits_xor = __reduce_xor_sync(~0u, unsigned(v));
  o.min_s = __reduce_min_sync(~0u, v);
  o.max_s = __reduce_max_sync(~0u, v);
#endif
  o.active = __activemask();
  asm("mov.u32 %0, %%laneid;" : "=r"(o.lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(o.lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(o.le));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(o.eq));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(o.ge));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(o.gt));
  o.popcount = __popc(o.ballot & o.lt);
  out[t] = o;
}

// Warp-aggregated append: lanes that keep a value find their place by a vote among themselves.
__global__ void compact(const int* in, int* out, int* count, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = t < n && in[t] % 3 == 0;
  unsigned mask = __ballot_sync(~0u, keep);
  if (keep) {
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    int leader = __ffs(mask) - 1, base = 0;
    if ((below & mask) == 0) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & below)] = in[t];
  }
}

__global__ void partial(const int* in, unsigned* out) {
  int lane = threadIdx.x % 32;
  unsigned r;
  if (lane % 4 == 1) {
    r = __ballot_sync(0x22222222u, in[threadIdx.x] & 2);
#if __CUDA_ARCH__ >= 800
    r += __reduce_add_sync(0x22222222u, unsigned(lane));
#endif
    r += __shfl_down_sync(0x22222222u, lane, 4);
  } else {
    unsigned mask = __match_any_sync(0xddddddddu, in[threadIdx.x] % 3);
    r = mask ^ __any_sync(mask, lane == 31);
  }
  out[threadIdx.x] = r;
}

int main() {
  Verdict verdict;
  const int n = 256;
  std::vector<int> in(n);
  Random random(26);
  for (int i = 0; i < n; ++i) in[i] = i < 32 ? 7 : static_cast<int>(random.below(150)) - 50;
  int *d, *packed, *count;
  Out* o;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMalloc(&packed, n * sizeof(int)));
  CHECK(cudaMalloc(&count, sizeof(int)));
  CHECK(cudaMalloc(&o, n * sizeof(Out)));
  CHECK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  full<<<2, 128>>>(d, o);
  CHECK(cudaGetLastError());
  std::vector<Out> got(n);
  CHECK(cudaMemcpy(got.data(), o, n * sizeof(Out), cudaMemcpyDeviceToHost));
  for (int w = 0; w < n; w += 32) {
    Out want = {};
    want.all = 1;
    want.min_u = want.bits_and = ~0u;
    want.min_s = 1 << 30;
    want.max_s = -(1 << 30);
    bool same = true;
    for (int l = 0; l < 32; ++l) {
      int v = in[w + l];
      unsigned u = v;
      want.any |= v > 90;
      want.all &= v >= -50;
      want.ballot |= unsigned(v & 1) << l;
      want.sum += u;
      want.min_u = std::min(want.min_u, u);
      want.max_u = std::max(want.max_u, u);
      want.bits_and &= u | 0xff00;
      want.bits_or |= u & 0xff;
      want.bits_xor ^= u;
      want.min_s = std::min(want.min_s, v);
      want.max_s = std::max(want.max_s, v);
      same = same && v == in[w];
    }
    for (unsigned l = 0; l < 32; ++l) {
      const Out& g = got[w + l];
      int at = w + int(l);
      unsigned match = 0;
      for (int k = 0; k < 32; ++k) match |= unsigned(in[w + k] % 5 == in[w + l] % 5) << k;
      verdict.equal(g.any, want.any, "any", at);
      verdict.equal(g.all, want.all, "all", at);
      verdict.equal(g.ballot, want.ballot, "ballot", at);
      verdict.equal(g.match_any, match, "match any", at);
      verdict.equal(g.match_all, ~0u, "match all", at);
      verdict.equal(g.match_all_pred, same ? 3u : 1u, "match all predicate", at);
      verdict.equal(g.sum, want.sum, "redux add", at);
      verdict.equal(g.min_u, want.min_u, "redux min.u", at);
      verdict.equal(g.max_u, want.max_u, "redux max.u", at);
      verdict.equal(g.bits_and, want.bits_and, "redux and", at);
      verdict.equal(g.bits_or, want.bits_or, "redux or", at);
      verdict.equal(g.bits_xor, want.bits_xor, "redux xor", at);
      verdict.equal(g.min_s, want.min_s, "redux min.s", at);
      verdict.equal(g.max_s, want.max_s, "redux max.s", at);
      // Which lanes are together is up to the device; a lane is always among its own.
      verdict.expect(g.active >> l & 1, "activemask", at);
      verdict.equal(g.lane, l, "laneid", at);
      verdict.equal(g.lt, (1u << l) - 1, "lanemask_lt", at);
      verdict.equal(g.le, unsigned((2ull << l) - 1), "lanemask_le", at);
      verdict.equal(g.eq, 1u << l, "lanemask_eq", at);
      verdict.equal(g.ge, ~0u << l, "lanemask_ge", at);
      verdict.equal(g.gt, unsigned(~1ull << l), "lanemask_gt", at);
      verdict.equal<int>(g.popcount, __builtin_popcount(want.ballot & ((1u << l) - 1)), "rank", at);
    }
  }
  CHECK(cudaMemset(count, 0, sizeof(int)));
  compact<<<2, 128>>>(d, packed, count, 250);
  CHECK(cudaGetLastError());
  std::vector<int> kept(n), want_kept;
  int total;
  CHECK(cudaMemcpy(&total, count, sizeof total, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(kept.data(), packed, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 250; ++i) {
    if (in[i] % 3 == 0) want_kept.push_back(in[i]);
  }
  verdict.equal<int>(total, int(want_kept.size()), "kept");
  kept.resize(want_kept.size());
  std::sort(kept.begin(), kept.end());
  std::sort(want_kept.begin(), want_kept.end());
  verdict.expect(kept == want_kept, "kept values");

  std::vector<unsigned> part(64);
  unsigned* p;
  CHECK(cudaMalloc(&p, 64 * sizeof(unsigned)));
  partial<<<1, 64>>>(d, p);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(part.data(), p, 64 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; ++t) {
    int lane = t % 32, w = t - lane;
    unsigned want = 0;
    if (lane % 4 == 1) {
      for (int l = 1; l < 32; l += 4) want |= unsigned((in[w + l] & 2) != 0) << l;
      for (int l = 1; l < 32; l += 4) want += l;
      want += lane + 4 < 32 ? lane + 4 : lane;
    } else {
      bool last = false;
      for (int l = 0; l < 32; ++l) {
        if (l % 4 == 1 || in[w + l] % 3 != in[t] % 3) continue;
        want |= 1u << l;
        last = last || l == 31;
      }
      want ^= unsigned(last);
    }
    verdict.equal(part[t], want, "partial masks", t);
  }
  return verdict.finish();
}
