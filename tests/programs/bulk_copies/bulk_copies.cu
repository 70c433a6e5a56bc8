// cp.async.bulk in every direction, with transaction counts and with bulk groups, multicast to the
// blocks of a cluster, bulk reductions for each type, and prefetch. Each is checked on the host.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      " @!p bra again; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Tiles of `in` go to shared memory by turns of two buffers, are changed, and go out to `out`.
__global__ void stream(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int buffer[2][256];
  __shared__ alignas(8) unsigned long long barriers[2];
  const unsigned b[2] = {shared_address(&barriers[0]), shared_address(&barriers[1])};
  if (threadIdx.x == 0) {
    init(b[0], 1);
    init(b[1], 1);
  }
  __syncthreads();
  auto fetch = [&](int tile) {
    const int* from = in + (size_t)(blockIdx.x * tiles + tile) * 256;
    unsigned to = shared_address(buffer[tile % 2]);
    expect(b[tile % 2], 1024);
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" ::"l"(from) : "memory");
    // In two pieces, the counts add up.
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1008, [%2];"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0+1008], [%1+1008], 16, "
        "[%2];" ::"r"(to),
        "l"(from), "r"(b[tile % 2])
        : "memory");
  };
  if (threadIdx.x == 0) fetch(0);
  for (int t = 0; t < tiles; ++t) {
    if (threadIdx.x == 0 && t + 1 < tiles) fetch(t + 1);
    wait(b[t % 2], t / 2 & 1);
    buffer[t % 2][threadIdx.x] = buffer[t % 2][threadIdx.x] * 3 + t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      int* to = out + (size_t)(blockIdx.x * tiles + t) * 256;
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(to),
                   "r"(shared_address(buffer[t % 2]))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Rank 0 sends one tile to the blocks named in a mask, rank 1 one from shared to shared memory.
__global__ void __cluster_dims__(4, 1, 1) spread(const int* in, int* out) {
  __shared__ alignas(128) int tile[64], gift[64];
  __shared__ alignas(8) unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), b = shared_address(&barrier);
  tile[threadIdx.x] = -1;
  gift[threadIdx.x] = rank * 1000 + threadIdx.x;
  if (threadIdx.x == 0) {
    init(b, 1);
    unsigned bytes = (rank != 2 ? 256 : 0) + (rank == 3 ? 256 : 0);
    expect(b, bytes);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0 && rank == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 256, [%2], %3;" ::"r"(shared_address(tile)),
        "l"(in + blockIdx.x / 4 * 64), "r"(b), "h"((unsigned short)0b1011)
        : "memory");
  }
  if (threadIdx.x == 0 && rank == 1) {
    unsigned to, barrier_there;
    asm("mapa.shared::cluster.u32 %0, %1, 3;" : "=r"(to) : "r"(shared_address(gift)));
    asm("mapa.shared::cluster.u32 %0, %1, 3;" : "=r"(barrier_there) : "r"(b));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, "
        "[%2];" ::"r"(to),
        "r"(shared_address(gift)), "r"(barrier_there)
        : "memory");
  }
  wait(b, 0);
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
  out[blockIdx.x * 128 + 64 + threadIdx.x] = gift[threadIdx.x];
  cluster.sync();
}

#define REDUCE(name, type, text)                                                            \
  __global__ void name(type* out) {                                                         \
    __shared__ alignas(16) type from[32];                                                   \
    from[threadIdx.x] = (type)(float)(threadIdx.x * (blockIdx.x + 1));                      \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                            \
    __syncthreads();                                                                        \
    if (threadIdx.x == 0) {                                                                 \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." text               \
                   " [%0], [%1], %2;" ::"l"(out),                                           \
                   "r"(shared_address(from)), "r"((unsigned)sizeof from)                    \
                   : "memory");                                                             \
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); \
    }                                                                                       \
  }

REDUCE(add_u32, unsigned, "add.u32")
REDUCE(add_s32, int, "add.s32")
REDUCE(add_u64, unsigned long long, "add.u64")
REDUCE(add_f32, float, "add.f32")
REDUCE(add_f64, double, "add.f64")
REDUCE(add_f16, __half, "add.noftz.f16")
REDUCE(add_bf16, __nv_bfloat16, "add.noftz.bf16")
REDUCE(max_f16, __half, "max.f16")
REDUCE(min_bf16, __nv_bfloat16, "min.bf16")
REDUCE(max_s64, long long, "max.s64")
REDUCE(min_u32, unsigned, "min.u32")
REDUCE(xor_b64, unsigned long long, "xor.b64")
REDUCE(inc_u32, unsigned, "inc.u32")

template <typename T, typename F>
void reduction(Verdict& verdict, void (*kernel)(T*), double start, F&& want, const char* what) {
  T* out;
  CHECK(cudaMallocManaged(&out, 32 * sizeof(T)));
  for (int i = 0; i < 32; ++i) out[i] = (T)(float)start;
  kernel<<<3, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) verdict.equal<double>((double)(float)out[i], want(i), what, i);
  CHECK(cudaFree(out));
}

/// Adds to another block's shared memory.
__global__ void __cluster_dims__(2, 1, 1) add_there(int* out) {
  __shared__ alignas(16) int from[32], to[32];
  __shared__ alignas(8) unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned b = shared_address(&barrier), there, barrier_there;
  from[threadIdx.x] = threadIdx.x * (cluster.block_rank() + 1);
  to[threadIdx.x] = 100;
  if (threadIdx.x == 0) {
    init(b, 1);
    expect(b, sizeof to);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0) {
    unsigned other = cluster.block_rank() ^ 1;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(to)), "r"(other));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier_there) : "r"(b), "r"(other));
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 "
        "[%0], [%1], %2, [%3];" ::"r"(there),
        "r"(shared_address(from)), "r"((unsigned)sizeof from), "r"(barrier_there)
        : "memory");
  }
  wait(b, 0);
  out[blockIdx.x * 32 + threadIdx.x] = to[threadIdx.x];
  cluster.sync();
}

int main() {
  Verdict verdict;
  const int blocks = 5, tiles = 7, n = blocks * tiles * 256;
  int *in, *out;
  CHECK(cudaMallocManaged(&in, n * sizeof(int)));
  CHECK(cudaMallocManaged(&out, n * sizeof(int)));
  for (int i = 0; i < n; ++i) in[i] = i * 5 - 3, out[i] = 0;
  stream<<<blocks, 256>>>(in, out, tiles);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    verdict.equal(out[i], in[i] * 3 + i / 256 % tiles, "through shared memory", i);

  spread<<<8, 64>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  for (int b = 0; b < 8; ++b)
    for (int i = 0; i < 64; ++i) {
      verdict.equal(out[b * 128 + i], b % 4 == 2 ? -1 : in[b / 4 * 64 + i], "multicast", b * 64 + i);
      verdict.equal(out[b * 128 + 64 + i], (b % 4 == 3 ? 1 : b % 4) * 1000 + i, "to a neighbour",
                    b * 64 + i);
    }
  auto sum = [](int i) { return 10.0 + 6 * i; };
  reduction(verdict, add_u32, 10, sum, "add.u32");
  reduction(verdict, add_s32, 10, sum, "add.s32");
  reduction(verdict, add_u64, 10, sum, "add.u64");
  reduction(verdict, add_f32, 10, sum, "add.f32");
  reduction(verdict, add_f64, 10, sum, "add.f64");
  reduction(verdict, add_f16, 10, sum, "add.f16");
  reduction(verdict, add_bf16, 10, sum, "add.bf16");
  reduction(verdict, max_f16, 20, [](int i) { return std::max(20.0, 3.0 * i); }, "max.f16");
  reduction(verdict, min_bf16, 20, [](int i) { return std::min(20.0, 1.0 * i); }, "min.bf16");
  reduction(verdict, max_s64, -5, [](int i) { return std::max(-5.0, 3.0 * i); }, "max.s64");
  reduction(verdict, min_u32, 9, [](int i) { return std::min(9.0, 1.0 * i); }, "min.u32");
  reduction(verdict, xor_b64, 1, [](int i) { return double(1 ^ i ^ 2 * i ^ 3 * i); }, "xor.b64");
  // Starts at 0 with bounds i, 2i, 3i: in any order none is reached from i = 3 on.
  unsigned* turns;
  CHECK(cudaMallocManaged(&turns, 32 * sizeof(unsigned)));
  for (int i = 0; i < 32; ++i) turns[i] = 0;
  inc_u32<<<3, 32>>>(turns);
  CHECK(cudaDeviceSynchronize());
  verdict.equal(turns[0], 0u, "inc.u32");
  for (int i = 3; i < 32; ++i) verdict.equal(turns[i], 3u, "inc.u32", i);
  add_there<<<4, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i)
    verdict.equal(out[i], 100 + i % 32 * (i / 32 % 2 ? 1 : 2), "add in a neighbour", i);
  return verdict.finish();
}
