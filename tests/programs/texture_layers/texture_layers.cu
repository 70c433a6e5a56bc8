// Layered, cubemap and mipmapped textures against a host reference, with the views of a resource,
// levels by number and by gradients, and descriptors read back.
#include <cmath>
#include <vector>

#include "check.h"

__global__ void layers_2d(cudaTextureObject_t t, float* out) {
  int x = threadIdx.x, y = blockIdx.x, layer = int(blockIdx.y) - 1;
  out[(blockIdx.y * gridDim.x + y) * blockDim.x + x] =
      tex2DLayered<float>(t, x + 0.5f, y + 0.5f, layer);
}

__global__ void layers_1d(cudaTextureObject_t t, int2* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      tex1DLayered<int2>(t, threadIdx.x + 0.5f, int(blockIdx.x));
}

__global__ void cube(cudaTextureObject_t t, const float3* d, float* out, int count, int layer) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = layer < 0 ? texCubemap<float>(t, d[i].x, d[i].y, d[i].z)
                     : texCubemapLayered<float>(t, d[i].x, d[i].y, d[i].z, layer);
}

__global__ void levels(cudaTextureObject_t t, const float* lod, float* out, int count) {
  int i = threadIdx.x;
  if (i < count) out[i] = tex2DLod<float>(t, 0.3f, 0.7f, lod[i]);
}

__global__ void gradients(cudaTextureObject_t t, const float* step, float* out, int count) {
  int i = threadIdx.x;
  if (i < count)
    out[i] = tex2DGrad<float>(t, 0.3f, 0.7f, make_float2(step[i], 0), make_float2(0, step[i] / 2));
}

template <typename T>
static void upload(cudaArray_t array, const std::vector<T>& data, int w, int h, int d) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(data.data()), w * sizeof(T), w, h);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(w, h, d);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
}

static cudaTextureObject_t texture(cudaArray_t array, const cudaTextureDesc& how,
                                   const cudaResourceViewDesc* view = nullptr) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &resource, &how, view));
  return t;
}

template <typename T>
static std::vector<T> fetched(const T* device, size_t count) {
  std::vector<T> out(count);
  CHECK(cudaMemcpy(out.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

static void layered(Verdict& verdict) {
  const int w = 24, h = 4, d = 5;
  std::vector<float> image(w * h * d);
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i);
  cudaArray_t array;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d), cudaArrayLayered));
  upload(array, image, w, h, d);
  cudaTextureDesc how = {};
  cudaTextureObject_t t = texture(array, how);
  float* out;
  CHECK(cudaMalloc(&out, w * h * (d + 2) * sizeof(float)));
  layers_2d<<<dim3(h, d + 2), w>>>(t, out);
  std::vector<float> got = fetched(out, w * h * (d + 2));
  bool right = true;
  for (int z = 1; z <= d + 1; ++z)  // the first asks for layer -1: any of them
    for (int i = 0; i < w * h; ++i)
      right &= got[z * w * h + i] == image[(z - 1 < d ? z - 1 : d - 1) * w * h + i];
  verdict.expect(right, "2D layers, clamped");
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = w, view.height = h, view.depth = d;  // the array's: an H200 refuses others
  view.firstLayer = 2, view.lastLayer = 3;
  cudaTextureObject_t part = texture(array, how, &view);
  layers_2d<<<dim3(h, 3), w>>>(part, out);
  got = fetched(out, w * h * 3);
  right = true;
  for (int z = 1; z < 3; ++z)
    for (int i = 0; i < w * h; ++i) right &= got[z * w * h + i] == image[(z + 1) * w * h + i];
  verdict.expect(right, "a view of two layers");
  cudaResourceViewDesc back;
  CHECK(cudaGetTextureObjectResourceViewDesc(&back, part));
  verdict.expect(back.firstLayer == 2 && back.lastLayer == 3, "the view read back");
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags;
  CHECK(cudaArrayGetInfo(&format, &extent, &flags, array));
  verdict.expect(extent.width == w && extent.height == h && extent.depth == d &&
                     flags == cudaArrayLayered && format.x == 32 && format.y == 0,
                 "cudaArrayGetInfo");

  cudaArray_t lines;
  cudaChannelFormatDesc pair = cudaCreateChannelDesc<int2>();
  CHECK(cudaMalloc3DArray(&lines, &pair, make_cudaExtent(w, 0, d), cudaArrayLayered));
  std::vector<int2> values(w * d);
  for (int i = 0; i < w * d; ++i) values[i] = make_int2(i, -i * i);
  upload(lines, values, w, 1, d);
  cudaTextureObject_t line = texture(lines, how);
  int2* pairs;
  CHECK(cudaMalloc(&pairs, w * d * sizeof(int2)));
  layers_1d<<<d, w>>>(line, pairs);
  std::vector<int2> got_pairs = fetched(pairs, w * d);
  right = true;
  for (int i = 0; i < w * d; ++i) right &= got_pairs[i].x == i && got_pairs[i].y == -i * i;
  verdict.expect(right, "1D layers");
}

/// source: CUDA C++ Programming Guide 13.0, table of cubemap faces.
static int texel_of(float3 v, int n) {
  const float ax = std::fabs(v.x), ay = std::fabs(v.y), az = std::fabs(v.z);
  int face;
  float m, s, t;
  if (ax > ay && ax > az) {
    face = v.x < 0, m = ax, s = v.x < 0 ? v.z : -v.z, t = -v.y;
  } else if (ay > ax && ay > az) {
    face = 2 + (v.y < 0), m = ay, s = v.x, t = v.y < 0 ? -v.z : v.z;
  } else {
    face = 4 + (v.z < 0), m = az, s = v.z < 0 ? -v.x : v.x, t = -v.y;
  }
  const int i = int(std::floor((s / m + 1) / 2 * n)), j = int(std::floor((t / m + 1) / 2 * n));
  return (face * n + j) * n + i;
}

static void cubes(Verdict& verdict) {
  const int n = 8, cubes = 2;
  std::vector<float> image(n * n * 6 * cubes);
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i);
  std::vector<float3> directions;
  for (float a : {-0.93f, -0.61f, -0.28f, 0.07f, 0.43f, 0.81f})
    for (float b : {-0.87f, -0.55f, -0.21f, 0.13f, 0.38f, 0.94f})
      for (float s : {-1.0f, 1.0f}) {
        directions.push_back(make_float3(s, a, b));
        directions.push_back(make_float3(a * 3, s * 3, b * 3));
        directions.push_back(make_float3(a / 2, b / 2, s / 2));
      }
  const int count = int(directions.size());
  float3* d;
  float* out;
  CHECK(cudaMalloc(&d, count * sizeof(float3)));
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  CHECK(cudaMemcpy(d, directions.data(), count * sizeof(float3), cudaMemcpyHostToDevice));
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc how = {};
  how.normalizedCoords = 1;
  for (auto& a : how.addressMode) a = cudaAddressModeClamp;
  for (bool layers : {false, true}) {
    cudaArray_t array;
    const int depth = layers ? 6 * cubes : 6;
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(n, n, depth),
                            cudaArrayCubemap | (layers ? cudaArrayLayered : 0)));
    upload(array, image, n, n, depth);
    cudaTextureObject_t t = texture(array, how);
    cube<<<(count + 63) / 64, 64>>>(t, d, out, count, layers ? 1 : -1);
    const std::vector<float> got = fetched(out, count);
    bool right = true;
    for (int i = 0; i < count; ++i)
      right &= got[i] == image[texel_of(directions[i], n) + (layers ? n * n * 6 : 0)];
    verdict.expect(right, layers ? "layered cubemap" : "cubemap");
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeArray(array));
  }
}

static void mipmaps(Verdict& verdict) {
  const int n = 16, count = 5;
  cudaMipmappedArray_t mipmapped;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&mipmapped, &desc, make_cudaExtent(n, n, 0), 99));
  for (int level = 0; level < count; ++level) {
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmapped, level));
    const int side = n >> level;
    upload(array, std::vector<float>(side * side, float(level * 100)), side, side, 1);
  }
  cudaArray_t none;
  verdict.expect(cudaGetMipmappedArrayLevel(&none, mipmapped, count) != cudaSuccess, "five levels");
  (void)cudaGetLastError();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  cudaTextureDesc how = {};
  how.normalizedCoords = 1;
  how.filterMode = cudaFilterModeLinear;
  how.maxMipmapLevelClamp = 3.5f;
  how.minMipmapLevelClamp = 0.25f;
  const std::vector<float> lods = {-5, 0, 0.25f, 0.5f, 0.75f, 1, 1.5f, 2.25f, 3, 3.5f, 4, 100};
  const int m = int(lods.size());
  float *d, *out;
  CHECK(cudaMalloc(&d, m * sizeof(float)));
  CHECK(cudaMalloc(&out, m * sizeof(float)));
  CHECK(cudaMemcpy(d, lods.data(), m * sizeof(float), cudaMemcpyHostToDevice));
  for (bool linear : {false, true}) {
    how.mipmapFilterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    levels<<<1, 32>>>(t, d, out, m);
    std::vector<float> got = fetched(out, m);
    for (int i = 0; i < m; ++i) {
      const float lod = std::fmin(std::fmax(lods[i], 0.25f), 3.5f);
      // Halves may go either way between levels.
      if (linear) verdict.near(got[i], lod * 100, 0.01, "linear between levels", i);
      else if (lod - std::floor(lod) != 0.5f)
        verdict.equal(got[i], std::floor(lod + 0.5f) * 100, "the nearest level", i);
    }
    // A step of 2^k texels is level k.
    std::vector<float> steps;
    for (int k = 0; k < 5; ++k) steps.push_back(float(1 << k) / n);
    CHECK(cudaMemcpy(d, steps.data(), 5 * sizeof(float), cudaMemcpyHostToDevice));
    gradients<<<1, 32>>>(t, d, out, 5);
    got = fetched(out, 5);
    for (int k = 1; k < 4; ++k) verdict.near(got[k], k * 100, 0.02, "the level of a gradient", k);
    CHECK(cudaMemcpy(d, lods.data(), m * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaDestroyTextureObject(t));
  }
  CHECK(cudaFreeMipmappedArray(mipmapped));
}

int main() {
  Verdict verdict;
  layered(verdict);
  cubes(verdict);
  mipmaps(verdict);
  return verdict.finish();
}
