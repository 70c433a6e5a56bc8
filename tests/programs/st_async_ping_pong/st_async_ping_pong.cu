// Two blocks of a cluster throw values at each other's shared memory: st.async and red.async with
// transaction counts on the receiver's mbarrier, remote arrivals, and waits by parity.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ unsigned map(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ void wait(unsigned barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;"
        " selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (!done);
}

__global__ void __cluster_dims__(2, 1, 1) ping_pong(unsigned long long* out, int rounds) {
  __shared__ alignas(16) unsigned long long ball[2];
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ unsigned tally;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), here = shared_address(&barrier);
  if (threadIdx.x == 0) {
    ball[0] = ball[1] = 0;
    tally = 0;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(here) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  unsigned there = map(here, rank ^ 1), ball_there = map(shared_address(ball), rank ^ 1);
  unsigned tally_there = map(shared_address(&tally), rank ^ 1);
  if (threadIdx.x == 0) {
    unsigned long long value = blockIdx.x / 2 * 1000;
    unsigned phase = 0;
    for (int r = 0; r < rounds; ++r) {
      // Even rounds go from rank 0 to rank 1, odd ones back.
      if ((r & 1) == (int)rank) {
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(
                ball_there),
            "l"(value + 1), "l"(value ^ 0xff), "r"(there)
            : "memory");
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], "
            "%1, [%2];" ::"r"(tally_there),
            "r"(3), "r"(there)
            : "memory");
      } else {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 20;" ::"r"(here)
                     : "memory");
        wait(here, phase);
        phase ^= 1;
        if (ball[1] != ((ball[0] - 1) ^ 0xff)) ball[0] = ~0ull;
        value = ball[0];
      }
    }
    out[blockIdx.x * 2] = value;
    out[blockIdx.x * 2 + 1] = tally;
  }
  cluster.sync();
  // Every warp of both blocks arrives at the other's barrier; then each waits at its own.
  if (threadIdx.x == 0)
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(here) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(here), "r"(blockDim.x / 32)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)
                 : "memory");
  wait(here, 0);
  if (threadIdx.x == 7) out[blockIdx.x * 2 + 1] += 100000;
  cluster.sync();
}

int main() {
  Verdict verdict;
  const int blocks = 6, rounds = 101;
  unsigned long long* out;
  CHECK(cudaMallocManaged(&out, blocks * 2 * sizeof(*out)));
  ping_pong<<<blocks, 96>>>(out, rounds);
  CHECK(cudaDeviceSynchronize());
  for (int b = 0; b < blocks; ++b) {
    unsigned long long start = b / 2 * 1000;
    // Rank 1 received the last ball of round 100; rank 0 sent it, and holds that of round 99.
    verdict.equal(out[2 * b], start + (b % 2 ? rounds : rounds - 1), "ball", b);
    verdict.equal(out[2 * b + 1], 100000ull + 3 * (b % 2 ? 51 : 50), "tally", b);
  }
  return verdict.finish();
}
