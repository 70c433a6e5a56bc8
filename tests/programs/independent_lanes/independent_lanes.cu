// Lanes of one warp that wait for each other in all the ways that independent thread scheduling
// (compute capability 7.0) makes legal: what lanes do behind the loop that others still wait in, warp
// operations there, rounds of a loop around it, branches with a wait in each arm.
#include <vector>

#include "sections.h"

constexpr int threads = 96;

// Every lane waits for the one above it, then acts: the lanes leave the loop one by one, last first.
// Behind it a shuffle of the whole warp, which the first ones must wait at.
__global__ void chain_down(int* out) {
  __shared__ volatile int flag[threads + 1];
  const int t = threadIdx.x;
  flag[t] = 0;
  if (t == 0) flag[threads] = 7;
  __syncthreads();
  while (flag[t + 1] == 0) {
  }
  const int mine = flag[t + 1] + 1;
  __threadfence_block();
  flag[t] = mine;
  const int first = __shfl_sync(0xffffffffu, mine, 0);
  out[t] = mine * 1000 + first;
}

// A lock taken several times by every lane; the value carried from round to round must survive that
// other lanes are in other rounds.
__global__ void rounds(int* lock, volatile int* counter, int* out, int count) {
  int sum = threadIdx.x;
  for (int i = 0; i < count; ++i) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    const int before = *counter;
    *counter = before + 1;
    __threadfence();
    atomicExch(lock, 0);
    sum += i * 3 + (before >= 0);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A ticket lock: lanes are served in the order of their tickets, which is no order of lanes.
__global__ void tickets(unsigned* next, volatile unsigned* serving, int* order) {
  const unsigned lane = threadIdx.x;
  unsigned mine = 0;
  for (unsigned i = 0; i < 32; ++i)
    if ((lane * 13 + 5) % 32 == i) mine = atomicAdd(next, 1u);
  while (*serving != mine) __nanosleep(20);
  order[mine] = static_cast<int>(lane);
  __threadfence();
  *serving = mine + 1;
}

// Both arms of a branch wait for the other: the lower half produces, the upper consumes and answers.
__global__ void two_arms(volatile int* box, int* out, int count) {
  const int lane = threadIdx.x;
  int sum = 0;
  if (lane < 16) {
    for (int i = 1; i <= count; ++i) {
      box[lane] = i * 10 + lane;
      while (box[32 + lane] != i) {
      }
      sum += box[64 + lane];
    }
  } else {
    const int partner = lane - 16;
    for (int i = 1; i <= count; ++i) {
      while (box[partner] != i * 10 + partner) {
      }
      box[64 + partner] = box[partner] * 2;
      __threadfence();
      box[32 + partner] = i;
      sum += i;
    }
  }
  sum += __shfl_xor_sync(0xffffffffu, sum, 16);
  out[lane] = sum;
}

// A window that shrinks: lanes leave a loop of votes when they have found what they wait for, as in
// CUB's onesweep sort.
__global__ void shrinking(volatile int* state, int* out, int blocks) {
  const int t = threadIdx.x;
  __shared__ int block;
  if (t == 0) block = atomicAdd(const_cast<int*>(state) + blocks * threads, 1);
  __syncthreads();
  const int mine = block;
  int sum = mine + t;
  state[mine * threads + t] = sum | (mine == 0 ? 1 << 30 : 1 << 29);
  unsigned want = ~0u;
  for (int before = mine - 1; before >= 0; --before) {
    int value;
    do {
      value = state[before * threads + t];
    } while (value == 0);
    sum += value & ((1 << 29) - 1);
    want = __ballot_sync(want, !(value >> 30 & 1));
    if (value >> 30 & 1) break;
  }
  state[mine * threads + t] = sum | 1 << 30;
  __syncthreads();
  out[mine * threads + t] = sum;
}

// Halves of a warp with masks of their own, out of step with each other; some lanes leave early.
__global__ void halves(volatile int* flag, int* out) {
  const int lane = threadIdx.x;
  if (lane == 5 || lane == 20) return;
  const unsigned members = lane < 16 ? 0x0000ffdfu : 0xffef0000u;
  if (lane >= 16)
    while (*flag == 0) {
    }
  int v = lane;
  for (int offset = 8; offset > 0; offset /= 2) {
    const int other = __shfl_xor_sync(members, v, offset);
    const bool there = members >> (lane ^ offset) & 1;
    v += there ? other : 0;
  }
  if (lane == 0) {
    __threadfence();
    *flag = v;
  }
  out[lane] = v;
}

// A persistent loop with a barrier in it, and a wait of single lanes before each barrier.
__global__ void turns(int* out, int count) {
  __shared__ volatile int turn;
  __shared__ int log[threads];
  const int t = threadIdx.x;
  int seen = 0;
  for (int i = 0; i < count; ++i) {
    if (t == 0) turn = 0;
    __syncthreads();
    const int place = (t * 35 + i) % threads;
    while (turn != place) {
    }
    log[place] = t + seen;
    __threadfence_block();
    turn = place + 1;
    __syncthreads();
    seen += log[(place + 1) % threads] & 1;
    __syncthreads();
  }
  out[t] = seen * 1000 + log[t];
}

template <typename Kernel>
static std::vector<int> results(size_t words, size_t scratch, Kernel launch) {
  int* memory;
  CHECK(cudaMalloc(&memory, (words + scratch) * sizeof(int)));
  CHECK(cudaMemset(memory, 0, (words + scratch) * sizeof(int)));
  launch(memory, memory + words);
  CHECK(cudaGetLastError());
  std::vector<int> got(words);
  CHECK(cudaMemcpy(got.data(), memory, words * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(memory));
  return got;
}

static void run_chain(Verdict& verdict) {
  // On an H200 (nvcc 13.0, driver 580.159.04) this one hangs: ptxas lets lanes that have left the loop wait
  // for the others.
  auto got = results(threads, 0, [](int* out, int*) { chain_down<<<1, threads>>>(out); });
  for (int t = 0; t < threads; ++t)
    verdict.equal(got[t], (7 + threads - t) * 1000 + 7 + threads - t / 32 * 32, "chain", t);
}

static void run_rounds(Verdict& verdict) {
  auto got = results(3 * threads + 1, 1, [](int* out, int* lock) {
    rounds<<<3, threads>>>(lock, out + 3 * threads, out, 4);
  });
  verdict.equal(got[3 * threads], 3 * threads * 4, "locked counter");
  for (int i = 0; i < 3 * threads; ++i)
    verdict.equal(got[i], i % threads + 3 * (0 + 1 + 2 + 3) + 4, "carried over rounds", i);
}

static void run_tickets(Verdict& verdict) {
  auto got = results(32, 2, [](int* out, int* scratch) {
    tickets<<<1, 32>>>(reinterpret_cast<unsigned*>(scratch),
                       reinterpret_cast<unsigned*>(scratch + 1), out);
  });
  long long sum = 0;
  unsigned found = 0;
  for (int i = 0; i < 32; ++i) sum += got[i], found |= 1u << (got[i] & 31);
  verdict.equal(sum, 31LL * 16, "sum of lanes served");
  verdict.equal(found, 0xffffffffu, "every lane served once");
}

static void run_two_arms(Verdict& verdict) {
  constexpr int count = 20;
  auto got = results(32, 96, [](int* out, int* box) { two_arms<<<1, 32>>>(box, out, count); });
  for (int lane = 0; lane < 32; ++lane) {
    int want = 0;
    for (int i = 1; i <= count; ++i) want += (i * 10 + lane % 16) * 2 + i;
    verdict.equal(got[lane], want, "both arms", lane);
  }
}

static void run_shrinking(Verdict& verdict) {
  constexpr int blocks = 40;
  auto got = results(blocks * threads, blocks * threads + 1, [](int* out, int* state) {
    shrinking<<<blocks, threads>>>(state, out, blocks);
  });
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < threads; ++t)
      verdict.equal(got[b * threads + t], b * (b + 1) / 2 + (b + 1) * t, "prefix",
                    b * threads + t);
}

static void run_halves(Verdict& verdict) {
  auto got = results(32, 1, [](int* out, int* flag) { halves<<<1, 32>>>(flag, out); });
  for (int lane = 0; lane < 32; ++lane) {
    int v[32], next[32];
    for (int i = 0; i < 32; ++i) v[i] = i == 5 || i == 20 ? 0 : i;
    for (int offset = 8; offset > 0; offset /= 2) {
      for (int i = 0; i < 32; ++i) {
        const bool there = (i ^ offset) != 5 && (i ^ offset) != 20;
        next[i] = i == 5 || i == 20 ? 0 : v[i] + (there ? v[i ^ offset] : 0);
      }
      std::memcpy(v, next, sizeof v);
    }
    verdict.equal(got[lane], v[lane], "half", lane);
  }
}

static void run_turns(Verdict& verdict) {
  constexpr int count = 5;
  auto got = results(threads, 0, [](int* out, int*) { turns<<<1, threads>>>(out, count); });
  std::vector<int> seen(threads, 0), log(threads, 0);
  for (int i = 0; i < count; ++i) {
    for (int t = 0; t < threads; ++t) log[(t * 35 + i) % threads] = t + seen[t];
    for (int t = 0; t < threads; ++t) seen[t] += log[((t * 35 + i) % threads + 1) % threads] & 1;
  }
  for (int t = 0; t < threads; ++t)
    verdict.equal(got[t], seen[t] * 1000 + log[t], "turns", t);
}

int main(int argc, char** argv) {
  static const Section sections[] = {
      {"chain", run_chain},         {"rounds", run_rounds}, {"tickets", run_tickets},
      {"two_arms", run_two_arms},   {"shrinking", run_shrinking},
      {"halves", run_halves},       {"turns", run_turns},
  };
  return run_sections(sections, argc, argv);
}
