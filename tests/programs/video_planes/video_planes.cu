// A video frame in NV12: planes of one array are filled by copies, read as textures by a kernel
// that makes RGB of them, and the chroma plane is written through a surface.
#include <vector>

#include "check.h"

constexpr int width = 320, height = 180;

__global__ void to_rgb(cudaTextureObject_t luma, cudaTextureObject_t chroma, float3* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float l = tex2D<float>(luma, x + 0.5f, y + 0.5f);
  const float2 c = tex2D<float2>(chroma, x / 2 + 0.5f, y / 2 + 0.5f);
  const float u = c.x - 0.5f, v = c.y - 0.5f;
  out[y * width + x] = make_float3(l + 1.5f * v, l - 0.25f * u - 0.5f * v, l + 1.75f * u);
}

__global__ void swap_chroma(cudaSurfaceObject_t chroma) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width / 2 || y >= height / 2) return;
  const uchar2 c = surf2Dread<uchar2>(chroma, x * 2, y);
  surf2Dwrite(make_uchar2(c.y, c.x), chroma, x * 2, y);
}

static cudaTextureObject_t texture_of(cudaArray_t plane) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = plane;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

int main() {
  Verdict verdict;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<cudaChannelFormatKindNV12>();
  cudaArray_t frame, luma, chroma;
  // The runtime has no name for CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, which such formats need.
  CHECK(cudaMallocArray(&frame, &format, width, height, cudaArraySurfaceLoadStore | 0x100));
  CHECK(cudaArrayGetPlane(&luma, frame, 0));
  CHECK(cudaArrayGetPlane(&chroma, frame, 1));
  std::vector<unsigned char> y(width * height), uv(width * height / 2);
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<unsigned char>(i * 31 >> 4);
  for (size_t i = 0; i < uv.size(); ++i) uv[i] = static_cast<unsigned char>(i * 77 >> 3);
  CHECK(cudaMemcpy2DToArray(luma, 0, 0, y.data(), width, width, height, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DToArray(chroma, 0, 0, uv.data(), width, width, height / 2,
                            cudaMemcpyHostToDevice));
  float3* out;
  CHECK(cudaMallocManaged(&out, width * height * sizeof(float3)));
  const dim3 block(32, 4), grid(width / 32, height / 4);
  to_rgb<<<grid, block>>>(texture_of(luma), texture_of(chroma), out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < width * height; ++i) {
    const int pair = i / width / 2 * width + i % width / 2 * 2;
    const float l = y[i] / 255.0f, u = uv[pair] / 255.0f - 0.5f, v = uv[pair + 1] / 255.0f - 0.5f;
    verdict.expect(std::fabs(out[i].x - (l + 1.5f * v)) < 1e-5f &&
                       std::fabs(out[i].y - (l - 0.25f * u - 0.5f * v)) < 1e-5f &&
                       std::fabs(out[i].z - (l + 1.75f * u)) < 1e-5f,
                   "pixel", i);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = chroma;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  swap_chroma<<<grid, block>>>(surface);
  std::vector<unsigned char> back(uv.size());
  CHECK(cudaMemcpy2DFromArray(back.data(), width, chroma, 0, 0, width, height / 2,
                              cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < uv.size(); ++i) verdict.equal(int(back[i]), int(uv[i ^ 1]), "chroma", i);
  CHECK(cudaMemcpy2DFromArray(y.data(), width, luma, 0, 0, width, height, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < y.size(); ++i)
    verdict.equal(int(y[i]), int(static_cast<unsigned char>(i * 31 >> 4)), "luma", i);
  return verdict.finish();
}
