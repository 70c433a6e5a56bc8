// C = A B, 768 x 768, one thread a value, everything from global memory.
#include "bench.h"

constexpr int n = 768;
constexpr int side = 16;

#if defined(PEER_CUDA)

__global__ void sgemm(float* c, const float* a, const float* b, int size) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= size || column >= size) return;
  float sum = 0.0f;
  for (int k = 0; k < size; ++k) sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

int main(int argc, char** argv) {
  float* a = bench::to_device(bench::random_floats(n * n, 1));
  float* b = bench::to_device(bench::random_floats(n * n, 2));
  float* c = bench::on_device<float>(n * n);
  return bench::measure(
      argc, argv,
      [&] {
        sgemm<<<dim3(n / side, n / side), dim3(side, side)>>>(c, a, b, n);
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
    kernel void sgemm(global float* c, global const float* a, global const float* b, int size) {
      int row = get_global_id(1), column = get_global_id(0);
      if (row >= size || column >= size) return;
      float sum = 0.0f;
      for (int k = 0; k < size; ++k) sum += a[row * size + k] * b[k * size + column];
      c[row * size + column] = sum;
    })");
  cl_mem c = cl.on_device<float>(n * n);
  cl_kernel sgemm = cl.kernel("sgemm", c, cl.to_device(bench::random_floats(n * n, 1)),
                              cl.to_device(bench::random_floats(n * n, 2)), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sgemm, n, side, n, side);
        cl.finish();
      },
      [&] { return cl.from_device<float>(c, n * n); });
}

#endif
