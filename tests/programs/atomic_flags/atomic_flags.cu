// Waiting over libcu++'s synchronisation types: cuda::atomic flags between blocks and between the
// lanes of a warp, wait and notify, counting_semaphore, latch, and a decoupled look-back written by
// hand with acquire and release.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#include <vector>

#include "check.h"

using flag = cuda::atomic<int, cuda::thread_scope_device>;

/// Each block adds its number to what the block before it hands on.
__global__ void chain(flag* flags, int* values) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x) {
      while (flags[blockIdx.x - 1].load(cuda::memory_order_acquire) == 0) {
      }
      before = values[blockIdx.x - 1];
    }
    values[blockIdx.x] = before + blockIdx.x;
    flags[blockIdx.x].store(1, cuda::memory_order_release);
  }
}

/// The same with wait and notify_all, all threads waiting.
__global__ void chain_notified(flag* flags, int* values) {
  if (blockIdx.x) flags[blockIdx.x - 1].wait(0, cuda::memory_order_acquire);
  __syncthreads();
  if (threadIdx.x == 0) {
    values[blockIdx.x] = (blockIdx.x ? values[blockIdx.x - 1] : 0) + 2 * blockIdx.x;
    flags[blockIdx.x].store(1, cuda::memory_order_release);
    flags[blockIdx.x].notify_all();
  }
}

/// Lanes of one warp wait for one another, each for the lane before it.
__global__ void relay(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
  if (threadIdx.x == 0) turn.store(0);
  __syncthreads();
  while (turn.load(cuda::memory_order_acquire) != (int)threadIdx.x) {
  }
  out[threadIdx.x] = threadIdx.x ? out[threadIdx.x - 1] + threadIdx.x : 0;
  turn.store(threadIdx.x + 1, cuda::memory_order_release);
}

/// At most four threads at a time are inside.
__global__ void guarded(cuda::counting_semaphore<cuda::thread_scope_device, 4>* doors, int* state) {
  doors->acquire();
  int inside = atomicAdd(&state[0], 1) + 1;
  atomicMax(&state[1], inside);
  atomicAdd(&state[2], 1);
  atomicSub(&state[0], 1);
  doors->release();
}

__global__ void make_semaphore(cuda::counting_semaphore<cuda::thread_scope_device, 4>* doors) {
  new (doors) cuda::counting_semaphore<cuda::thread_scope_device, 4>(4);
}

__global__ void gather(int* out) {
  __shared__ cuda::latch<cuda::thread_scope_block>* start;
  __shared__ alignas(cuda::latch<cuda::thread_scope_block>) char room[64];
  __shared__ int sum;
  if (threadIdx.x == 0) {
    start = new (room) cuda::latch<cuda::thread_scope_block>(blockDim.x);
    sum = 0;
  }
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  start->arrive_and_wait();
  out[threadIdx.x] = sum;
}

/// Decoupled look-back: a block publishes its sum, then walks back to a known prefix.
struct alignas(8) Status {
  int state;  // 0 nothing, 1 sum of the block, 2 sum up to the block
  int value;
};

__global__ void look_back(const int* in, int* out, unsigned long long* status, int* next) {
  __shared__ int part[128], tile, prefix;
  if (threadIdx.x == 0) tile = atomicAdd(next, 1);
  __syncthreads();
  int at = tile * blockDim.x + threadIdx.x;
  part[threadIdx.x] = in[at];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    int add = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += add;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    auto publish = [&](int state, int value) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> here(status[tile]);
      here.store((unsigned long long)state << 32 | (unsigned)value, cuda::memory_order_release);
    };
    int total = part[blockDim.x - 1], before = 0;
    if (tile) publish(1, total);
    for (int look = tile - 1; look >= 0; --look) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> there(status[look]);
      unsigned long long seen;
      do seen = there.load(cuda::memory_order_acquire);
      while (seen >> 32 == 0);
      before += (int)seen;
      if (seen >> 32 == 2) break;
    }
    publish(2, before + total);
    prefix = before;
  }
  __syncthreads();
  out[at] = prefix + part[threadIdx.x];
}

int main() {
  Verdict verdict;
  const int blocks = 60;
  flag* flags;
  int* values;
  CHECK(cudaMallocManaged(&flags, blocks * sizeof(flag)));
  CHECK(cudaMallocManaged(&values, 4096 * sizeof(int)));
  for (int which = 0; which < 2; ++which) {
    CHECK(cudaMemset(flags, 0, blocks * sizeof(flag)));
    if (which)
      chain_notified<<<blocks, 64>>>(flags, values);
    else
      chain<<<blocks, 64>>>(flags, values);
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < blocks; ++b)
      verdict.equal(values[b], (which + 1) * b * (b + 1) / 2, which ? "notified" : "chain", b);
  }
  relay<<<1, 96>>>(values);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; ++i) verdict.equal(values[i], i * (i + 1) / 2, "relay", i);
  cuda::counting_semaphore<cuda::thread_scope_device, 4>* doors;
  CHECK(cudaMalloc(&doors, sizeof *doors));
  make_semaphore<<<1, 1>>>(doors);
  CHECK(cudaMemset(values, 0, 3 * sizeof(int)));
  guarded<<<5, 48>>>(doors, values);
  CHECK(cudaDeviceSynchronize());
  verdict.equal(values[0], 0, "all left");
  verdict.expect(values[1] >= 1 && values[1] <= 4, "inside at once", values[1]);
  verdict.equal(values[2], 240, "all were inside");
  gather<<<1, 150>>>(values);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 150; ++i) verdict.equal(values[i], 150 * 149 / 2, "latch", i);
  const int n = 4096 / 128 * 128;
  int *in, *out, *next;
  unsigned long long* status;
  CHECK(cudaMallocManaged(&in, n * sizeof(int)));
  CHECK(cudaMallocManaged(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&next, sizeof(int)));
  CHECK(cudaMalloc(&status, n / 128 * sizeof(*status)));
  CHECK(cudaMemset(next, 0, sizeof(int)));
  CHECK(cudaMemset(status, 0, n / 128 * sizeof(*status)));
  for (int i = 0; i < n; ++i) in[i] = i % 13 - 5;
  look_back<<<n / 128, 128>>>(in, out, status, next);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0, sum = 0; i < n; ++i) verdict.equal(out[i], sum += in[i], "look-back", i);
  return verdict.finish();
}
