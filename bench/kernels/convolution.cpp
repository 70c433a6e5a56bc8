// 7 x 7 convolution of 2048 x 2048 floats, zero outside: filter in constant memory, tile with its
// halo in shared memory, blocks of 16 x 16.
#include "bench.h"

constexpr int n = 2048;
constexpr int radius = 3, width = 2 * radius + 1, tile = 16;

static std::vector<float> image() { return bench::random_floats(size_t{n} * n, 16); }
static std::vector<float> weights() { return bench::random_floats(width * width, 17, -0.1f, 0.3f); }

#if defined(PEER_CUDA)

__constant__ float filter[width][width];

__global__ void convolve(float* out, const float* in, int size) {
  constexpr int side = tile + 2 * radius;
  __shared__ float part[side][side];
  int left = blockIdx.x * tile - radius, top = blockIdx.y * tile - radius;
  for (int y = threadIdx.y; y < side; y += tile) {
    for (int x = threadIdx.x; x < side; x += tile) {
      int from_x = left + x, from_y = top + y;
      bool inside = from_x >= 0 && from_x < size && from_y >= 0 && from_y < size;
      part[y][x] = inside ? in[from_y * size + from_x] : 0.0f;
    }
  }
  __syncthreads();
  float sum = 0.0f;
  for (int y = 0; y < width; ++y)
    for (int x = 0; x < width; ++x) sum += filter[y][x] * part[threadIdx.y + y][threadIdx.x + x];
  out[(blockIdx.y * tile + threadIdx.y) * size + blockIdx.x * tile + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  float* in = bench::to_device(image());
  float* out = bench::on_device<float>(size_t{n} * n);
  CUDA_OK(cudaMemcpyToSymbol(filter, weights().data(), sizeof filter));
  return bench::measure(
      argc, argv,
      [&] {
        convolve<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(out, in, n);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{n} * n); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = image(), filter = weights(), out(size_t{n} * n);
  return bench::measure(
      argc, argv,
      [&] {
        const float *from = in.data(), *weight = filter.data();
        float* to = out.data();
#pragma omp parallel for
        for (int row = 0; row < n; ++row) {
          float* sums = to + row * n;
          std::fill(sums, sums + n, 0.0f);
          for (int y = std::max(0, row - radius); y <= std::min(n - 1, row + radius); ++y) {
            const float* line = from + y * n;
            const float* w = weight + (y - row + radius) * width;
            auto at = [&](int column) {
              float sum = 0.0f;
              for (int x = 0; x < width; ++x)
                if (column + x >= radius && column + x < n + radius)
                  sum += w[x] * line[column + x - radius];
              return sum;
            };
            for (int column = 0; column < radius; ++column) sums[column] += at(column);
#pragma omp simd
            for (int column = radius; column < n - radius; ++column) {
              float sum = sums[column];
              for (int x = 0; x < width; ++x) sum += w[x] * line[column + x - radius];
              sums[column] = sum;
            }
            for (int column = n - radius; column < n; ++column) sums[column] += at(column);
          }
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define R 3
    #define W (2 * R + 1)
    #define T 16
    #define SIDE (T + 2 * R)
    kernel void convolve(global float* out, global const float* in, constant float* filter,
                         int size) {
      local float part[SIDE][SIDE];
      int lx = get_local_id(0), ly = get_local_id(1);
      int left = (int)get_group_id(0) * T - R, top = (int)get_group_id(1) * T - R;
      for (int y = ly; y < SIDE; y += T) {
        for (int x = lx; x < SIDE; x += T) {
          int from_x = left + x, from_y = top + y;
          bool inside = from_x >= 0 && from_x < size && from_y >= 0 && from_y < size;
          part[y][x] = inside ? in[from_y * size + from_x] : 0.0f;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      float sum = 0.0f;
      for (int y = 0; y < W; ++y)
        for (int x = 0; x < W; ++x) sum += filter[y * W + x] * part[ly + y][lx + x];
      out[get_global_id(1) * size + get_global_id(0)] = sum;
    })");
  cl_mem out = cl.on_device<float>(size_t{n} * n);
  cl_kernel convolve =
      cl.kernel("convolve", out, cl.to_device(image()), cl.to_device(weights()), n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(convolve, n, tile, n, tile);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, size_t{n} * n); });
}

#endif
