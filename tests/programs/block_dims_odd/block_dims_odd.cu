// Block shapes that fill no warp: 1-D, 2-D and 3-D, with barriers, shuffles inside the last,
// partial warp, and every thread's own view of its indices.
#include <algorithm>
#include <vector>

#include "check.h"

struct View {
  unsigned t[3], b[3], bd[3], gd[3], sum, lanes, linear;
};

/// The lanes that the warp of a thread has: fewer than 32 in the last warp of a block.
__device__ unsigned warp_mask(unsigned linear, unsigned size) {
  unsigned left = size - linear / 32 * 32;
  return left >= 32 ? ~0u : (1u << left) - 1;
}

__global__ void look(View* out) {
  extern __shared__ unsigned shared[];
  unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned size = blockDim.x * blockDim.y * blockDim.z;
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  shared[linear] = linear * 3 + block;
  __syncthreads();
  View v = {{threadIdx.x, threadIdx.y, threadIdx.z},
            {blockIdx.x, blockIdx.y, blockIdx.z},
            {blockDim.x, blockDim.y, blockDim.z},
            {gridDim.x, gridDim.y, gridDim.z},
            shared[(linear + 1) % size] + shared[(linear * 7 + 5) % size],
            __ballot_sync(warp_mask(linear, size), true),
            linear};
  __syncthreads();
  shared[size - 1 - linear] = v.sum;
  __syncthreads();
  v.sum = shared[linear];
  out[block * size + linear] = v;
}

int main() {
  Verdict verdict;
  const dim3 blocks[] = {{1, 1, 1},    {7, 1, 1},  {31, 1, 1}, {33, 1, 1},   {100, 1, 1},
                         {1000, 1, 1}, {5, 3, 1},  {33, 3, 1}, {8, 8, 1},    {17, 13, 1},
                         {3, 5, 7},    {1, 1, 64}, {2, 31, 3}, {10, 10, 10}, {1, 33, 1}};
  const dim3 grids[] = {{1, 1, 1}, {3, 2, 2}, {1, 1, 5}};
  for (dim3 block : blocks) {
    for (dim3 grid : grids) {
      unsigned size = block.x * block.y * block.z, count = grid.x * grid.y * grid.z;
      View* d;
      CHECK(cudaMalloc(&d, size * count * sizeof(View)));
      look<<<grid, block, size * sizeof(unsigned)>>>(d);
      CHECK(cudaGetLastError());
      std::vector<View> got(size * count);
      CHECK(cudaMemcpy(got.data(), d, got.size() * sizeof(View), cudaMemcpyDeviceToHost));
      CHECK(cudaFree(d));
      for (unsigned b = 0; b < count; ++b) {
        for (unsigned l = 0; l < size; ++l) {
          const View& v = got[b * size + l];
          auto shared = [&](unsigned i) { return i % size * 3 + b; };
          unsigned mirror = size - 1 - l;
          unsigned sum = shared(mirror + 1) + shared(mirror * 7 + 5);
          bool good = v.t[0] == l % block.x && v.t[1] == l / block.x % block.y &&
                      v.t[2] == l / block.x / block.y && v.b[0] == b % grid.x &&
                      v.b[1] == b / grid.x % grid.y && v.b[2] == b / grid.x / grid.y &&
                      v.bd[0] == block.x && v.bd[1] == block.y && v.bd[2] == block.z &&
                      v.gd[0] == grid.x && v.gd[1] == grid.y && v.gd[2] == grid.z && v.linear == l;
          verdict.expect(good, "indices", l);
          verdict.equal(v.sum, sum, "exchange through shared memory", l);
          unsigned in_warp = std::min(size - l / 32 * 32, 32u);
          verdict.equal(v.lanes, unsigned((1ull << in_warp) - 1), "lanes of the warp", l);
        }
      }
    }
  }
  return verdict.finish();
}
