// Iteration counts of 1024 x 1024 points, at most 256: divergent, no memory.
#include "bench.h"

constexpr int size = 1024, iterations_max = 256;
constexpr float left = -2.2f, low = -1.5f, step = 3.0f / size;

#if defined(PEER_CUDA)

__global__ void mandelbrot(int* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float cx = left + x * step, cy = low + y * step, zx = 0.0f, zy = 0.0f;
  int k = 0;
  for (; k < iterations_max; ++k) {
    float xx = zx * zx, yy = zy * zy;
    if (xx + yy > 4.0f) break;
    zy = 2.0f * zx * zy + cy;
    zx = xx - yy + cx;
  }
  out[y * n + x] = k;
}

int main(int argc, char** argv) {
  int* out = bench::on_device<int>(size * size);
  return bench::measure(
      argc, argv,
      [&] {
        mandelbrot<<<dim3(size / 32, size / 8), dim3(32, 8)>>>(out, size);
        bench::finish();
      },
      [&] { return bench::from_device(out, size * size); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<int> out(size * size);
  return bench::measure(
      argc, argv,
      [&] {
        int* to = out.data();
#pragma omp parallel for schedule(dynamic, 8)
        for (int y = 0; y < size; ++y) {
          for (int x = 0; x < size; ++x) {
            float cx = left + x * step, cy = low + y * step, zx = 0.0f, zy = 0.0f;
            int k = 0;
            for (; k < iterations_max; ++k) {
              float xx = zx * zx, yy = zy * zy;
              if (xx + yy > 4.0f) break;
              zy = 2.0f * zx * zy + cy;
              zx = xx - yy + cx;
            }
            to[y * size + x] = k;
          }
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void mandelbrot(global int* out, int n, float left, float low, float step) {
      int x = get_global_id(0), y = get_global_id(1);
      float cx = left + x * step, cy = low + y * step, zx = 0.0f, zy = 0.0f;
      int k = 0;
      for (; k < 256; ++k) {
        float xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0f) break;
        zy = 2.0f * zx * zy + cy;
        zx = xx - yy + cx;
      }
      out[y * n + x] = k;
    })");
  cl_mem out = cl.on_device<int>(size * size);
  cl_kernel mandelbrot = cl.kernel("mandelbrot", out, size, left, low, step);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(mandelbrot, size, 32, size, 8);
        cl.finish();
      },
      [&] { return cl.from_device<int>(out, size * size); });
}

#endif
