// C = A B, 1024 x 1024, the textbook kernel: 16 x 16 tiles in shared memory, one value a thread.
#include "bench.h"

constexpr int n = 1024;
constexpr int tile = 16;

#if defined(PEER_CUDA)

__global__ void sgemm(float* c, const float* a, const float* b, int size) {
  __shared__ float as[tile][tile], bs[tile][tile];
  int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0.0f;
  for (int base = 0; base < size; base += tile) {
    as[threadIdx.y][threadIdx.x] = a[row * size + base + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(base + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

int main(int argc, char** argv) {
  float* a = bench::to_device(bench::random_floats(n * n, 1));
  float* b = bench::to_device(bench::random_floats(n * n, 2));
  float* c = bench::on_device<float>(n * n);
  return bench::measure(
      argc, argv,
      [&] {
        sgemm<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(c, a, b, n);
        bench::finish();
      },
      [&] { return bench::from_device(c, n * n); });
}

#elif defined(PEER_OPENMP)

#include "gemm_openmp.h"

int main(int argc, char** argv) {
  return bench::measure_gemm<n>(argc, argv, bench::random_floats(n * n, 1),
                                bench::random_floats(n * n, 2));
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define T 16
    kernel void sgemm(global float* c, global const float* a, global const float* b, int size) {
      local float as[T][T], bs[T][T];
      int x = get_local_id(0), y = get_local_id(1);
      int row = get_group_id(1) * T + y, column = get_group_id(0) * T + x;
      float sum = 0.0f;
      for (int base = 0; base < size; base += T) {
        as[y][x] = a[row * size + base + x];
        bs[y][x] = b[(base + y) * size + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; ++k) sum += as[y][k] * bs[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      c[row * size + column] = sum;
    })");
  cl_mem c = cl.on_device<float>(n * n);
  cl_kernel sgemm = cl.kernel("sgemm", c, cl.to_device(bench::random_floats(n * n, 1)),
                              cl.to_device(bench::random_floats(n * n, 2)), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sgemm, n, tile, n, tile);
        cl.finish();
      },
      [&] { return cl.from_device<float>(c, n * n); });
}

#endif
