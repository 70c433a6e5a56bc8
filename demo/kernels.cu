// The demo's kernels. They call no math library: what goes beyond + - * / is one PTX instruction
// each, written as such, so that kernels.ptx (made from this file by demo/make_ptx) is ours alone.
// Used by cuda_main.cu, and as PTX by driver_main.cpp.
#include "kernel_types.h"

namespace {

__device__ float rsqrt_fast(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float sqrt_fast(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float log2_fast(float x) {
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float cos_fast(float x) {
  float y;
  asm("cos.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float clamp01(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }

__device__ unsigned char to_byte(float x) {
  return static_cast<unsigned char>(clamp01(x) * 255.0f + 0.5f);
}

}  // namespace

extern "C" {

// One thread a sample: iterations until |z| > 16, as a smooth count; 0 inside the set.
__global__ void fractal_samples(float* counts, int width, int height, float centre_x,
                                float centre_y, float step, int iterations_max) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cx = centre_x + (x - width * 0.5f) * step;
  float cy = centre_y + (y - height * 0.5f) * step;
  float zx = 0.0f, zy = 0.0f, size = 0.0f;
  int n = 0;
  for (; n < iterations_max; ++n) {
    float xx = zx * zx, yy = zy * zy;
    size = xx + yy;
    if (size > 256.0f) break;
    zy = 2.0f * zx * zy + cy;
    zx = xx - yy + cx;
  }
  counts[y * width + x] = n == iterations_max ? 0.0f : n + 4.0f - log2_fast(log2_fast(size));
}

// Averages `scale` x `scale` samples and colours them.
__global__ void fractal_colours(unsigned char* rgb, const float* counts, int width, int height,
                                int scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float red = 0.0f, green = 0.0f, blue = 0.0f;
  for (int j = 0; j < scale; ++j) {
    for (int i = 0; i < scale; ++i) {
      float count = counts[(y * scale + j) * width * scale + x * scale + i];
      if (count <= 0.0f) continue;
      float phase = 3.2f + sqrt_fast(count) * 0.55f;
      red += 0.5f + 0.5f * cos_fast(phase);
      green += 0.5f + 0.5f * cos_fast(phase + 0.6f);
      blue += 0.5f + 0.5f * cos_fast(phase + 1.1f);
    }
  }
  float share = 1.0f / (scale * scale);
  unsigned char* pixel = rgb + 3 * (y * width + x);
  pixel[0] = to_byte(red * share);
  pixel[1] = to_byte(green * share);
  pixel[2] = to_byte(blue * share);
}

// A weighted mean along x or along y. One block a segment of a line; the segment and its margins are
// staged in shared memory.
__global__ void blur(float* out, const float* in, int width, int height, int along_x,
                     const float* weights, int radius) {
  __shared__ float stage[blur_block + 2 * blur_radius_max];
  int length = along_x ? width : height;
  int line = blockIdx.y;
  int base = blockIdx.x * blur_block;
  int stride = along_x ? 1 : width;
  const float* source = in + (along_x ? line * width : line);
  for (int i = threadIdx.x; i < blur_block + 2 * radius; i += blockDim.x) {
    int at = base + i - radius;
    at = at < 0 ? 0 : at >= length ? length - 1 : at;
    stage[i] = source[at * stride];
  }
  __syncthreads();
  int at = base + threadIdx.x;
  if (at >= length) return;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k)
    sum += weights[k + radius] * stage[threadIdx.x + radius + k];
  out[(along_x ? line * width : line) + at * stride] = sum;
}

// One colour of an RGB picture, 0 to 1.
__global__ void split(float* out, const unsigned char* rgb, int pixels, int channel) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) out[i] = rgb[3 * i + channel] / 255.0f;
}

// The reverse.
__global__ void merge(unsigned char* rgb, const float* in, int pixels, int channel) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) rgb[3 * i + channel] = to_byte(in[i]);
}

// Brightness of an RGB picture, 0 to 1.
__global__ void brightness(float* out, const unsigned char* rgb, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  out[i] = (0.2126f * rgb[3 * i] + 0.7152f * rgb[3 * i + 1] + 0.0722f * rgb[3 * i + 2]) / 255.0f;
}

// Length of the gradient (Sobel's), dark lines on white.
__global__ void edges(unsigned char* rgb, const float* in, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float gx = 0.0f, gy = 0.0f;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      int px = x + i, py = y + j;
      px = px < 0 ? 0 : px >= width ? width - 1 : px;
      py = py < 0 ? 0 : py >= height ? height - 1 : py;
      float value = in[py * width + px];
      gx += value * i * (j == 0 ? 2 : 1);
      gy += value * j * (i == 0 ? 2 : 1);
    }
  }
  float line = 1.0f - 2.0f * sqrt_fast(gx * gx + gy * gy);
  unsigned char* pixel = rgb + 3 * (y * width + x);
  pixel[0] = pixel[1] = pixel[2] = to_byte(line);
}

// One step of gravity between all bodies: every block reads all bodies through shared memory.
__global__ void gravity(Body* next, const Body* bodies, int count, float dt, float softening) {
  __shared__ float tile[gravity_block][4];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Body me = bodies[i < count ? i : 0];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int base = 0; base < count; base += gravity_block) {
    int j = base + threadIdx.x;
    bool there = j < count;
    tile[threadIdx.x][0] = there ? bodies[j].x : 0.0f;
    tile[threadIdx.x][1] = there ? bodies[j].y : 0.0f;
    tile[threadIdx.x][2] = there ? bodies[j].z : 0.0f;
    tile[threadIdx.x][3] = there ? bodies[j].mass : 0.0f;
    __syncthreads();
    for (int k = 0; k < gravity_block; ++k) {
      float x = tile[k][0] - me.x, y = tile[k][1] - me.y, z = tile[k][2] - me.z;
      float inverse = rsqrt_fast(x * x + y * y + z * z + softening);
      float pull = tile[k][3] * inverse * inverse * inverse;
      ax += x * pull;
      ay += y * pull;
      az += z * pull;
    }
    __syncthreads();
  }
  if (i >= count) return;
  me.vx += ax * dt;
  me.vy += ay * dt;
  me.vz += az * dt;
  me.x += me.vx * dt;
  me.y += me.vy * dt;
  me.z += me.vz * dt;
  next[i] = me;
}

// Adds each body to the pixel it is seen in: bodies of the first galaxy to one plane, of the second
// to another.
__global__ void splat(unsigned* density, const Body* bodies, int count, int width, int height,
                      float scale, unsigned weight) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int x = static_cast<int>(width * 0.5f + bodies[i].x * scale);
  int y = static_cast<int>(height * 0.5f + (bodies[i].y * 0.8f + bodies[i].z * 0.6f) * scale);
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  atomicAdd(&density[(bodies[i].galaxy * height + y) * width + x], weight);
}

// Light of two density planes on a logarithmic scale.
__global__ void develop(unsigned char* rgb, const unsigned* density, int width, int height,
                        float gain) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  float a = log2_fast(1.0f + density[i] * gain) * 0.125f;
  float b = log2_fast(1.0f + density[i + width * height] * gain) * 0.125f;
  rgb[3 * i] = to_byte(0.02f + 1.05f * a + 0.45f * b);
  rgb[3 * i + 1] = to_byte(0.02f + 0.75f * a + 0.70f * b);
  rgb[3 * i + 2] = to_byte(0.05f + 0.50f * a + 1.10f * b);
}

}  // extern "C"
