// The kernels of tensor_maps: each does one tensor instruction between a tensor and shared memory and
// gives all of that memory back, so that the host sees what was touched and what was not. Waits are
// bounded: a count of bytes that is wrong is told, not waited for.
#pragma once
#include <cooperative_groups.h>
#include <cuda.h>

#include <cstdint>

constexpr uint32_t shared_bytes = 32 * 1024;

struct Args {
  int mode, rank, form;
  uint32_t base, bytes;
  int at[5];
  unsigned short info[3];
};

__device__ inline unsigned shared_address(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ inline void init(unsigned barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// True when the phase is over in time.
__device__ inline bool wait(unsigned barrier) {
  for (int i = 0; i < 20000; ++i) {
    unsigned done;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
    if (done) return true;
    __nanosleep(200);
  }
  return false;
}

#define AT1 "{%3}"
#define AT2 "{%3,%4}"
#define AT3 "{%3,%4,%5}"
#define AT4 "{%3,%4,%5,%6}"
#define AT5 "{%3,%4,%5,%6,%7}"
#define IN1 "r"(a.at[0])
#define IN2 IN1, "r"(a.at[1])
#define IN3 IN2, "r"(a.at[2])
#define IN4 IN3, "r"(a.at[3])
#define IN5 IN4, "r"(a.at[4])
#define LOAD(text, coordinates, tail, ...)                                                      \
  asm volatile("cp.async.bulk.tensor." text " [%0], [%1, " coordinates "], [%2]" tail ";" ::"r"(s), \
               "l"(map), "r"(b), __VA_ARGS__                                                      \
               : "memory")
#define CLUSTER ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"
#define BLOCK ".shared::cta.global.mbarrier::complete_tx::bytes"
#define HINT ".shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
#define LOAD_TILE(n, p)                                                                          \
  if (a.form == 0)                                                                               \
    LOAD(#n "d" CLUSTER, AT##n, "", IN##n);                                                      \
  else if (a.form == 1)                                                                          \
    LOAD(#n "d" BLOCK, AT##n, "", IN##n);                                                        \
  else                                                                                           \
    LOAD(#n "d" HINT, AT##n, ", " p, IN##n, "l"(policy))
#define IM2COL ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
#define IM2COL_BLOCK ".shared::cta.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint"

__device__ inline void load_box(const CUtensorMap* map, const Args& a, unsigned s, unsigned b) {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if (a.mode == 0) {
    switch (a.rank) {
      case 1: LOAD_TILE(1, "%4"); break;
      case 2: LOAD_TILE(2, "%5"); break;
      case 3: LOAD_TILE(3, "%6"); break;
      case 4: LOAD_TILE(4, "%7"); break;
      default: LOAD_TILE(5, "%8");
    }
    return;
  }
  if (a.mode == 1) {
    switch (a.rank) {
      case 3:
        if (a.form == 0)
          LOAD("3d" IM2COL, AT3, ", {%6}", IN3, "h"(a.info[0]));
        else
          LOAD("3d" IM2COL_BLOCK, AT3, ", {%6}, %7", IN3, "h"(a.info[0]), "l"(policy));
        break;
      case 4:
        if (a.form == 0)
          LOAD("4d" IM2COL, AT4, ", {%7,%8}", IN4, "h"(a.info[0]), "h"(a.info[1]));
        else
          LOAD("4d" IM2COL_BLOCK, AT4, ", {%7,%8}, %9", IN4, "h"(a.info[0]), "h"(a.info[1]),
               "l"(policy));
        break;
      default:
        LOAD("5d" IM2COL, AT5, ", {%8,%9,%10}", IN5, "h"(a.info[0]), "h"(a.info[1]),
             "h"(a.info[2]));
    }
    return;
  }
#if __CUDA_ARCH__ >= 1000
  if (a.mode == 2) {
    LOAD("2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes", AT5, "", IN5);
    return;
  }
#define WIDE "d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes"
  if (a.rank == 3) LOAD("3" WIDE, AT3, ", {%6,%7}", IN3, "h"(a.info[0]), "h"(a.info[1]));
  if (a.rank == 4) LOAD("4" WIDE, AT4, ", {%7,%8}", IN4, "h"(a.info[0]), "h"(a.info[1]));
  if (a.rank == 5) LOAD("5" WIDE, AT5, ", {%8,%9}", IN5, "h"(a.info[0]), "h"(a.info[1]));
#endif
}

/// out: all of shared memory, then a word: 1 when the bytes that the barrier expected came.
__global__ void load(const __grid_constant__ CUtensorMap map, const Args a, uint8_t* out) {
  extern __shared__ __align__(1024) uint8_t buffer[];
  auto* barrier = (unsigned long long*)(buffer + shared_bytes);
  const unsigned b = shared_address(barrier);
  for (uint32_t i = threadIdx.x; i < shared_bytes; i += blockDim.x) buffer[i] = 0xcd;
  if (threadIdx.x == 0) init(b);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(b, a.bytes);
    load_box(&map, a, shared_address(buffer) + a.base, b);
    *(unsigned*)(out + shared_bytes) = wait(b);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < shared_bytes; i += blockDim.x) out[i] = buffer[i];
}

#define PUT_AT1 "{%2}"
#define PUT_AT2 "{%2,%3}"
#define PUT_AT3 "{%2,%3,%4}"
#define PUT_AT4 "{%2,%3,%4,%5}"
#define PUT_AT5 "{%2,%3,%4,%5,%6}"
#define PUT(text, n)                                                                     \
  asm volatile(text " [%0, " PUT_AT##n "], [%1];" ::"l"(map), "r"(s), IN##n : "memory")
#define PUT_HINT(text, n, p)                                                                 \
  asm volatile(text ".L2::cache_hint [%0, " PUT_AT##n "], [%1], " p ";" ::"l"(map), "r"(s), IN##n, \
               "l"(policy)                                                                   \
               : "memory")
#define STORE(n, mode) PUT("cp.async.bulk.tensor." #n "d.global.shared::cta." mode ".bulk_group", n)

__device__ inline void store_box(const CUtensorMap* map, const Args& a, unsigned s) {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if (a.mode == 0) {
    switch (a.rank) {
      case 1: STORE(1, "tile"); break;
      case 2:
        if (a.form == 0)
          STORE(2, "tile");
        else
          PUT_HINT("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", 2, "%4");
        break;
      case 3: STORE(3, "tile"); break;
      case 4: STORE(4, "tile"); break;
      default: STORE(5, "tile");
    }
    return;
  }
  switch (a.rank) {
    case 3: STORE(3, "im2col_no_offs"); break;
    case 4: STORE(4, "im2col_no_offs"); break;
    default: STORE(5, "im2col_no_offs");
  }
}

#define REDUCE(op)                                                                           \
  if (a.mode == 0) {                                                                         \
    switch (a.rank) {                                                                        \
      case 1: PUT("cp.reduce.async.bulk.tensor.1d.global.shared::cta." op ".tile.bulk_group", 1); break; \
      case 2: PUT("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op ".bulk_group", 2); break;      \
      case 3: PUT("cp.reduce.async.bulk.tensor.3d.global.shared::cta." op ".bulk_group", 3); break;      \
      case 4: PUT("cp.reduce.async.bulk.tensor.4d.global.shared::cta." op ".bulk_group", 4); break;      \
      default: PUT("cp.reduce.async.bulk.tensor.5d.global.shared::cta." op ".bulk_group", 5); \
    }                                                                                        \
  } else {                                                                                   \
    PUT("cp.reduce.async.bulk.tensor.4d.global.shared::cta." op ".im2col_no_offs.bulk_group", 4); \
  }

/// op -1: a store; else a reduction: add min max inc dec and or xor. `bytes`: what shared memory holds.
__global__ void put(const __grid_constant__ CUtensorMap tensor, const Args a, int op,
                    const uint8_t* bytes) {
  extern __shared__ __align__(1024) uint8_t buffer[];
  const CUtensorMap* map = &tensor;
  for (uint32_t i = threadIdx.x; i < shared_bytes; i += blockDim.x) buffer[i] = bytes[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned s = shared_address(buffer) + a.base;
  switch (op) {
    case 0: REDUCE("add"); break;
    case 1: REDUCE("min"); break;
    case 2: REDUCE("max"); break;
    case 3: REDUCE("inc"); break;
    case 4: REDUCE("dec"); break;
    case 5: REDUCE("and"); break;
    case 6: REDUCE("or"); break;
    case 7: REDUCE("xor"); break;
    default: store_box(map, a, s);
  }
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Many threads and blocks add to one tensor at once: every lane issues.
__global__ void add_together(const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) uint8_t buffer[];
  auto* tile = (unsigned*)(buffer + threadIdx.x * 128);
  for (int i = 0; i < 32; ++i) tile[i] = i + threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const int x = threadIdx.x % 2 * 32, y = threadIdx.x / 2 % 8;
  if (threadIdx.x % 3 != 1)
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1,%2}], [%3];" ::"l"(
            &map),
        "r"(x), "r"(y), "r"(shared_address(tile))
        : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Rank 0 loads a tile into the blocks named in `mask`; out: each block's tile.
__global__ void __cluster_dims__(4, 1, 1)
    spread(const __grid_constant__ CUtensorMap map, unsigned short mask, int hint, int x, unsigned* out) {
  extern __shared__ __align__(1024) uint8_t buffer[];
  auto* tile = (unsigned*)buffer;
  auto* barrier = (unsigned long long*)(buffer + 1024);
  auto cluster = cooperative_groups::this_cluster();
  const unsigned rank = cluster.block_rank(), b = shared_address(barrier);
  tile[threadIdx.x] = 1000000 + rank;
  if (threadIdx.x == 0) {
    init(b);
    expect(b, mask >> rank & 1 ? 512 : 0);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  cluster.sync();
  const int y = (int)(blockIdx.x / 4) * 4;
  if (threadIdx.x == 0 && rank == 0) {
    const unsigned s = shared_address(tile);
    if (!hint)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
          " [%0], [%1, {%2,%3}], [%4], %5;" ::"r"(s),
          "l"(&map), "r"(x), "r"(y), "r"(b), "h"(mask)
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
          ".L2::cache_hint [%0], [%1, {%2,%3}], [%4], %5, %6;" ::"r"(s),
          "l"(&map), "r"(x), "r"(y), "r"(b), "h"(mask), "l"(0x12f0000000000000ull)
          : "memory");
  }
  if (threadIdx.x == 0 && !wait(b)) tile[0] = 0xdead;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
  cluster.sync();
}

__constant__ CUtensorMap constant_map;

/// The same tile through the map in constant memory, in global memory, and through a copy that the
/// kernel made by way of shared memory; prefetches on the way.
__global__ void from_anywhere(const CUtensorMap* global_map, CUtensorMap* copy, int x, unsigned* out) {
  extern __shared__ __align__(1024) uint8_t buffer[];
  auto* tiles = (unsigned*)buffer;
  auto* map_in_shared = (CUtensorMap*)(buffer + 4096);
  auto* barrier = (unsigned long long*)(buffer + 8192);
  const unsigned b = shared_address(barrier);
  if (threadIdx.x < 16) map_in_shared->opaque[threadIdx.x] = global_map->opaque[threadIdx.x];
  if (threadIdx.x == 0) init(b);
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
        " [%0], [%1], 128;" ::"l"(copy),
        "r"(shared_address(map_in_shared))
        : "memory");
  }
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(global_map) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(global_map) : "memory");
    const CUtensorMap* maps[3] = {&constant_map, global_map, copy};
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1,%2}];" ::"l"(global_map),
                 "r"(0), "r"(0)
                 : "memory");
    asm volatile(
        "cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint [%0, {%1,%2}], %3;" ::"l"(global_map),
        "r"(0), "r"(4), "l"(0x12f0000000000000ull)
        : "memory");
    expect(b, 3 * 512);
    for (int i = 0; i < 3; ++i)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2,%3}], "
          "[%4];" ::"r"(shared_address(tiles + i * 128)),
          "l"(maps[i]), "r"(i * x), "r"(i), "r"(b)
          : "memory");
    if (!wait(b)) tiles[0] = 0xdead;
  }
  __syncthreads();
  for (int i = 0; i < 3; ++i) out[i * 128 + threadIdx.x] = tiles[i * 128 + threadIdx.x];
}
