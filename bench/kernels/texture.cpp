// 2048 x 2048 bilinear samples of a 2048 x 2048 float texture, turned by 27 degrees, edges clamped.
// Textures weigh by 256ths (the corners' weights are rounded too, which the tolerance covers), so
// OpenMP rounds its coordinates likewise. These are whole 4096ths, odd ones: exact in every peer,
// and never half-way between two weights.
#include "bench.h"

constexpr int n = 2048;

static std::vector<float> texels() { return bench::random_floats(size_t{n} * n, 33); }

#define COORDINATES(x, y)                                                   \
  float u = (1826.0f * x + 930.0f * y) * (1.0f / 2048.0f) + 0x1p-12f;       \
  float v = (1826.0f * y - 930.0f * x) * (1.0f / 2048.0f) + 256.0f + 0x1p-12f;

#if defined(PEER_CUDA)

__global__ void turn(float* out, cudaTextureObject_t texture, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  COORDINATES(x, y)
  out[y * size + x] = tex2D<float>(texture, u, v);
}

int main(int argc, char** argv) {
  std::vector<float> host = texels();
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CUDA_OK(cudaMallocArray(&array, &format, n, n));
  CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, host.data(), n * sizeof(float), n * sizeof(float), n,
                              cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CUDA_OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  float* out = bench::on_device<float>(size_t{n} * n);
  return bench::measure(
      argc, argv,
      [&] {
        turn<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(out, texture, n);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{n} * n); });
}

#elif defined(PEER_OPENMP)

constexpr int positive = 1024 * 256;

// By value, not std::clamp by reference: g++ vectorises only this.
static inline int clamp(int i) { return i < 0 ? 0 : i > n - 1 ? n - 1 : i; }

int main(int argc, char** argv) {
  std::vector<float> in = texels(), out(in.size());
  return bench::measure(
      argc, argv,
      [&] {
        const float* from = in.data();
        float* to = out.data();
#pragma omp parallel for
        for (int y = 0; y < n; ++y)
#pragma omp simd
          for (int x = 0; x < n; ++x) {
            COORDINATES(x, y)
            // Rounded to 256ths, less half a texel; kept positive, so that a cast rounds down, which
            // g++ vectorises where it does not vectorise floor.
            int fu = static_cast<int>(u * 256.0f + (positive + 0.5f)) - positive - 128;
            int fv = static_cast<int>(v * 256.0f + (positive + 0.5f)) - positive - 128;
            int x0 = fu >> 8, y0 = fv >> 8, x1 = x0 + 1, y1 = y0 + 1;
            float a = (fu & 255) * (1.0f / 256.0f), b = (fv & 255) * (1.0f / 256.0f);
            x0 = clamp(x0), x1 = clamp(x1), y0 = clamp(y0), y1 = clamp(y1);
            float above = (1.0f - a) * from[y0 * n + x0] + a * from[y0 * n + x1];
            float below = (1.0f - a) * from[y1 * n + x0] + a * from[y1 * n + x1];
            to[y * n + x] = (1.0f - b) * above + b * below;
          }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
                                CLK_FILTER_LINEAR;
    kernel void turn(global float* out, read_only image2d_t texture, int size) {
      int x = get_global_id(0), y = get_global_id(1);
      float u = (1826.0f * x + 930.0f * y) * (1.0f / 2048.0f) + 0x1p-12f;
      float v = (1826.0f * y - 930.0f * x) * (1.0f / 2048.0f) + 256.0f + 0x1p-12f;
      out[y * size + x] = read_imagef(texture, linear, (float2)(u, v)).x;
    })");
  cl_mem image = cl.to_image(texels(), n, n);
  cl_mem out = cl.on_device<float>(size_t{n} * n);
  cl_kernel turn = cl.kernel("turn", out, image, n);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(turn, n, 32, n, 8);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, size_t{n} * n); });
}

#endif
