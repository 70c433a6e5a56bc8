// Locks, hand-overs and queues made of libcu++'s atomics, in block and in device scope: lanes of
// one warp wait for each other, warps spin on flags, blocks wait for earlier blocks. Values that
// other threads change without the lock's protection show as wrong sums, a missing wake-up as a
// hang.
#include <cuda/atomic>
#include <cuda/std/atomic>

#include <algorithm>

#include "waits.h"

using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

template <cuda::thread_scope scope>
using Int = cuda::atomic<int, scope>;

template <cuda::thread_scope scope>
struct ExchangeLock {
  Int<scope> held{0};
  __device__ void take(int) {
    while (held.exchange(1, memory_order_acquire))
      while (held.load(memory_order_relaxed)) {
      }
  }
  __device__ void give(int) { held.store(0, memory_order_release); }
};

template <cuda::thread_scope scope>
struct CompareLock {
  Int<scope> owner{-1};
  __device__ void take(int me) {
    int nobody = -1;
    while (!owner.compare_exchange_weak(nobody, me, memory_order_acquire, memory_order_relaxed))
      nobody = -1;
  }
  __device__ void give(int) { owner.store(-1, memory_order_release); }
};

/// Fair: everybody waits for the one before.
template <cuda::thread_scope scope>
struct TicketLock {
  Int<scope> next{0}, serving{0};
  __device__ void take(int) {
    const int mine = next.fetch_add(1, memory_order_relaxed);
    while (serving.load(memory_order_acquire) != mine) {
    }
  }
  __device__ void give(int) { serving.fetch_add(1, memory_order_release); }
};

template <cuda::thread_scope scope>
struct FlagLock {
  cuda::std::atomic_flag held{};
  __device__ void take(int) {
    while (held.test_and_set(memory_order_acquire)) {
    }
  }
  __device__ void give(int) { held.clear(memory_order_release); }
};

/// Waits with atomic::wait.
template <cuda::thread_scope scope>
struct SleepLock {
  Int<scope> held{0};
  __device__ void take(int) {
    while (held.exchange(1, memory_order_acquire)) held.wait(1, memory_order_relaxed);
  }
  __device__ void give(int) {
    held.store(0, memory_order_release);
    held.notify_one();
  }
};

/// A queue of waiting threads, each spinning on a flag of its own.
template <cuda::thread_scope scope>
struct QueueLock {
  Int<scope> last{-1};
  Int<scope> next[256], waits[256];
  __device__ void take(int me) {
    next[me].store(-1, memory_order_relaxed);
    waits[me].store(1, memory_order_relaxed);
    const int before = last.exchange(me, memory_order_acq_rel);
    if (before < 0) return;
    next[before].store(me, memory_order_release);
    while (waits[me].load(memory_order_acquire)) {
    }
  }
  __device__ void give(int me) {
    int expected = me;
    if (next[me].load(memory_order_acquire) < 0) {
      if (last.compare_exchange_strong(expected, -1, memory_order_acq_rel)) return;
      while (next[me].load(memory_order_acquire) < 0) {
      }
    }
    waits[next[me].load(memory_order_acquire)].store(0, memory_order_release);
  }
};

template <typename Lock>
__global__ void count_in_device(Lock* lock, volatile int* counter, int rounds) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    lock->take(me);
    *counter = *counter + 1;
    lock->give(me);
  }
}

template <typename Lock>
__global__ void count_in_block(volatile int* counters, int rounds) {
  __shared__ alignas(Lock) char room[sizeof(Lock)];
  __shared__ volatile int counter;
  Lock* lock = reinterpret_cast<Lock*>(room);
  if (threadIdx.x == 0) {
    new (lock) Lock();
    counter = 0;
  }
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    lock->take(threadIdx.x);
    counter = counter + 1;
    lock->give(threadIdx.x);
  }
  __syncthreads();
  if (threadIdx.x == 0) counters[blockIdx.x] = counter;
}

template <template <cuda::thread_scope> class Lock>
void locks(Verdict& verdict, const char* what) {
  using Wide = Lock<cuda::thread_scope_device>;
  using Narrow = Lock<cuda::thread_scope_block>;
  int* counters = make<int>(3, 0);
  count_in_device<<<3, 80>>>(make<Wide>(1), counters, 3);
  finished(what);
  verdict.equal(counters[0], 3 * 80 * 3, what);
  count_in_block<Narrow><<<3, 80>>>(counters, 3);
  finished(what);
  for (int b = 0; b < 3; ++b) verdict.equal(counters[b], 80 * 3, what, b);
}

/// The old form, in which the lane that has the lock leaves the loop only afterwards.
__global__ void try_until_done(Int<cuda::thread_scope_device>* lock, volatile int* counter) {
  for (bool done = false; !done;) {
    if (lock->exchange(1, memory_order_acquire) == 0) {
      *counter = *counter + 1;
      lock->store(0, memory_order_release);
      done = true;
    }
  }
}

/// Readers in parallel, writers alone.
__global__ void readers_and_writers(Int<cuda::thread_scope_device>* state, volatile int* pair,
                                    int* torn) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  if (me % 5 == 0) {
    int idle = 0;
    while (!state->compare_exchange_weak(idle, -1, memory_order_acquire, memory_order_relaxed))
      idle = 0;
    pair[0] = pair[0] + 1;
    pair[1] = pair[1] + 1;
    state->store(0, memory_order_release);
  } else {
    int readers = state->load(memory_order_relaxed);
    do {
      while (readers < 0) readers = state->load(memory_order_relaxed);
    } while (!state->compare_exchange_weak(readers, readers + 1, memory_order_acquire,
                                           memory_order_relaxed));
    if (pair[0] != pair[1]) atomicAdd(torn, 1);
    state->fetch_sub(1, memory_order_release);
  }
}

/// Two threads, no read-modify-write: Peterson's lock, which needs sequential consistency.
__global__ void petersons(cuda::atomic<int, cuda::thread_scope_device>* flags,
                          volatile int* counter, int rounds, int apart) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at != 0 && at != apart) return;
  const int me = at != 0;
  for (int r = 0; r < rounds; ++r) {
    flags[me].store(1);
    flags[2].store(1 - me);
    while (flags[1 - me].load() && flags[2].load() == 1 - me) {
    }
    *counter = *counter + 1;
    flags[me].store(0);
  }
}

/// Half of a warp and the other half hand a ball over, `apart` lanes or threads from each other.
__global__ void pairs(Int<cuda::thread_scope_device>* balls, int* sums, int rounds, int apart) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int side = t / apart % 2;
  auto& ball = balls[t / (2 * apart) * apart + t % apart];
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    while (ball.load(memory_order_acquire) % 2 != side) {
    }
    sum += ball.fetch_add(1, memory_order_acq_rel);
  }
  sums[t] = sum;
}

/// The same with wait and notify, which says to whom it is.
__global__ void notified(Int<cuda::thread_scope_block>* turns, int* order) {
  auto& turn = turns[blockIdx.x];
  const int me = blockDim.x - 1 - threadIdx.x;  // the last lane is first
  for (int now; (now = turn.load(memory_order_acquire)) != me;)
    turn.wait(now, memory_order_acquire);
  order[blockIdx.x * blockDim.x + me] = threadIdx.x;
  turn.store(me + 1, memory_order_release);
  turn.notify_all();
}

/// Whichever arm a compiler puts first, the other one must run too.
template <bool first>
__global__ void waits_for_other_arm(volatile int* flag, int* out) {
  if ((threadIdx.x % 32 == 7) == first) {
    while (*flag == 0) {
    }
    out[threadIdx.x] = 1;
  } else {
    out[threadIdx.x] = 2;
    __threadfence();
    *flag = 1;
  }
  __syncwarp();
  out[threadIdx.x] += 10;
}

/// Every thread waits for its own in the block before, as radix sort's look-back does.
__global__ void threads_behind(Int<cuda::thread_scope_device>* status, int* ticket, int* out) {
  __shared__ int block;
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const int own = (block * 7 + threadIdx.x) % 5;
  auto* mine = status + block * blockDim.x + threadIdx.x;
  mine->store(1 << 30 | own, memory_order_release);
  int sum = own;
  for (int b = block - 1; b >= 0; --b) {
    int seen;
    while ((seen = status[b * blockDim.x + threadIdx.x].load(memory_order_acquire)) == 0) {
    }
    sum += seen & 0xffffff;
    if (seen >> 30 != 1) break;
  }
  mine->store(int(2u << 30) | sum, memory_order_release);
  out[block * blockDim.x + threadIdx.x] = sum;
}

/// A ring of four cells between lanes of one warp, warps or blocks: even ones put in, odd ones
/// take.
struct Ring {
  Int<cuda::thread_scope_device> cells[4]{}, head{0}, tail{0};
};
__global__ void ring(Ring* r, int* sum, int each, int group) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t / group % 2 == 0) {
    for (int i = 0; i < each; ++i) {
      auto& cell = r->cells[r->head.fetch_add(1, memory_order_relaxed) % 4];
      int empty = 0;
      while (!cell.compare_exchange_weak(empty, t * each + i + 1, memory_order_release,
                                         memory_order_relaxed))
        empty = 0;
    }
  } else {
    for (int i = 0; i < each; ++i) {
      auto& cell = r->cells[r->tail.fetch_add(1, memory_order_relaxed) % 4];
      int got;
      while ((got = cell.exchange(0, memory_order_acquire)) == 0) {
      }
      atomicAdd(sum, got);
    }
  }
}

/// Tasks that make tasks; threads look for work until none is pending anywhere.
struct Tasks {
  Int<cuda::thread_scope_device> pending{1}, head{0}, tail{1}, ready[1024]{};
  int size[1024]{};
};
__global__ void tasks(Tasks* q, int* done) {
  while (q->pending.load(memory_order_acquire) > 0) {
    int at = q->head.load(memory_order_relaxed);
    if (at >= q->tail.load(memory_order_acquire)) continue;
    if (q->ready[at].load(memory_order_acquire) == 0) continue;
    if (!q->head.compare_exchange_strong(at, at + 1, memory_order_acq_rel)) continue;
    const int size = q->size[at];
    if (size > 1) {
      q->pending.fetch_add(2, memory_order_relaxed);
      for (int part : {size / 2, size - size / 2}) {
        const int to = q->tail.fetch_add(1, memory_order_relaxed);
        q->size[to] = part;
        q->ready[to].store(1, memory_order_release);
      }
    } else {
      atomicAdd(done, 1);
    }
    q->pending.fetch_sub(1, memory_order_release);
  }
}

struct Sums {
  cuda::atomic<int> least{1 << 30}, most{-(1 << 30)}, bits{0}, toggled{0}, kept{-1};
  cuda::atomic<unsigned long long> wide{0}, top{0};
  cuda::atomic<float> single{0};
  cuda::atomic<double> real{0}, product{1};
  cuda::atomic<short> half_word{0};
  cuda::atomic<unsigned char> byte{0};
  cuda::atomic<bool> any{false};
};

__global__ void all_operations(Sums* s) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, odd = t * 37 % 1001 - 500;
  s->least.fetch_min(odd);
  s->most.fetch_max(odd, memory_order_relaxed);
  s->bits.fetch_or(1 << t % 29, memory_order_release);
  s->toggled.fetch_xor(1 << t % 31);
  s->kept.fetch_and(~(1 << t % 27));
  s->wide += 1ull << 33;
  s->top.fetch_max(static_cast<unsigned long long>(t) << 40);
  s->single.fetch_add(0.5f);
  s->real -= 0.25;
  for (double was = s->product.load();
       !s->product.compare_exchange_weak(was, t % 2 ? was * 2 : was / 2);) {
  }
  s->half_word.fetch_add(3);
  ++s->byte;
  if (t == 77) s->any.store(true);
}

void operations(Verdict& verdict) {
  Sums* s = make<Sums>(1);
  all_operations<<<2, 192>>>(s);
  finished("operations");
  int least = 1 << 30, most = -(1 << 30), bits = 0, toggled = 0, kept = -1;
  for (int t = 0; t < 384; ++t) {
    const int odd = t * 37 % 1001 - 500;
    least = std::min(least, odd), most = std::max(most, odd);
    bits |= 1 << t % 29, toggled ^= 1 << t % 31, kept &= ~(1 << t % 27);
  }
  verdict.equal(s->least.load(), least, "fetch_min");
  verdict.equal(s->most.load(), most, "fetch_max");
  verdict.equal(s->bits.load(), bits, "fetch_or");
  verdict.equal(s->toggled.load(), toggled, "fetch_xor");
  verdict.equal(s->kept.load(), kept, "fetch_and");
  verdict.equal(s->wide.load(), 384ull << 33, "+= on 64 bits");
  verdict.equal(s->top.load(), 383ull << 40, "fetch_max on 64 bits");
  verdict.equal(s->single.load(), 192.0f, "fetch_add of floats");
  verdict.equal(s->real.load(), -96.0, "-= of doubles");
  verdict.equal(s->product.load(), 1.0, "compare_exchange of doubles");
  verdict.equal<int>(s->half_word.load(), 1152, "fetch_add of shorts");
  verdict.equal<int>(s->byte.load(), 384 % 256, "++ of bytes");
  verdict.expect(s->any.load(), "store of a bool");
}

void hand_overs(Verdict& verdict) {
  using Device = Int<cuda::thread_scope_device>;
  using Block = Int<cuda::thread_scope_block>;
  int* out = make<int>(4096, 0);
  for (int apart : {1, 16, 32, 64}) {  // lanes, halves of warps, warps, blocks
    pairs<<<2, 64>>>(make<Device>(64, 0), out, 9, apart);
    finished("pairs");
    for (int t = 0; t < 128; ++t) verdict.equal(out[t], t / apart % 2 ? 81 : 72, "pairs", t);
  }
  notified<<<3, 70>>>(make<Block>(3, 0), out);
  finished("notified");
  for (int i = 0; i < 210; ++i) verdict.equal(out[i], 69 - i % 70, "notified", i);
  for (bool first : {false, true}) {
    int* flag = make<int>(1, 0);
    if (first)
      waits_for_other_arm<true><<<1, 32>>>(flag, out);
    else
      waits_for_other_arm<false><<<1, 32>>>(flag, out);
    finished("waits for the other arm");
    for (int i = 0; i < 32; ++i) verdict.equal(out[i], (i == 7) == first ? 11 : 12, "other arm", i);
  }
  threads_behind<<<40, 64>>>(make<Device>(40 * 64, 0), make<int>(1, 0), out);
  finished("threads behind");
  for (int t = 0; t < 64; ++t)
    for (int b = 0, sum = 0; b < 40; ++b)
      verdict.equal(out[b * 64 + t], sum += (b * 7 + t) % 5, "threads behind", b);
  for (int group : {1, 32, 64}) {
    int* sum = make<int>(1, 0);
    ring<<<2, 64>>>(make<Ring>(1), sum, 6, group);
    finished("ring");
    int want = 0;
    for (int t = 0; t < 128; ++t)
      for (int i = 0; i < 6 && t / group % 2 == 0; ++i) want += t * 6 + i + 1;
    verdict.equal(*sum, want, "ring");
  }
  Tasks* q = make<Tasks>(1);
  q->size[0] = 300, q->ready[0] = 1;
  int* done = make<int>(1, 0);
  tasks<<<2, 48>>>(q, done);
  finished("tasks");
  verdict.equal(*done, 300, "tasks");
}

int main() {
  Verdict verdict;
  operations(verdict);
  locks<ExchangeLock>(verdict, "exchange lock");
  locks<CompareLock>(verdict, "compare lock");
  locks<TicketLock>(verdict, "ticket lock");
  locks<FlagLock>(verdict, "flag lock");
  locks<SleepLock>(verdict, "lock with wait");
  locks<QueueLock>(verdict, "queue lock");
  using Device = Int<cuda::thread_scope_device>;
  int* counter = make<int>(3, 0);
  try_until_done<<<2, 80>>>(make<Device>(1, 0), counter);
  finished("try until done");
  verdict.equal(counter[0], 160, "try until done");
  readers_and_writers<<<2, 80>>>(make<Device>(1, 0), counter + 1, counter);
  finished("readers and writers");
  verdict.equal(counter[1], 32, "writers");
  verdict.equal(counter[0], 160, "no reader saw half of a write");
  for (int apart : {1, 40, 64}) {
    *counter = 0;
    petersons<<<2, 64>>>(make<Device>(3, 0), counter, 200, apart);
    finished("Peterson");
    verdict.equal(*counter, 400, "Peterson", apart);
  }
  hand_overs(verdict);
  barrier_waits(verdict);
  return verdict.finish();
}
