// Iteration counts of the Mandelbrot set: a loop that every lane leaves at its own time.
#include <vector>

#include "check.h"

__host__ __device__ inline int escape(float cx, float cy, int limit) {
  float x = 0, y = 0;
  int i = 0;
  while (i < limit) {
#ifdef __CUDA_ARCH__
    float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);  // no contraction: the host must agree
    if (__fadd_rn(xx, yy) > 4.0f) break;
    float xy = __fmul_rn(x, y);
    x = __fadd_rn(__fsub_rn(xx, yy), cx);
    y = __fadd_rn(__fadd_rn(xy, xy), cy);
#else
    volatile float xx = x * x, yy = y * y, sum = xx + yy, difference = xx - yy;
    if (sum > 4.0f) break;
    volatile float xy = x * y, twice = xy + xy;
    x = difference + cx;
    y = twice + cy;
#endif
    ++i;
  }
  return i;
}

__global__ void mandelbrot(int* out, int width, int height, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  out[py * width + px] = escape(px * (1.0f / 128) - 2.0f, py * (1.0f / 128) - 1.25f, limit);
}

int main() {
  const int width = 350, height = 320, limit = 256;
  std::vector<int> out(width * height);
  int* d;
  CHECK(cudaMalloc(&d, out.size() * sizeof(int)));
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  mandelbrot<<<grid, block>>>(d, width, height, limit);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  Verdict verdict;
  long long inside = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int want = escape(x * (1.0f / 128) - 2.0f, y * (1.0f / 128) - 1.25f, limit);
      verdict.equal(out[y * width + x], want, "count", y * width + x);
      inside += want == limit;
    }
  }
  verdict.expect(inside > 1000, "points inside the set");
  return verdict.finish();
}
