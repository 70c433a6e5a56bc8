// C = A B, 1024 x 1024, halves in, floats out, on tensor cores (nvcuda::wmma): a warp a 16 x 16
// tile, blocks of 4 x 4 warps, fragments loaded from global memory. The OpenMP peer multiplies the
// same numbers as floats; OpenCL 1.2 has no tensor cores: its peer uses tiles in local memory.
#include "bench.h"
#include "half_bits.h"

constexpr int n = 1024;
constexpr int tile = 16, warps = 4;

static std::vector<uint16_t> values(uint32_t seed) {
  return bench::halves_of(bench::random_floats(n * n, seed, 0.0625f, 1.0f));
}

#if defined(PEER_CUDA)

#include <cuda_fp16.h>
#include <mma.h>

__global__ void gemm(float* c, const half* a, const half* b, int size) {
  using namespace nvcuda;
  int row = (blockIdx.y * blockDim.y + threadIdx.y) * tile;
  int column = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize * tile;
  wmma::fragment<wmma::matrix_a, tile, tile, tile, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, tile, tile, tile, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, tile, tile, tile, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < size; k += tile) {
    wmma::load_matrix_sync(left, a + row * size + k, size);
    wmma::load_matrix_sync(right, b + k * size + column, size);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * size + column, sum, size, wmma::mem_row_major);
}

int main(int argc, char** argv) {
  uint16_t *a = bench::to_device(values(1)), *b = bench::to_device(values(2));
  float* c = bench::on_device<float>(n * n);
  return bench::measure(
      argc, argv,
      [&] {
        dim3 grid(n / tile / warps, n / tile / warps), block(32 * warps, warps);
        gemm<<<grid, block>>>(c, reinterpret_cast<half*>(a), reinterpret_cast<half*>(b), n);
        bench::finish();
      },
      [&] { return bench::from_device(c, n * n); });
}

#elif defined(PEER_OPENMP)

#include "gemm_openmp.h"

int main(int argc, char** argv) {
  return bench::measure_gemm<n>(argc, argv, bench::floats_of(values(1)),
                                bench::floats_of(values(2)));
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define T 16
    kernel void gemm(global float* c, global const half* a, global const half* b, int size) {
      local float as[T][T], bs[T][T];
      int x = get_local_id(0), y = get_local_id(1);
      int row = get_group_id(1) * T + y, column = get_group_id(0) * T + x;
      float sum = 0.0f;
      for (int base = 0; base < size; base += T) {
        as[y][x] = vload_half(row * size + base + x, a);
        bs[y][x] = vload_half((base + y) * size + column, b);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; ++k) sum += as[y][k] * bs[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      c[row * size + column] = sum;
    })");
  cl_mem c = cl.on_device<float>(n * n);
  cl_kernel gemm = cl.kernel("gemm", c, cl.to_device(values(1)), cl.to_device(values(2)), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(gemm, n, tile, n, tile);
        cl.finish();
      },
      [&] { return cl.from_device<float>(c, n * n); });
}

#endif
