// clusterlaunchcontrol: blocks take others of their grid that have not begun and do their work.
// Every piece of work must be done exactly once, by whoever; the answers name blocks of the grid,
// none twice; also in clusters, in three dimensions, and by more than one thread of a block.
#include <vector>

#include "check.h"

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

struct Answer {
  bool canceled;
  uint3 first;
};

/// One request of one thread, and its answer. `barrier` and `response` are in shared memory.
__device__ Answer try_cancel(void* response, unsigned long long* barrier, unsigned& parity) {
  const unsigned r = shared_address(response), b = shared_address(barrier);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(b) : "memory");
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], "
      "[%1];" ::"r"(r),
      "r"(b)
      : "memory");
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      " @!p bra again; }" ::"r"(b),
      "r"(parity)
      : "memory");
  parity ^= 1;
  unsigned canceled, x, y, z, x2, y2, z2;
  asm volatile(
      "{ .reg .pred p; .reg .b128 q;\n"
      "ld.shared.b128 q, [%7];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %4, q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %5, q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %6, q; }"
      : "=r"(canceled), "=r"(x), "=r"(y), "=r"(z), "=r"(x2), "=r"(y2), "=r"(z2)
      : "r"(r)
      : "memory");
  if (canceled && (x != x2 || y != y2 || z != z2)) __trap();
  return {canceled != 0, {x, y, z}};
}

__device__ void init(unsigned long long* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}

/// Persistent blocks: thread 0 asks for the next block, all threads do the work of each.
__global__ void persistent(int* done, int* taken, int work) {
  __shared__ alignas(16) uint4 response;
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ Answer next;
  unsigned parity = 0;
  if (threadIdx.x == 0) init(&barrier, 1);
  __syncthreads();
  uint3 block = {blockIdx.x, blockIdx.y, blockIdx.z};
  for (;;) {
    const size_t linear = block.x + gridDim.x * (block.y + (size_t)gridDim.y * block.z);
    for (int i = threadIdx.x; i < work; i += blockDim.x) atomicAdd(&done[linear * work + i], 1);
    if (threadIdx.x == 0) {
      next = try_cancel(&response, &barrier, parity);
      if (next.canceled) atomicAdd(taken, 1);
    }
    __syncthreads();
    if (!next.canceled) return;
    block = next.first;
    __syncthreads();
  }
}

/// One request a block whatever it answers; a stolen cluster's two blocks are done by the thief's.
__global__ void __cluster_dims__(2, 1, 1) in_clusters(int* done, int* taken) {
  __shared__ alignas(16) uint4 response;
  __shared__ alignas(8) unsigned long long barrier;
  unsigned parity = 0, rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    init(&barrier, 1);
    atomicAdd(&done[blockIdx.x], 1);
    if (rank == 0) {
      const Answer a = try_cancel(&response, &barrier, parity);
      if (a.canceled) {
        if (a.first.x % 2) __trap();
        atomicAdd(taken, 2);
        atomicAdd(&done[a.first.x], 1);
        atomicAdd(&done[a.first.x + 1], 1);
      }
    }
  }
}

static void check(Verdict& verdict, const int* device, int count, const int* taken,
                  const char* what) {
  std::vector<int> done(count);
  int stolen = 0;
  CHECK(cudaMemcpy(done.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&stolen, taken, sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) verdict.equal(done[i], 1, what, i);
  std::printf("%s: %d blocks taken\n", what, stolen);
}

int main() {
  Verdict verdict;
  const dim3 grid(50, 5, 4);
  const int blocks = grid.x * grid.y * grid.z, work = 100;
  int *done, *taken;
  CHECK(cudaMalloc(&done, blocks * work * sizeof(int)));
  CHECK(cudaMalloc(&taken, sizeof(int)));
  for (unsigned threads : {32u, 96u}) {
    CHECK(cudaMemset(done, 0, blocks * work * sizeof(int)));
    CHECK(cudaMemset(taken, 0, sizeof(int)));
    persistent<<<grid, threads>>>(done, taken, work);
    CHECK(cudaDeviceSynchronize());
    check(verdict, done, blocks * work, taken, "persistent blocks");
  }
  CHECK(cudaMemset(done, 0, blocks * sizeof(int)));
  CHECK(cudaMemset(taken, 0, sizeof(int)));
  in_clusters<<<400, 32>>>(done, taken);
  CHECK(cudaDeviceSynchronize());
  check(verdict, done, 400, taken, "clusters");
  return verdict.finish();
}
