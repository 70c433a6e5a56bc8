// C = A B in double precision, 768 x 768: 16 x 16 tiles in shared memory, one value a thread.
#include "bench.h"

constexpr int n = 768;
constexpr int tile = 16;

static std::vector<double> values(uint32_t seed) {
  std::vector<float> narrow = bench::random_floats(n * n, seed);
  return {narrow.begin(), narrow.end()};
}

#if defined(PEER_CUDA)

__global__ void dgemm(double* c, const double* a, const double* b, int size) {
  __shared__ double as[tile][tile], bs[tile][tile];
  int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  double sum = 0.0;
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
  double *a = bench::to_device(values(1)), *b = bench::to_device(values(2));
  double* c = bench::on_device<double>(n * n);
  return bench::measure(
      argc, argv,
      [&] {
        dgemm<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(c, a, b, n);
        bench::finish();
      },
      [&] { return bench::from_device(c, n * n); });
}

#elif defined(PEER_OPENMP)

#include "gemm_openmp.h"

int main(int argc, char** argv) { return bench::measure_gemm<n>(argc, argv, values(1), values(2)); }

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #pragma OPENCL EXTENSION cl_khr_fp64 : enable
    #define T 16
    kernel void dgemm(global double* c, global const double* a, global const double* b, int size) {
      local double as[T][T], bs[T][T];
      int x = get_local_id(0), y = get_local_id(1);
      int row = get_group_id(1) * T + y, column = get_group_id(0) * T + x;
      double sum = 0.0;
      for (int base = 0; base < size; base += T) {
        as[y][x] = a[row * size + base + x];
        bs[y][x] = b[(base + y) * size + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; ++k) sum += as[y][k] * bs[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      c[row * size + column] = sum;
    })");
  cl_mem c = cl.on_device<double>(n * n);
  cl_kernel dgemm = cl.kernel("dgemm", c, cl.to_device(values(1)), cl.to_device(values(2)), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(dgemm, n, tile, n, tile);
        cl.finish();
      },
      [&] { return cl.from_device<double>(c, n * n); });
}

#endif
