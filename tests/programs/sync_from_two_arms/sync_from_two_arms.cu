// Lanes of one warp meet at warp-level .sync instructions that stand in both arms of an if/else,
// with the full member mask: allowed since compute capability 7.0. Masked execution that ran one
// arm after the other would give wrong values in silence.
#include <vector>

#include "check.h"

// Keeps the compiler from merging the two arms into one instruction.
#define ARM(text) asm volatile("// " text ::: "memory")

__global__ void shuffle_arms(int* out) {
  int lane = threadIdx.x, v = lane * 10, r;
  if (lane & 1) {
    ARM("odd");
    r = __shfl_sync(0xffffffffu, v, lane - 1) * 2 + 1;
    ARM("odd end");
  } else {
    ARM("even");
    r = __shfl_sync(0xffffffffu, v + 1, lane + 1) * 3;
    ARM("even end");
  }
  out[lane] = r;
}

__global__ void ballot_arms(unsigned* out) {
  int lane = threadIdx.x;
  unsigned r;
  if (lane < 11) {
    ARM("low");
    r = __ballot_sync(0xffffffffu, lane % 3 == 0);
    ARM("low end");
  } else {
    ARM("high");
    r = ~__ballot_sync(0xffffffffu, lane % 5 == 0);
    ARM("high end");
  }
  out[lane] = r;
}

__global__ void syncwarp_arms(int* out) {
  __shared__ int s[32];
  int lane = threadIdx.x;
  if (lane < 16) {
    s[lane] = lane + 100;
    __syncwarp();
    ARM("low");
    out[lane] = s[lane + 16];
  } else {
    s[lane] = lane + 200;
    ARM("high");
    __syncwarp();
    out[lane] = s[lane - 16];
  }
}

__global__ void loop_and_straight(int* out, int rounds) {
  // One lane's partner changes each round; odd lanes meet from a loop, even lanes from another.
  int lane = threadIdx.x, v = lane;
  if (lane & 1) {
    for (int i = 0; i < rounds; ++i) {
      ARM("odd loop");
      v += __shfl_xor_sync(0xffffffffu, v, 1);
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      ARM("even loop");
      v = 2 * v + __shfl_xor_sync(0xffffffffu, v, 1);
    }
  }
  out[lane] = v;
}

int main() {
  Verdict verdict;
  int* d;
  CHECK(cudaMalloc(&d, 32 * sizeof(int)));
  std::vector<int> got(32);
  auto fetch = [&] {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  };
  shuffle_arms<<<1, 32>>>(d);
  fetch();
  for (int l = 0; l < 32; ++l) {
    int want = l & 1 ? ((l - 1) * 10 + 1) * 2 + 1 : (l + 1) * 10 * 3;
    verdict.equal(got[l], want, "shuffle", l);
  }
  ballot_arms<<<1, 32>>>(reinterpret_cast<unsigned*>(d));
  fetch();
  unsigned votes = 0;
  for (int l = 0; l < 32; ++l) votes |= unsigned(l < 11 ? l % 3 == 0 : l % 5 == 0) << l;
  for (int l = 0; l < 32; ++l) verdict.equal(unsigned(got[l]), l < 11 ? votes : ~votes, "vote", l);
  syncwarp_arms<<<1, 32>>>(d);
  fetch();
  for (int l = 0; l < 32; ++l) verdict.equal(got[l], l < 16 ? l + 216 : l + 84, "syncwarp", l);
  loop_and_straight<<<1, 32>>>(d, 5);
  fetch();
  for (int l = 0; l < 32; l += 2) {
    int even = l, odd = l + 1;
    for (int i = 0; i < 5; ++i) {
      int e = 2 * even + odd, o = odd + even;
      even = e;
      odd = o;
    }
    verdict.equal(got[l], even, "loop even", l);
    verdict.equal(got[l + 1], odd, "loop odd", l + 1);
  }
  return verdict.finish();
}
