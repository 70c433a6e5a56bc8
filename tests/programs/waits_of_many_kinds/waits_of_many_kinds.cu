// Ways in which lanes of a warp, warps and blocks wait for each other that do not look like the usual
// flag or lock: bounded polls, counts over flags, rings, locks made of any atomic. Each kernel ends
// only if whoever is waited for may go on.
#include <cstdio>
#include <vector>

#include "sections.h"

using u32 = unsigned;

__device__ __noinline__ bool is_set(volatile u32* flag) { return *flag != 0; }

/// Lane i may go on once lane i - 1 has set its flag.
#define CHAIN(name, ...)                                        \
  __global__ void name(u32* words, u32* out) {                  \
    const int i = threadIdx.x, n = blockDim.x;                  \
    volatile u32* flags = words;                                \
    (void)n;                                                    \
    __VA_ARGS__;                                                \
    __threadfence();                                            \
    flags[i] = 1;                                               \
    out[i] = 1;                                                 \
  }

CHAIN(bounded_poll, for (int k = 0; k < 1 << 30 && i && !flags[i - 1]; ++k))
CHAIN(bounded_call, for (int k = 0; k < 1 << 30 && i && !is_set(flags + i - 1); ++k))
CHAIN(count_flags, int c; do {
  c = 0;
  for (int j = 0; j < i; ++j) c += flags[j];
} while (c < i))
CHAIN(walk_by_value, for (int j = 0; j < i;) j += flags[j])
CHAIN(ring_of_slots, for (int j = i; i;) {
  const u32 v = flags[j % n];
  if (v && j % n == i - 1) break;
  j = j % n + 1;
})
CHAIN(poll_by_max, while (i && !atomicMax(words + i - 1, 0u)))
CHAIN(poll_ldcv, while (i && !__ldcv(words + i - 1)))
CHAIN(poll_cg, u32 v = !i; while (!v) asm volatile("ld.global.cg.u32 %0, [%1];"
                                                   : "=r"(v) : "l"(words + i - 1) : "memory"))
CHAIN(vote_of_one, while (i && !__any_sync(1u << i, flags[i - 1])))

/// Every lane adds to words[1] in turn.
#define LOCKED(name, take, give)               \
  __global__ void name(u32* words, u32* out) { \
    volatile u32* data = words;                \
    take;                                      \
    data[1] = data[1] + 1;                     \
    __threadfence();                           \
    give;                                      \
    out[threadIdx.x] = 1;                      \
  }

LOCKED(lock_or, while (atomicOr(words, 1u) & 1u), atomicAnd(words, ~1u))
LOCKED(lock_min, while (atomicMin(reinterpret_cast<int*>(words), -1) < 0), atomicExch(words, 0u))
LOCKED(lock_xor, while (atomicAnd(words + 3, 0u) == 0u), atomicXor(words + 3, 1u))
LOCKED(lock_taken_back, while (static_cast<int>(atomicSub(words + 2, 1u)) < 1) atomicAdd(words + 2, 1u),
       atomicAdd(words + 2, 1u))
LOCKED(lock_bit_by_cas, u32 seen = data[0]; for (;;) {
  const u32 want = seen & ~1u;
  const u32 had = atomicCAS(words, want, want | 1u);
  if (had == want) break;
  seen = had;
}, atomicAnd(words, ~1u))

__global__ void bounded_try(u32* words, u32* out) {
  volatile u32* data = words;
  for (int k = 0; k < 0x7fffffff; ++k)
    if (atomicCAS(words, 0u, 1u) == 0u) {
      data[1] = data[1] + 1;
      __threadfence();
      atomicExch(words, 0u);
      break;
    }
  out[threadIdx.x] = 1;
}

__global__ void grid_by_max(u32* words, u32* out) {
  if (threadIdx.x == 0) {
    atomicAdd(words, 1u);
    while (atomicMax(words, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void grid_bounded(u32* words, u32* out) {
  if (threadIdx.x == 0) {
    atomicAdd(words, 1u);
    for (long k = 0; k < 1l << 40 && *static_cast<volatile u32*>(words) < gridDim.x; ++k) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

/// One thread looks and tells the block.
__global__ void told_by_one(u32* words, u32* out) {
  __shared__ u32 told;
  volatile u32* flags = words;
  for (;;) {
    if (threadIdx.x == 0) told = blockIdx.x + 1 == gridDim.x ? 1 : flags[blockIdx.x + 1];
    __syncthreads();
    const u32 mine = told;
    __syncthreads();
    if (mine) break;
  }
  if (threadIdx.x == 0) {
    __threadfence();
    flags[blockIdx.x] = 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static void check(Verdict& verdict, const char* name, void (*kernel)(u32*, u32*), int blocks,
                  int threads, bool locked) {
  u32 *words, *out;
  std::vector<u32> start(1024), got(blocks * threads), data(4);
  start[2] = start[3] = locked;  // one of the semaphore; the lock that is taken by 1
  CHECK(cudaMalloc(&words, start.size() * sizeof(u32)));
  CHECK(cudaMalloc(&out, got.size() * sizeof(u32)));
  CHECK(cudaMemcpy(words, start.data(), start.size() * sizeof(u32), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, got.size() * sizeof(u32)));
  kernel<<<blocks, threads>>>(words, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(u32), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < got.size(); ++i) verdict.equal(got[i], 1u, name, i);
  CHECK(cudaMemcpy(data.data(), words, 4 * sizeof(u32), cudaMemcpyDeviceToHost));
  if (locked) verdict.equal(data[1], static_cast<u32>(blocks * threads), name, 0);
  CHECK(cudaFree(words));
  CHECK(cudaFree(out));
}

/// Arguments: the kernels to run; none is all.
int main(int argc, char** argv) {
#define KERNEL(name, blocks, threads, locked) \
  {#name, [](Verdict& v) { check(v, #name, name, blocks, threads, locked); }}
  static const Section sections[] = {
      KERNEL(bounded_poll, 1, 64, false),
      KERNEL(bounded_call, 1, 64, false),
      KERNEL(count_flags, 1, 64, false),
      KERNEL(walk_by_value, 1, 64, false),
      KERNEL(ring_of_slots, 1, 64, false),
      KERNEL(poll_by_max, 1, 64, false),
      KERNEL(poll_ldcv, 1, 64, false),
      KERNEL(poll_cg, 1, 64, false),
      KERNEL(vote_of_one, 1, 32, false),
      KERNEL(lock_or, 1, 64, true),
      KERNEL(lock_min, 1, 64, true),
      KERNEL(lock_xor, 1, 64, true),
      KERNEL(lock_taken_back, 1, 32, true),  // two warps may take in turns and never get it
      KERNEL(lock_bit_by_cas, 1, 64, true),
      KERNEL(bounded_try, 1, 64, true),
      KERNEL(grid_by_max, 8, 64, false),
      KERNEL(grid_bounded, 8, 64, false),
      KERNEL(told_by_one, 8, 64, false),
  };
  return run_sections(sections, argc, argv);
}
