// mbarrier by inline PTX: phases and their parity, states of arrivals and their pending counts,
// counted and incomplete arrivals, dropped ones, transaction counts before and after the arrivals,
// cp.async arrivals with and without increment, and cp.async with short and ignored sources.
#include <vector>

#include "check.h"

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ unsigned test(unsigned b, unsigned long long state) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(b), "l"(state)
      : "memory");
  return done;
}

__device__ unsigned test_parity(unsigned b, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;"
      " selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(b), "r"(parity)
      : "memory");
  return done;
}

__device__ unsigned pending(unsigned long long state) {
  unsigned count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}

__device__ unsigned long long arrive(unsigned b) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
  return state;
}

__device__ unsigned long long arrive(unsigned b, unsigned count) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(b), "r"(count)
               : "memory");
  return state;
}

/// One thread plays all parts and writes down what it sees.
__global__ void alone(unsigned* out) {
  __shared__ alignas(8) unsigned long long word;
  unsigned b = shared_address(&word), n = 0;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 5;" ::"r"(b) : "memory");
  out[n++] = test_parity(b, 0);
  out[n++] = test_parity(b, 1);
  unsigned long long s = arrive(b);
  out[n++] = pending(s);
  out[n++] = test(b, s);
  s = arrive(b, 3);
  out[n++] = pending(s);
  out[n++] = test(b, s);
  s = arrive(b);
  out[n++] = pending(s);
  out[n++] = test(b, s);
  out[n++] = test_parity(b, 0);
  out[n++] = test_parity(b, 1);
  // The second phase loses two: the third expects three.
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(b) : "memory");
  asm volatile("mbarrier.arrive_drop.noComplete.shared::cta.b64 _, [%0], 1;" ::"r"(b) : "memory");
  arrive(b);
  arrive(b);
  out[n++] = test(b, s);
  arrive(b);
  out[n++] = test(b, s);
  s = arrive(b);
  out[n++] = pending(s);
  arrive(b);
  out[n++] = test(b, s);
  arrive(b);
  out[n++] = test(b, s);
  out[n++] = test_parity(b, 0);
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory");
#if __CUDA_ARCH__ >= 900
  // Bytes hold the phase open, whichever side comes first.
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(b) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 16;"
               : "=l"(s)
               : "r"(b)
               : "memory");
  out[n++] = test(b, s);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 60;" ::"r"(b) : "memory");
  out[n++] = test(b, s);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 4;" ::"r"(b) : "memory");
  out[n++] = test(b, s);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 100000;" ::"r"(b)
               : "memory");
  out[n++] = test_parity(b, 1);
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 100000;" ::"r"(b)
               : "memory");
  out[n++] = test_parity(b, 1);
  asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], 0;"
               : "=l"(s)
               : "r"(b)
               : "memory");
  out[n++] = test(b, s);
#endif
}

__global__ void copies(const unsigned char* in, unsigned char* out, unsigned* seen) {
  __shared__ alignas(16) unsigned char to[64 * 16];
  __shared__ alignas(8) unsigned long long words[2];
  unsigned t = threadIdx.x, b = shared_address(&words[0]), noinc = shared_address(&words[1]);
  for (int i = 0; i < 16; ++i) to[t * 16 + i] = 0xee;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(b) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(noinc) : "memory");
  }
  __syncthreads();
  // Sources of 0 to 15 bytes, the rest is zeros; every fifth thread ignores its source.
  unsigned there = shared_address(to + t * 16), ignored = t % 5 == 4;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(there), "l"(in + t * 16),
               "r"(t % 9)
               : "memory");
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0;"
      " cp.async.ca.shared.global [%0+8], [%1+8], 8, p; }" ::"r"(there),
      "l"(in + t * 16), "r"(ignored)
      : "memory");
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(b) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(noinc) : "memory");
  unsigned long long mine = arrive(b), other = arrive(noinc);
  while (!test(b, mine)) {
  }
  while (!test(noinc, other)) {
  }
  if (t == 0) seen[0] = test_parity(b, 0) + test_parity(noinc, 0) * 10;
  for (int i = 0; i < 16; ++i) out[t * 16 + i] = to[t * 16 + i];
}

int main() {
  Verdict verdict;
  unsigned* seen;
  CHECK(cudaMallocManaged(&seen, 64 * sizeof(unsigned)));
  alone<<<1, 1>>>(seen);
  CHECK(cudaDeviceSynchronize());
  const unsigned want[] = {0, 1, 5, 0, 4, 0, 1, 1, 1, 0, 0, 1, 3, 0, 1, 1,
                           0, 0, 1, 0, 1, 1};
  for (int i = 0; i < 22; ++i) verdict.equal(seen[i], want[i], "seen", i);
  unsigned char *in, *out;
  CHECK(cudaMallocManaged(&in, 1024));
  CHECK(cudaMallocManaged(&out, 1024));
  for (int i = 0; i < 1024; ++i) in[i] = i % 251 + 1;
  copies<<<1, 64>>>(in, out, seen);
  CHECK(cudaDeviceSynchronize());
  verdict.equal(seen[0], 11u, "both phases are over");
  for (int i = 0; i < 1024; ++i) {
    int t = i / 16, at = i % 16;
    bool there = at < 8 ? at < t % 9 : t % 5 != 4;
    verdict.equal<int>(out[i], there ? in[i] : 0, "cp.async", i);
  }
  return verdict.finish();
}
