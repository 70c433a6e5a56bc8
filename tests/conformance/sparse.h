// Sparse arrays and the tile pools behind them. Thread rule: as conform.h.
#pragma once
#include <vector>

#include "conformance/conform.h"

namespace limen::conform {

constexpr size_t tile_bytes = 64 << 10;

inline CUarray sparse_array(size_t width, size_t height, size_t depth = 0, unsigned flags = 0,
                            CUarray_format format = CU_AD_FORMAT_FLOAT, unsigned channels = 1) {
  CUDA_ARRAY3D_DESCRIPTOR desc{width, height, depth, format, channels, flags | CUDA_ARRAY3D_SPARSE};
  CUarray array = nullptr;
  REQUIRE(cuArray3DCreate(&array, &desc));
  return array;
}

/// 2 MiB of device 0 that arrays may be mapped onto: 32 tiles.
inline CUmemGenericAllocationHandle tile_pool(unsigned usage = CU_MEM_CREATE_USAGE_TILE_POOL) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.allocFlags.usage = static_cast<unsigned short>(usage);
  CUmemGenericAllocationHandle handle = 0;
  REQUIRE(cuMemCreate(&handle, 2 << 20, &prop, 0));
  return handle;
}

/// Maps the tiles of a box of texels, or unmaps them where there is no pool.
inline CUarrayMapInfo tiles_of(CUarray array, CUmemGenericAllocationHandle pool, size_t offset,
                               unsigned x, unsigned y, unsigned width, unsigned height) {
  CUarrayMapInfo info{};
  info.resourceType = CU_RESOURCE_TYPE_ARRAY;
  info.resource.array = array;
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
  auto& at = info.subresource.sparseLevel;
  at.offsetX = x, at.offsetY = y;
  at.extentWidth = width, at.extentHeight = height, at.extentDepth = 1;
  info.memOperationType = pool ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP;
  info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
  info.memHandle.memHandle = pool;
  info.offset = offset;
  info.deviceBitMask = 1;
  return info;
}
inline CUarrayMapInfo tiles_of(CUmipmappedArray array, unsigned level,
                               CUmemGenericAllocationHandle pool, size_t offset, unsigned width,
                               unsigned height) {
  CUarrayMapInfo info = tiles_of(CUarray{nullptr}, pool, offset, 0, 0, width, height);
  info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  info.resource.mipmap = array;
  info.subresource.sparseLevel.level = level;
  return info;
}
inline CUarrayMapInfo tail_of(CUmipmappedArray array, CUmemGenericAllocationHandle pool,
                              size_t offset, size_t bytes, unsigned layer = 0) {
  CUarrayMapInfo info = tiles_of(array, 0, pool, offset, 0, 0);
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
  info.subresource = {};
  info.subresource.miptail.layer = layer;
  info.subresource.miptail.size = bytes;
  return info;
}

inline CUresult map(CUarrayMapInfo info, CUstream stream = nullptr) {
  return cuMemMapArrayAsync(&info, 1, stream);
}

/// Writes or reads one float of an array.
inline CUresult copy_texel(CUarray array, size_t x, size_t y, size_t z, float* value, bool write) {
  CUDA_MEMCPY3D copy{};
  (write ? copy.srcMemoryType : copy.dstMemoryType) = CU_MEMORYTYPE_HOST;
  (write ? copy.dstMemoryType : copy.srcMemoryType) = CU_MEMORYTYPE_ARRAY;
  copy.srcHost = write ? value : nullptr;
  copy.dstHost = write ? nullptr : value;
  (write ? copy.dstArray : copy.srcArray) = array;
  (write ? copy.dstXInBytes : copy.srcXInBytes) = x * 4;
  (write ? copy.dstY : copy.srcY) = y;
  (write ? copy.dstZ : copy.srcZ) = z;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  return cuMemcpy3D(&copy);
}
inline float texel(CUarray array, size_t x, size_t y, size_t z = 0) {
  float value = -1;
  REQUIRE(copy_texel(array, x, y, z, &value, false));
  return value;
}
inline void set_texel(CUarray array, size_t x, size_t y, float value, size_t z = 0) {
  REQUIRE(copy_texel(array, x, y, z, &value, true));
}

/// A box of floats from the corner of an array's first slice.
inline std::vector<float> texels(CUarray array, size_t width, size_t height) {
  std::vector<float> values(width * height, -1);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = values.data();
  copy.dstPitch = copy.WidthInBytes = width * 4;
  copy.Height = height;
  REQUIRE(cuMemcpy2D(&copy));
  return values;
}
/// Texel (x, y) becomes first + y * width + x.
inline void count_texels(CUarray array, size_t width, size_t height, float first) {
  std::vector<float> values(width * height);
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values.data();
  copy.srcPitch = copy.WidthInBytes = width * 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.Height = height;
  REQUIRE(cuMemcpy2D(&copy));
}

inline CUmipmappedArray mipmapped(size_t width, size_t height, size_t depth, unsigned levels,
                                  unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR desc{width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
  CUmipmappedArray array = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&array, &desc, levels));
  return array;
}
inline CUarray level_of(CUmipmappedArray array, unsigned level) {
  CUarray out = nullptr;
  REQUIRE(cuMipmappedArrayGetLevel(&out, array, level));
  return out;
}

}  // namespace limen::conform
