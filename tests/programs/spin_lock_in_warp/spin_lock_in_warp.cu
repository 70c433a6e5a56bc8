// Lanes of one warp take one lock: independent forward progress of lanes (compute capability 7.0).
// The critical section is not atomic, so a lost update shows.
#include "check.h"

__global__ void locked_add(int* lock, volatile int* counter, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Lane 0 produces, lane 1 waits for it in a loop, and the other way round.
__global__ void ping_pong(volatile int* box, int* out, int rounds) {
  int lane = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    if (lane == 0) {
      while (box[0] != 2 * i) {
      }
      box[0] = 2 * i + 1;
    } else if (lane == 1) {
      while (box[0] != 2 * i + 1) {
      }
      box[0] = 2 * i + 2;
    }
  }
  out[lane] = box[0];
}

int main() {
  Verdict verdict;
  int *memory, got[4];
  CHECK(cudaMalloc(&memory, 64 * sizeof(int)));
  CHECK(cudaMemset(memory, 0, 64 * sizeof(int)));
  locked_add<<<3, 64>>>(memory, memory + 1, 5);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, memory, 2 * sizeof(int), cudaMemcpyDeviceToHost));
  verdict.equal(got[0], 0, "lock at the end");
  verdict.equal(got[1], 3 * 64 * 5, "counter");
  CHECK(cudaMemset(memory, 0, 64 * sizeof(int)));
  ping_pong<<<1, 2>>>(memory, memory + 1, 50);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, memory, 3 * sizeof(int), cudaMemcpyDeviceToHost));
  verdict.equal(got[0], 100, "box");
  verdict.equal(got[2], 100, "lane 1's view");
  return verdict.finish();
}
