// A single-pass prefix sum: each block publishes its total and looks back at earlier blocks,
// waiting for them. Progress needs blocks to start in order (blockIdx) or to take tickets (atomic
// counter).
#include <vector>

#include "check.h"

constexpr int threads = 128, blocks = 200;

__global__ void scan(const int* in, int* out, volatile unsigned long long* status, int* ticket,
                     bool take_ticket) {
  __shared__ int block, before, warp_totals[threads / 32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) block = take_ticket ? atomicAdd(ticket, 1) : blockIdx.x;
  __syncthreads();
  int own = in[block * threads + t], v = own;
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += left;
  }
  if (lane == 31) warp_totals[warp] = v;
  __syncthreads();
  int total = 0;
  for (int w = 0; w < threads / 32; ++w) {
    if (w == warp) v += total;
    total += warp_totals[w];
  }
  if (t == 0) {
    // State 1: the block's own total, state 2: the total of all blocks up to it.
    status[block] = (1ull << 32) | static_cast<unsigned>(total);
    __threadfence();
    int sum = 0;
    for (int b = block - 1; b >= 0; --b) {
      unsigned long long s;
      while (((s = status[b]) >> 32) == 0) {
      }
      sum += static_cast<int>(s);
      if ((s >> 32) == 2) break;
    }
    status[block] = (2ull << 32) | static_cast<unsigned>(sum + total);
    __threadfence();
    before = sum;
  }
  __syncthreads();
  out[block * threads + t] = before + v - own;
}

int main() {
  Verdict verdict;
  const int n = threads * blocks;
  std::vector<int> in(n), got(n);
  Random random(14);
  for (int& v : in) v = static_cast<int>(random.below(2000)) - 900;
  int *din, *dout, *ticket;
  unsigned long long* status;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&dout, n * sizeof(int)));
  CHECK(cudaMalloc(&ticket, sizeof(int)));
  CHECK(cudaMalloc(&status, blocks * sizeof *status));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (int take_ticket = 0; take_ticket < 2; ++take_ticket) {
    CHECK(cudaMemset(status, 0, blocks * sizeof *status));
    CHECK(cudaMemset(ticket, 0, sizeof(int)));
    scan<<<blocks, threads>>>(din, dout, status, ticket, take_ticket != 0);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0, sum = 0; i < n; sum += in[i++]) {
      verdict.equal(got[i], sum, take_ticket ? "tickets" : "block order", i);
    }
  }
  return verdict.finish();
}
