// Semaphores, latches, barriers and pipelines of libcu++ in block and device scope, where threads
// that wait for each other are lanes of one warp, warps of a block, or blocks.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/barrier>
#include <cuda/std/latch>
#include <cuda/std/semaphore>

#include "waits.h"

// Shared barriers are made by init().
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

/// Two binary semaphores, threads `apart` from each other take turns.
template <cuda::thread_scope scope>
__global__ void ping_pong(cuda::binary_semaphore<scope>* doors, volatile int* value, int rounds,
                          int apart) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t != 0 && t != apart) return;
  auto &mine = doors[t != 0], &other = doors[t == 0];
  for (int r = 0; r < rounds; ++r) {
    mine.acquire();
    *value = *value * 2 + (t != 0);
    other.release();
  }
}

/// What `bounded` works on.
struct Ring {
  int put = 0, taken = 0;
  int inside = 0;  ///< the lock
  int crowded = 0, full = 0, empty = 0;
  int cells[4] = {};
};

/// Even threads put into a buffer of four cells, odd ones take, both by counting semaphores. Without
/// the atomics inside the lock an H200 (driver 580.159.04) gives another sum in each run, with a lock
/// of atomicCAS and fences as well: not understood.
template <cuda::thread_scope scope>
__global__ void bounded(cuda::counting_semaphore<scope>* free,
                        cuda::counting_semaphore<scope>* full, cuda::binary_semaphore<scope>* lock,
                        volatile Ring* ring, int* sum, int each) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; ++i) {
    if (t % 2 == 0) {
      free->acquire();
      lock->acquire();
      if (atomicAdd((int*)&ring->inside, 1)) atomicAdd((int*)&ring->crowded, 1);
      const int at = ring->put;
      ring->put = at + 1;
      if (at - ring->taken >= 4) atomicAdd((int*)&ring->full, 1);
      ring->cells[at % 4] = t * each + i;
      atomicSub((int*)&ring->inside, 1);
      lock->release();
      full->release();
    } else {
      full->acquire();
      lock->acquire();
      if (atomicAdd((int*)&ring->inside, 1)) atomicAdd((int*)&ring->crowded, 1);
      const int at = ring->taken;
      ring->taken = at + 1;
      if (at >= ring->put) atomicAdd((int*)&ring->empty, 1);
      const int got = ring->cells[at % 4];
      atomicSub((int*)&ring->inside, 1);
      lock->release();
      free->release();
      atomicAdd(sum, got);
    }
  }
}

/// Those that get in at once, and those for which a time passes first.
__global__ void tries(cuda::counting_semaphore<cuda::thread_scope_block>* door, int* counts) {
  if (door->try_acquire())
    atomicAdd(&counts[0], 1);
  else if (!door->try_acquire_for(cuda::std::chrono::microseconds(50)))
    atomicAdd(&counts[1], 1);
  else
    atomicAdd(&counts[2], 1);
}

/// All but every fourth thread count down, those wait; blocks wait for one another.
template <cuda::thread_scope scope>
__global__ void count_down(cuda::latch<scope>* latch, int* sum, int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % 4 == 0) {
    latch->wait();
    out[t] = *static_cast<volatile int*>(sum);
  } else {
    atomicAdd(sum, t);
    __threadfence();
    latch->count_down();
    out[t] = latch->try_wait() ? 0 : -1;
  }
}

/// Threads of several blocks go round a barrier in device memory.
__global__ void grid_rounds(cuda::barrier<cuda::thread_scope_device>* all, int* cells, int* wrong,
                            int rounds) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; ++r) {
    static_cast<volatile int*>(cells)[t] = r * n + t;
    auto token = all->arrive();
    const int to = (t + r + 1) % n;
    all->wait(std::move(token));
    if (static_cast<volatile int*>(cells)[to] != r * n + to) atomicAdd(wrong, 1);
    all->arrive_and_wait();
  }
}

/// A barrier of the odd lanes only, the others pass by.
__global__ void odd_lanes(int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier odd;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    init(&odd, blockDim.x / 2);
    sum = 0;
  }
  __syncthreads();
  int seen = -1;
  if (threadIdx.x % 2) {
    atomicAdd(&sum, threadIdx.x);
    odd.arrive_and_wait();
    seen = sum;
    odd.arrive_and_wait();
    atomicAdd(&sum, 1);
    odd.arrive_and_wait();
    seen += sum;
  }
  out[threadIdx.x] = seen;
}

/// Polls of a phase between pieces of work; threads arrive one after another.
__global__ void polled(int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier all;
  __shared__ volatile int next;
  if (threadIdx.x == 0) {
    init(&all, blockDim.x);
    next = 0;
  }
  __syncthreads();
  while (next != static_cast<int>(threadIdx.x)) {
  }
  next = threadIdx.x + 1;
  auto token = all.arrive();
  (void)token;
  while (!all.try_wait_parity_for(false, cuda::std::chrono::nanoseconds(200))) {
  }
  out[threadIdx.x] = next;
}

/// The last one to arrive runs the completion.
struct Count {
  int* rounds;
  __device__ void operator()() { *rounds += 1; }
};
__global__ void completed(int* out) {
  using barrier = cuda::std::barrier<Count>;
  __shared__ alignas(barrier) char room[sizeof(barrier)];
  __shared__ int rounds;
  barrier* all = reinterpret_cast<barrier*>(room);
  if (threadIdx.x == 0) {
    rounds = 0;
    new (all) barrier(blockDim.x, Count{&rounds});
  }
  __syncthreads();
  int wrong = 0;
  for (int r = 0; r < 6; ++r) {
    all->arrive_and_wait();
    wrong += *static_cast<volatile int*>(&rounds) != 2 * r + 1;
    all->arrive_and_wait();
  }
  out[threadIdx.x] = wrong;
}

/// A pipeline of each thread's own, of as many steps as its lane number.
__global__ void own_pipeline(const int* in, int* out) {
  __shared__ int buffer[3][64];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x, steps = t % 32 + 1;
  int fetched = 0, sum = 0;
  for (int s = 0; s < steps; ++s) {
    for (; fetched < steps && fetched < s + 3; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(&buffer[fetched % 3][t], &in[fetched * 64 + t], sizeof(int), pipe);
      pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    sum += buffer[s % 3][t] * (s + 1);
    pipe.consumer_release();
  }
  out[t] = sum;
}

/// Even lanes produce, odd lanes consume: one pipeline within each warp.
__global__ void roles_in_warp(const int* in, int* out, int steps) {
  __shared__ int buffer[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  cg::thread_block block = cg::this_thread_block();
  const bool produces = threadIdx.x % 2 == 0;
  auto pipe = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int s = 0; s < steps; ++s) {
    if (produces) {
      pipe.producer_acquire();
      cuda::memcpy_async(&buffer[s % 2][threadIdx.x / 2], &in[s * 32 + threadIdx.x / 2],
                         sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += buffer[s % 2][31 - threadIdx.x / 2] * (s + 1);
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

template <cuda::thread_scope scope>
void semaphores(Verdict& verdict, int blocks) {
  using Binary = cuda::binary_semaphore<scope>;
  using Counting = cuda::counting_semaphore<scope>;
  for (int apart : {1, 31, 32, 64}) {
    if (apart >= 64 && blocks == 1) continue;
    Binary* doors = make<Binary>(2, 0);
    doors[0].release();
    int* value = make<int>(1, 1);
    ping_pong<<<blocks, 64>>>(doors, value, 12, apart);
    finished("ping-pong");
    verdict.equal(*value, 0x1555555, "ping-pong", apart);
  }
  Ring* ring = make<Ring>(1);
  int* sum = make<int>(1, 0);
  bounded<<<blocks, 64>>>(make<Counting>(1, 4), make<Counting>(1, 0), make<Binary>(1, 1), ring,
                          sum, 5);
  finished("bounded buffer");
  int want = 0;
  for (int t = 0; t < 64 * blocks; t += 2)
    for (int i = 0; i < 5; ++i) want += t * 5 + i;
  verdict.equal(*sum, want, "bounded buffer");
  verdict.equal(ring->crowded + ring->full + ring->empty, 0, "two inside, put or taken too early");
  int* out = make<int>(256, 7);
  *sum = 0, want = 0;
  count_down<<<blocks, 64>>>(make<cuda::latch<scope>>(1, 48 * blocks), sum, out);
  finished("latch");
  for (int t = 0; t < 64 * blocks; ++t) want += t % 4 ? t : 0;
  for (int t = 0; t < 64 * blocks; ++t)
    verdict.expect(t % 4 ? out[t] == 0 || out[t] == -1 : out[t] == want, "latch", t);
}

void barriers(Verdict& verdict) {
  int *out = make<int>(256, 0), *wrong = make<int>(1, 0);
  grid_rounds<<<3, 70>>>(make<cuda::barrier<cuda::thread_scope_device>>(1, 210), make<int>(210, 0),
                         wrong, 5);
  finished("barrier of blocks");
  verdict.equal(*wrong, 0, "barrier of blocks");
  odd_lanes<<<1, 96>>>(out);
  finished("barrier of odd lanes");
  for (int t = 0; t < 96; ++t) verdict.equal(out[t], t % 2 ? 48 * 48 * 2 + 48 : -1, "odd lanes", t);
  polled<<<1, 80>>>(out);
  finished("polled barrier");
  for (int t = 0; t < 80; ++t) verdict.equal(out[t], 80, "polled barrier", t);
  completed<<<1, 80>>>(out);
  finished("barrier with completion");
  for (int t = 0; t < 80; ++t) verdict.equal(out[t], 0, "barrier with completion", t);
}

void pipelines(Verdict& verdict) {
  int *in = make<int>(64 * 32, 0), *out = make<int>(64, 0);
  for (int i = 0; i < 64 * 32; ++i) in[i] = i * 7 % 101;
  own_pipeline<<<1, 64>>>(in, out);
  finished("pipeline of a thread");
  for (int t = 0; t < 64; ++t) {
    int want = 0;
    for (int s = 0; s <= t % 32; ++s) want += in[s * 64 + t] * (s + 1);
    verdict.equal(out[t], want, "pipeline of a thread", t);
  }
  roles_in_warp<<<1, 64>>>(in, out, 9);
  finished("roles in a warp");
  for (int t = 0; t < 64; ++t) {
    int want = 0;
    for (int s = 0; s < 9 && t % 2; ++s) want += in[s * 32 + 31 - t / 2] * (s + 1);
    verdict.equal(out[t], want, "roles in a warp", t);
  }
}

void barrier_waits(Verdict& verdict) {
  semaphores<cuda::thread_scope_block>(verdict, 1);
  semaphores<cuda::thread_scope_device>(verdict, 3);
  int* counts = make<int>(3, 0);
  tries<<<1, 64>>>(make<cuda::counting_semaphore<cuda::thread_scope_block>>(1, 5), counts);
  finished("tries");
  verdict.equal(counts[0], 5, "got in at once");
  verdict.equal(counts[1], 59, "gave up");
  verdict.equal(counts[2], 0, "nobody let anybody in");
  barriers(verdict);
  pipelines(verdict);
}
