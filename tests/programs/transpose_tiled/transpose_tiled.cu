// Transposes a matrix through a padded shared tile: 2-D blocks, a barrier, strided access.
#include <vector>

#include "check.h"

constexpr int tile_size = 32, block_rows = 8;

__global__ void transpose(const int* in, int* out, int width, int height) {
  __shared__ int tile[tile_size][tile_size + 1];
  int x = blockIdx.x * tile_size + threadIdx.x;
  int y = blockIdx.y * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += block_rows) {
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * tile_size + threadIdx.x;
  y = blockIdx.x * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += block_rows) {
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

int main() {
  Verdict verdict;
  const int sizes[][2] = {{256, 256}, {100, 333}, {1, 65}, {517, 31}};
  for (auto& size : sizes) {
    int width = size[0], height = size[1], n = width * height;
    std::vector<int> in(n), out(n, -1);
    for (int i = 0; i < n; ++i) in[i] = i * 3 + 1;
    int *din, *dout;
    CHECK(cudaMalloc(&din, n * sizeof(int)));
    CHECK(cudaMalloc(&dout, n * sizeof(int)));
    CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dout, 0xff, n * sizeof(int)));
    dim3 grid((width + tile_size - 1) / tile_size, (height + tile_size - 1) / tile_size);
    transpose<<<grid, dim3(tile_size, block_rows)>>>(din, dout, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        verdict.equal(out[x * height + y], in[y * width + x], "element", y * width + x);
      }
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
  }
  return verdict.finish();
}
