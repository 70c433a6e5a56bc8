// Jacobi steps of a 5-point stencil over 4096 x 4096 floats, the border kept: four launches a run.
#include "bench.h"

constexpr int n = 4096, steps = 4;

static std::vector<float> field() { return bench::random_floats(size_t{n} * n, 20); }

#if defined(PEER_CUDA)

__global__ void jacobi(float* out, const float* in, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  int at = y * size + x;
  if (x == 0 || y == 0 || x == size - 1 || y == size - 1)
    out[at] = in[at];
  else
    out[at] = 0.25f * (in[at - 1] + in[at + 1] + in[at - size] + in[at + size]);
}

int main(int argc, char** argv) {
  float* in = bench::to_device(field());
  float *one = bench::on_device<float>(size_t{n} * n), *two = bench::on_device<float>(size_t{n} * n);
  return bench::measure(
      argc, argv,
      [&] {
        dim3 grid(n / 32, n / 8), block(32, 8);
        jacobi<<<grid, block>>>(one, in, n);
        for (int step = 1; step < steps; ++step)
          jacobi<<<grid, block>>>(step % 2 ? two : one, step % 2 ? one : two, n);
        bench::finish();
      },
      [&] { return bench::from_device(two, size_t{n} * n); });
}

#elif defined(PEER_OPENMP)

static void jacobi(float* out, const float* in) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y) {
    const float* row = in + size_t{n} * y;
    float* to = out + size_t{n} * y;
    if (y == 0 || y == n - 1) {
      std::copy(row, row + n, to);
      continue;
    }
    to[0] = row[0], to[n - 1] = row[n - 1];
#pragma omp simd
    for (int x = 1; x < n - 1; ++x)
      to[x] = 0.25f * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n]);
  }
}

int main(int argc, char** argv) {
  std::vector<float> in = field(), one(in.size()), two(in.size());
  return bench::measure(
      argc, argv,
      [&] {
        jacobi(one.data(), in.data());
        for (int step = 1; step < steps; ++step)
          jacobi(step % 2 ? two.data() : one.data(), step % 2 ? one.data() : two.data());
      },
      [&] { return two; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void jacobi(global float* out, global const float* in, int size) {
      int x = get_global_id(0), y = get_global_id(1), at = y * size + x;
      if (x == 0 || y == 0 || x == size - 1 || y == size - 1)
        out[at] = in[at];
      else
        out[at] = 0.25f * (in[at - 1] + in[at + 1] + in[at - size] + in[at + size]);
    })");
  cl_mem in = cl.to_device(field());
  cl_mem one = cl.on_device<float>(size_t{n} * n), two = cl.on_device<float>(size_t{n} * n);
  cl_kernel first = cl.kernel("jacobi", one, in, n);
  cl_kernel odd = cl.kernel("jacobi", two, one, n), even = cl.kernel("jacobi", one, two, n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(first, n, 32, n, 8);
        for (int step = 1; step < steps; ++step) cl.launch(step % 2 ? odd : even, n, 32, n, 8);
        cl.finish();
      },
      [&] { return cl.from_device<float>(two, size_t{n} * n); });
}

#endif
