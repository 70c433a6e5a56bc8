// C = A B, 1024 x 1024, register-blocked: 128 x 128 tiles, 256 threads with 8 x 8 values each.
#include "bench.h"

constexpr int n = 1024;
constexpr int tile = 128, depth = 8, part = 8;

#if defined(PEER_CUDA)

__global__ void __launch_bounds__(256) sgemm(float* c, const float* a, const float* b, int size) {
  __shared__ float as[depth][tile], bs[depth][tile];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = blockIdx.y * tile, column = blockIdx.x * tile;
  float sum[part][part] = {};
  for (int base = 0; base < size; base += depth) {
    for (int i = threadIdx.x; i < tile * depth; i += 256) {
      as[i % depth][i / depth] = a[(row + i / depth) * size + base + i % depth];
      bs[i / tile][i % tile] = b[(base + i / tile) * size + column + i % tile];
    }
    __syncthreads();
    for (int k = 0; k < depth; ++k) {
      float left[part], right[part];
#pragma unroll
      for (int i = 0; i < part; ++i) left[i] = as[k][ty * part + i];
#pragma unroll
      for (int j = 0; j < part; ++j) right[j] = bs[k][tx * part + j];
#pragma unroll
      for (int i = 0; i < part; ++i)
#pragma unroll
        for (int j = 0; j < part; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < part; ++i)
#pragma unroll
    for (int j = 0; j < part; ++j)
      c[(row + ty * part + i) * size + column + tx * part + j] = sum[i][j];
}

int main(int argc, char** argv) {
  float* a = bench::to_device(bench::random_floats(n * n, 1));
  float* b = bench::to_device(bench::random_floats(n * n, 2));
  float* c = bench::on_device<float>(n * n);
  return bench::measure(
      argc, argv,
      [&] {
        sgemm<<<dim3(n / tile, n / tile), 256>>>(c, a, b, n);
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
    #define T 128
    #define D 8
    #define P 8
    kernel __attribute__((reqd_work_group_size(256, 1, 1)))
    void sgemm(global float* c, global const float* a, global const float* b, int size) {
      local float as[D][T], bs[D][T];
      int id = get_local_id(0), tx = id % 16, ty = id / 16;
      int row = get_group_id(1) * T, column = get_group_id(0) * T;
      float sum[P][P];
      for (int i = 0; i < P; ++i) for (int j = 0; j < P; ++j) sum[i][j] = 0.0f;
      for (int base = 0; base < size; base += D) {
        for (int i = id; i < T * D; i += 256) {
          as[i % D][i / D] = a[(row + i / D) * size + base + i % D];
          bs[i / T][i % T] = b[(base + i / T) * size + column + i % T];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < D; ++k) {
          float left[P], right[P];
          for (int i = 0; i < P; ++i) left[i] = as[k][ty * P + i];
          for (int j = 0; j < P; ++j) right[j] = bs[k][tx * P + j];
          for (int i = 0; i < P; ++i) for (int j = 0; j < P; ++j) sum[i][j] += left[i] * right[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      for (int i = 0; i < P; ++i) for (int j = 0; j < P; ++j)
        c[(row + ty * P + i) * size + column + tx * P + j] = sum[i][j];
    })");
  cl_mem c = cl.on_device<float>(n * n);
  cl_kernel sgemm = cl.kernel("sgemm", c, cl.to_device(bench::random_floats(n * n, 1)),
                              cl.to_device(bench::random_floats(n * n, 2)), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sgemm, n / tile * 256, 256, n / tile, 1);
        cl.finish();
      },
      [&] { return cl.from_device<float>(c, n * n); });
}

#endif
