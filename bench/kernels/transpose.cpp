// Transpose of 4096 x 4096 floats through 32 x 33 tiles in shared memory, blocks of 32 x 8.
#include "bench.h"

constexpr int n = 4096;

#if defined(PEER_CUDA)

__global__ void transpose(float* out, const float* in, int size) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * size + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * size + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char** argv) {
  float* in = bench::to_device(bench::random_floats(size_t{n} * n, 5));
  float* out = bench::on_device<float>(size_t{n} * n);
  return bench::measure(
      argc, argv,
      [&] {
        transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{n} * n); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = bench::random_floats(size_t{n} * n, 5), out(size_t{n} * n);
  return bench::measure(
      argc, argv,
      [&] {
        const float* from = in.data();
        float* to = out.data();
#pragma omp parallel for collapse(2)
        for (int by = 0; by < n; by += 32)
          for (int bx = 0; bx < n; bx += 32)
            for (int y = by; y < by + 32; ++y)
              for (int x = bx; x < bx + 32; ++x) to[y * n + x] = from[x * n + y];
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void transpose(global float* out, global const float* in, int size) {
      local float tile[32][33];
      int lx = get_local_id(0), ly = get_local_id(1);
      int x = get_group_id(0) * 32 + lx, y = get_group_id(1) * 32 + ly;
      for (int j = 0; j < 32; j += 8) tile[ly + j][lx] = in[(y + j) * size + x];
      barrier(CLK_LOCAL_MEM_FENCE);
      x = get_group_id(1) * 32 + lx; y = get_group_id(0) * 32 + ly;
      for (int j = 0; j < 32; j += 8) out[(y + j) * size + x] = tile[lx][ly + j];
    })");
  cl_mem out = cl.on_device<float>(size_t{n} * n);
  cl_kernel transpose =
      cl.kernel("transpose", out, cl.to_device(bench::random_floats(size_t{n} * n, 5)), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(transpose, n, 32, n / 4, 8);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, size_t{n} * n); });
}

#endif
