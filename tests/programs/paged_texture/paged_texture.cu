// A texture that is larger than the memory it has, as renderers page theirs in: kernels ask for the
// tiles that they miss, the host maps and fills those, and the kernel runs again until it has all.
#include <cuda.h>

#include <vector>

#include "check.h"

template <typename Function>
static Function* find(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status));
  if (!found) std::printf("no %s\n", name);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER_CHECK(call)                                         \
  do {                                                             \
    const int code_ = (call);                                      \
    if (code_) {                                                   \
      std::printf("%d: %s: %d\nFAILED\n", __LINE__, #call, code_); \
      std::exit(1);                                                \
    }                                                              \
  } while (0)

constexpr int width = 2048, height = 1024, samples = 4096;

__host__ __device__ float texel(int x, int y) { return float(y * width + x); }

/// A band across the texture: tiles far from it are never asked for.
__host__ __device__ void place(int i, int* x, int* y) {
  *x = i * (width - 1) / (samples - 1);
  *y = (*x / 4 + i * 13 % 50) % height;
}

__global__ void sample(cudaTextureObject_t texture, const int* resident, int* wanted,
                       int tile_width, int tile_height, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x, y;
  place(i, &x, &y);
  const int tile = y / tile_height * (width / tile_width) + x / tile_width;
  if (!resident[tile]) atomicExch(wanted + tile, 1);
  out[i] = tex2D<float>(texture, float(x) + 0.5f, float(y) + 0.5f);
}

int main() {
  Verdict verdict;
  auto* create = find<decltype(cuMemCreate)>("cuMemCreate");
  auto* map = find<decltype(cuMemMapArrayAsync)>("cuMemMapArrayAsync");
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, 0), cudaArraySparse));
  cudaArraySparseProperties tiles{};
  CHECK(cudaArrayGetSparseProperties(&tiles, array));
  const int tw = int(tiles.tileExtent.width), th = int(tiles.tileExtent.height);
  const int columns = width / tw, count = columns * (height / th);
  const size_t tile_bytes = size_t(tw) * th * sizeof(float);

  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
  CUmemGenericAllocationHandle pool;
  const size_t pool_bytes = size_t(4) << 20;  // half of the texture
  DRIVER_CHECK(create(&pool, pool_bytes, &prop, 0));

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  int *resident, *wanted;
  float* out;
  CHECK(cudaMallocManaged(&resident, count * sizeof(int)));
  CHECK(cudaMallocManaged(&wanted, count * sizeof(int)));
  CHECK(cudaMallocManaged(&out, samples * sizeof(float)));

  CUarrayMapInfo info{};
  info.resourceType = CU_RESOURCE_TYPE_ARRAY;
  info.resource.array = reinterpret_cast<CUarray>(array);
  info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
  info.deviceBitMask = 1;
  auto& at = info.subresource.sparseLevel;
  at.extentWidth = tw, at.extentHeight = th, at.extentDepth = 1;
  size_t used = 0;
  int rounds = 0;
  for (bool missing = true; missing && rounds < 3; ++rounds) {
    sample<<<samples / 128, 128>>>(texture, resident, wanted, tw, th, out);
    CHECK(cudaDeviceSynchronize());
    missing = false;
    for (int tile = 0; tile < count; ++tile) {
      if (!wanted[tile]) continue;
      missing = true;
      wanted[tile] = 0;
      at.offsetX = unsigned(tile % columns * tw), at.offsetY = unsigned(tile / columns * th);
      info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
      info.memHandle.memHandle = pool;
      info.offset = used * tile_bytes;
      if (!verdict.expect(++used * tile_bytes <= pool_bytes, "the pool is large enough")) return 1;
      DRIVER_CHECK(map(&info, 1, nullptr));
      std::vector<float> texels(size_t(tw) * th);
      for (int y = 0; y < th; ++y)
        for (int x = 0; x < tw; ++x)
          texels[size_t(y) * tw + x] = texel(int(at.offsetX) + x, int(at.offsetY) + y);
      CHECK(cudaMemcpy2DToArray(array, at.offsetX * sizeof(float), at.offsetY, texels.data(),
                                tw * sizeof(float), tw * sizeof(float), th,
                                cudaMemcpyHostToDevice));
      resident[tile] = 1;
    }
  }
  verdict.equal(rounds, 2, "rounds");
  verdict.expect(used > 8 && used < size_t(count) / 2, "some tiles", static_cast<long long>(used));
  for (int i = 0; i < samples; ++i) {
    int x, y;
    place(i, &x, &y);
    verdict.equal(out[i], texel(x, y), "sample", i);
  }
  // All tiles away at once: nothing is left to see.
  at.offsetX = at.offsetY = 0;
  at.extentWidth = width, at.extentHeight = height;
  info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
  info.memHandle.memHandle = 0;
  info.offset = 0;
  DRIVER_CHECK(map(&info, 1, nullptr));
  sample<<<samples / 128, 128>>>(texture, resident, wanted, tw, th, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < samples; ++i) verdict.equal(out[i], 0.0f, "unmapped", i);
  return verdict.finish();
}
