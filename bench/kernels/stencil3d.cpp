// Heat steps of a 7-point stencil over 256^3 floats, the border kept: four launches a run, one thread
// a point.
#include "bench.h"

constexpr int n = 256, steps = 4;
constexpr size_t points = size_t{n} * n * n;
constexpr float share = 0.1f;

static std::vector<float> field() { return bench::random_floats(points, 21); }

#if defined(PEER_CUDA)

__global__ void heat(float* out, const float* in, int size, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= size || y >= size || z >= size) return;
  int plane = size * size, at = z * plane + y * size + x;
  if (x == 0 || y == 0 || z == 0 || x == size - 1 || y == size - 1 || z == size - 1) {
    out[at] = in[at];
    return;
  }
  out[at] = (1.0f - 6.0f * c) * in[at] + c * (in[at - 1] + in[at + 1] + in[at - size] +
                                              in[at + size] + in[at - plane] + in[at + plane]);
}

int main(int argc, char** argv) {
  float* in = bench::to_device(field());
  float *one = bench::on_device<float>(points), *two = bench::on_device<float>(points);
  return bench::measure(
      argc, argv,
      [&] {
        dim3 block(32, 4, 2), grid(n / block.x, n / block.y, n / block.z);
        heat<<<grid, block>>>(one, in, n, share);
        for (int step = 1; step < steps; ++step)
          heat<<<grid, block>>>(step % 2 ? two : one, step % 2 ? one : two, n, share);
        bench::finish();
      },
      [&] { return bench::from_device(two, points); });
}

#elif defined(PEER_OPENMP)

static void heat(float* out, const float* in) {
  constexpr int plane = n * n;
#pragma omp parallel for collapse(2)
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y) {
      const float* row = in + size_t{plane} * z + n * y;
      float* to = out + size_t{plane} * z + n * y;
      if (y == 0 || z == 0 || y == n - 1 || z == n - 1) {
        std::copy(row, row + n, to);
        continue;
      }
      to[0] = row[0], to[n - 1] = row[n - 1];
#pragma omp simd
      for (int x = 1; x < n - 1; ++x)
        to[x] = (1.0f - 6.0f * share) * row[x] +
                share * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n] + row[x - plane] +
                         row[x + plane]);
    }
}

int main(int argc, char** argv) {
  std::vector<float> in = field(), one(points), two(points);
  return bench::measure(
      argc, argv,
      [&] {
        heat(one.data(), in.data());
        for (int step = 1; step < steps; ++step)
          heat(step % 2 ? two.data() : one.data(), step % 2 ? one.data() : two.data());
      },
      [&] { return two; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void heat(global float* out, global const float* in, int size, float c) {
      int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
      int plane = size * size, at = z * plane + y * size + x;
      if (x == 0 || y == 0 || z == 0 || x == size - 1 || y == size - 1 || z == size - 1) {
        out[at] = in[at];
        return;
      }
      out[at] = (1.0f - 6.0f * c) * in[at] + c * (in[at - 1] + in[at + 1] + in[at - size] +
                                                  in[at + size] + in[at - plane] + in[at + plane]);
    })");
  cl_mem in = cl.to_device(field());
  cl_mem one = cl.on_device<float>(points), two = cl.on_device<float>(points);
  cl_kernel first = cl.kernel("heat", one, in, n, share);
  cl_kernel odd = cl.kernel("heat", two, one, n, share);
  cl_kernel even = cl.kernel("heat", one, two, n, share);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch_3d(first, {n, n, n}, {32, 4, 2});
        for (int step = 1; step < steps; ++step)
          cl.launch_3d(step % 2 ? odd : even, {n, n, n}, {32, 4, 2});
        cl.finish();
      },
      [&] { return cl.from_device<float>(two, points); });
}

#endif
