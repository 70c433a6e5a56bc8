// cuda::barrier and cuda::pipeline of libcu++: producers and consumers of one block hand tiles over
// two barriers, cuda::memcpy_async in a pipeline of stages shared by a block and in one of roles,
// arrive_and_drop, arrival with counts.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

/// Warps 0 and 1 produce, the others consume.
__global__ void hand_over(const int* in, int* out, int tiles) {
  __shared__ int buffer[2][64];
  __shared__ barrier full[2], empty[2];
  cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      init(&full[i], blockDim.x);
      init(&empty[i], blockDim.x);
    }
  block.sync();
  if (threadIdx.x < 64) {
    for (int t = 0; t < tiles; ++t) {
      empty[t % 2].arrive_and_wait();
      buffer[t % 2][threadIdx.x] = in[t * 64 + threadIdx.x] + 1;
      (void)full[t % 2].arrive();
    }
  } else {
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    int mine = 0;
    for (int t = 0; t < tiles; ++t) {
      full[t % 2].arrive_and_wait();
      for (int i = threadIdx.x - 64; i < 64; i += blockDim.x - 64) mine += buffer[t % 2][i] * (t + 1);
      (void)empty[t % 2].arrive();
    }
    atomicAdd(out, mine);
  }
}

template <int stages>
__global__ void staged(const int* in, int* out, int tiles) {
  __shared__ alignas(16) int buffer[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int* from = in + blockIdx.x * tiles * 128;
  int fetched = 0;
  for (int t = 0; t < tiles; ++t) {
    for (; fetched < tiles && fetched < t + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], from + fetched * 128,
                         cuda::aligned_size_t<16>(128 * sizeof(int)), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[(blockIdx.x * tiles + t) * 128 + threadIdx.x] =
        buffer[t % stages][127 - threadIdx.x] * 2 + t;
    pipeline.consumer_release();
  }
}

__global__ void roles(const int* in, int* out, int tiles) {
  __shared__ alignas(16) int buffer[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  cg::thread_block block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  for (int t = 0; t < tiles; ++t) {
    if (role == cuda::pipeline_role::producer) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&buffer[t % 2][threadIdx.x], &in[t * 32 + threadIdx.x], sizeof(int),
                         pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      out[t * 32 + threadIdx.x - 32] = buffer[t % 2][threadIdx.x - 32] - t;
      pipeline.consumer_release();
    }
  }
}

/// Half of the threads drop out after the first round; the rest go on with a smaller barrier.
__global__ void drop_out(int* out) {
  __shared__ barrier all;
  __shared__ int rounds;
  if (threadIdx.x == 0) {
    init(&all, blockDim.x);
    rounds = 0;
  }
  __syncthreads();
  if (threadIdx.x % 2) {
    atomicAdd(&rounds, 1);
    all.arrive_and_drop();
    return;
  }
  for (int r = 0; r < 5; ++r) {
    if (r == 1 && rounds != (int)blockDim.x / 2) out[2] = 1;
    all.arrive_and_wait();
  }
  if (threadIdx.x == 0) out[1] = rounds;
}

int main() {
  Verdict verdict;
  const int tiles = 13, blocks = 3, n = blocks * tiles * 128;
  int *in, *out;
  CHECK(cudaMallocManaged(&in, n * sizeof(int)));
  CHECK(cudaMallocManaged(&out, n * sizeof(int)));
  for (int i = 0; i < n; ++i) in[i] = i * 3 % 1001, out[i] = 0;
  hand_over<<<1, 160>>>(in, out, tiles);
  CHECK(cudaDeviceSynchronize());
  int want = 0;
  for (int t = 0; t < tiles; ++t)
    for (int i = 0; i < 64; ++i) want += (in[t * 64 + i] + 1) * (t + 1);
  verdict.equal(out[0], want, "producers and consumers");
  drop_out<<<1, 96>>>(out);
  CHECK(cudaDeviceSynchronize());
  verdict.equal(out[1], 48, "arrive_and_drop");
  verdict.equal(out[2], 0, "the first phase has all arrivals");
  staged<2><<<blocks, 128>>>(in, out, tiles);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    verdict.equal(out[i], in[i / 128 * 128 + 127 - i % 128] * 2 + i / 128 % tiles, "2 stages", i);
  staged<4><<<blocks, 128>>>(in, out, tiles);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    verdict.equal(out[i], in[i / 128 * 128 + 127 - i % 128] * 2 + i / 128 % tiles, "4 stages", i);
  roles<<<1, 64>>>(in, out, tiles);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < tiles * 32; ++i) verdict.equal(out[i], in[i] - i / 32, "roles", i);
  return verdict.finish();
}
