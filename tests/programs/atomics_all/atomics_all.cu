// Every atomic operation of CUDA C++ on global and shared memory: 32 and 64 bits, float and double,
// CAS loops, min/max, bits, inc/dec, exchange, and the values that they return.
#include <algorithm>
#include <vector>

#include "check.h"

constexpr int n = 4096, threads = 256;

struct Cells {
  int add, min_s, max_s, exchange, cas_sum;
  unsigned add_u, min_u, max_u, bits_and, bits_or, bits_xor, inc, dec;
  unsigned long long add64, min64, max64, and64, or64, xor64, exch64, cas64;
  long long min_s64, max_s64;
  float add_f, cas_max_f;
  double add_d, cas_max_d;
};

__device__ float max_by_cas(float* p, float v) {
  int* bits = reinterpret_cast<int*>(p);
  int old = *bits;
  while (__int_as_float(old) < v) {
    int seen = atomicCAS(bits, old, __float_as_int(v));
    if (seen == old) break;
    old = seen;
  }
  return __int_as_float(old);
}

__device__ void max_by_cas(double* p, double v) {
  auto* bits = reinterpret_cast<unsigned long long*>(p);
  unsigned long long old = *bits;
  while (__longlong_as_double(old) < v) {
    unsigned long long seen = atomicCAS(bits, old, __double_as_longlong(v));
    if (seen == old) break;
    old = seen;
  }
}

__device__ void work(Cells* c, int v) {
  unsigned u = v;
  unsigned long long w = (static_cast<unsigned long long>(u) << 32 | u) * 2654435761ull;
  atomicAdd(&c->add, v);
  atomicSub(&c->add, v / 2);
  atomicMin(&c->min_s, v);
  atomicMax(&c->max_s, v);
  atomicAdd(&c->add_u, u);
  atomicMin(&c->min_u, u);
  atomicMax(&c->max_u, u);
  atomicAnd(&c->bits_and, ~(1u << (u % 7)));
  atomicOr(&c->bits_or, 1u << (u % 19));
  atomicXor(&c->bits_xor, u);
  atomicInc(&c->inc, 99);
  atomicDec(&c->dec, 70);
  atomicAdd(&c->add64, w);
  atomicMin(&c->min64, w);
  atomicMax(&c->max64, w);
  atomicAnd(&c->and64, ~(1ull << (u % 50)));
  atomicOr(&c->or64, 1ull << (u % 61));
  atomicXor(&c->xor64, w);
  atomicMin(&c->min_s64, static_cast<long long>(w));
  atomicMax(&c->max_s64, static_cast<long long>(w));
  atomicAdd(&c->add_f, static_cast<float>(v % 16));
  max_by_cas(&c->cas_max_f, v * 0.5f);
  max_by_cas(&c->cas_max_d, v * 0.25);
  int old = c->cas_sum, seen;
  while ((seen = atomicCAS(&c->cas_sum, old, old + v)) != old) old = seen;
}

__global__ void global_cells(Cells* c, const int* in) {
  int v = in[blockIdx.x * threads + threadIdx.x];
  work(c, v);
#if __CUDA_ARCH__ >= 600
  atomicAdd(&c->add_d, v * 0.5);
#endif
}

__global__ void shared_cells(Cells* out, const Cells* start, const int* in) {
  __shared__ Cells c;
  if (threadIdx.x == 0) c = *start;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += threads) {
    work(&c, in[i]);
#if __CUDA_ARCH__ >= 600
    atomicAdd(&c.add_d, in[i] * 0.5);
#endif
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = c;
}

// Returned values: each old value of a counter is handed out once.
__global__ void returned(int* counter, int* seen, unsigned* wrapped, int* wrap_seen,
                         unsigned long long* big, int* big_seen) {
  atomicAdd(&seen[atomicAdd(counter, 1)], 1);
  atomicAdd(&wrap_seen[atomicInc(wrapped, 99)], 1);
  atomicAdd(&big_seen[atomicAdd(big, 3ull) / 3], 1);
}

__global__ void exchange_chain(int* cell, int* taken) {
  int mine = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int old = atomicExch(cell, mine);
  atomicAdd(&taken[old], 1);
}

static void compare(const Cells& got, const std::vector<int>& in, const Cells& start,
                    Verdict& verdict, const char* where) {
  Cells want = start;
  for (int v : in) {
    unsigned u = v;
    unsigned long long w = (static_cast<unsigned long long>(u) << 32 | u) * 2654435761ull;
    want.add = int(unsigned(want.add) + unsigned(v) - unsigned(v / 2));
    want.min_s = std::min(want.min_s, v);
    want.max_s = std::max(want.max_s, v);
    want.add_u += u;
    want.min_u = std::min(want.min_u, u);
    want.max_u = std::max(want.max_u, u);
    want.bits_and &= ~(1u << (u % 7));
    want.bits_or |= 1u << (u % 19);
    want.bits_xor ^= u;
    want.inc = want.inc >= 99 ? 0 : want.inc + 1;
    want.dec = want.dec == 0 || want.dec > 70 ? 70 : want.dec - 1;
    want.add64 += w;
    want.min64 = std::min(want.min64, w);
    want.max64 = std::max(want.max64, w);
    want.and64 &= ~(1ull << (u % 50));
    want.or64 |= 1ull << (u % 61);
    want.xor64 ^= w;
    want.min_s64 = std::min(want.min_s64, static_cast<long long>(w));
    want.max_s64 = std::max(want.max_s64, static_cast<long long>(w));
    want.add_f += float(v % 16);
    want.add_d += v * 0.5;
    want.cas_max_f = std::max(want.cas_max_f, v * 0.5f);
    want.cas_max_d = std::max(want.cas_max_d, v * 0.25);
    want.cas_sum = int(unsigned(want.cas_sum) + unsigned(v));
  }
  std::printf("%s\n", where);
#define SAME(field) verdict.equal(got.field, want.field, #field)
  SAME(add);
  SAME(min_s);
  SAME(max_s);
  SAME(add_u);
  SAME(min_u);
  SAME(max_u);
  SAME(bits_and);
  SAME(bits_or);
  SAME(bits_xor);
  SAME(inc);
  SAME(dec);
  SAME(add64);
  SAME(min64);
  SAME(max64);
  SAME(and64);
  SAME(or64);
  SAME(xor64);
  SAME(min_s64);
  SAME(max_s64);
  SAME(add_f);
  SAME(add_d);
  SAME(cas_max_f);
  SAME(cas_max_d);
  SAME(cas_sum);
}

int main() {
  Verdict verdict;
  std::vector<int> in(n);
  Random random(25);
  for (int& v : in) v = static_cast<int>(random.below(100000)) - 30000;
  Cells start = {}, got;
  start.min_s = start.max_s = 17;
  start.min_u = ~0u;
  start.bits_and = ~0u;
  start.min64 = start.and64 = ~0ull;
  start.inc = 3;
  start.dec = 200;
  Cells *c, *s;
  int* d;
  CHECK(cudaMalloc(&c, sizeof start));
  CHECK(cudaMalloc(&s, sizeof start));
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(c, &start, sizeof start, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(s, &start, sizeof start, cudaMemcpyHostToDevice));
  global_cells<<<n / threads, threads>>>(c, d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&got, c, sizeof got, cudaMemcpyDeviceToHost));
  compare(got, in, start, verdict, "global");
  shared_cells<<<1, threads>>>(c, s, d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&got, c, sizeof got, cudaMemcpyDeviceToHost));
  compare(got, in, start, verdict, "shared");

  int* memory;
  CHECK(cudaMalloc(&memory, (3 * n + 200) * sizeof(int)));
  CHECK(cudaMemset(memory, 0, (3 * n + 200) * sizeof(int)));
  returned<<<16, threads>>>(memory, memory + 8, reinterpret_cast<unsigned*>(memory + 1),
                            memory + 8 + n, reinterpret_cast<unsigned long long*>(memory + 2),
                            memory + 108 + n);
  CHECK(cudaGetLastError());
  std::vector<int> seen(3 * n + 200);
  CHECK(cudaMemcpy(seen.data(), memory, seen.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    verdict.equal(seen[8 + i], 1, "each old value once", i);
    verdict.equal(seen[108 + n + i], 1, "each old 64-bit value once", i);
  }
  for (int i = 0; i < 100; ++i) {
    verdict.expect(seen[8 + n + i] == 40 || seen[8 + n + i] == 41, "inc wraps evenly", i);
  }
  CHECK(cudaMemset(memory, 0, (3 * n + 200) * sizeof(int)));
  exchange_chain<<<8, 100>>>(memory, memory + 1);
  CHECK(cudaMemcpy(seen.data(), memory, seen.size() * sizeof(int), cudaMemcpyDeviceToHost));
  int last = seen[0], times = 0;
  for (int i = 0; i <= 800; ++i) {
    verdict.equal(seen[1 + i], i == last ? 0 : 1, "exchange hands on", i);
    times += seen[1 + i];
  }
  verdict.equal(times, 800, "exchanges");
  return verdict.finish();
}
