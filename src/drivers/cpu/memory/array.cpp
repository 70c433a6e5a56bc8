// cuArray* and cuMipmappedArray*: made, described and freed. Copies are in copy.cpp.
// Sparse, deferred, depth and multi-planar arrays are refused by name. Thread rule: any thread.
#include "drivers/cpu/memory/array.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

constexpr uint64_t row_align_bytes = 64, level_align_bytes = 512;

/// Every live array that is no level, and every mipmapped array.
struct Registry {
  std::mutex mutex;
  std::set<Array*> arrays;
  std::set<MipmappedArray*> mipmapped;
};
Registry& registry() {
  static auto* made = new Registry;
  return *made;
}

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/// The shape of one level; width etc. as the descriptor says them (0: no such dimension).
engine::Image image_of(const CUDA_ARRAY3D_DESCRIPTOR& d, uint32_t texel_bytes) {
  engine::Image image;
  image.width = static_cast<uint32_t>(d.Width);
  image.height = static_cast<uint32_t>(std::max<size_t>(d.Height, 1));
  image.depth = static_cast<uint32_t>(std::max<size_t>(d.Depth, 1));
  image.pitch = round_up(d.Width * texel_bytes, row_align_bytes);
  image.slice = image.pitch * image.height;
  return image;
}

/// Whether CUDA has the format: block-compressed, planar and 10-bit ones, beside the built ones.
bool is_array_format(CUarray_format format) {
  const unsigned n = format;
  return n == CU_AD_FORMAT_UNORM_INT_101010_2 ||
         (n >= CU_AD_FORMAT_BC1_UNORM && n <= CU_AD_FORMAT_P010) ||
         (n >= CU_AD_FORMAT_P016 && n <= CU_AD_FORMAT_Y410) ||
         (n >= CU_AD_FORMAT_NV12 && n <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar);
}

CUresult refuse(const char* what) {
  return report({Code::not_supported, fmt::format("{} arrays are not built yet", what), ""});
}

/// source: CUDA Driver API 13.0, cuArray3DCreate: table of valid extents, by attribute.
bool fits(const CUDA_ARRAY3D_DESCRIPTOR& d, const Device& device) {
  auto most = [&](CUdevice_attribute attribute) {
    return static_cast<size_t>(device.limit(attribute));
  };
  const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED, cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (cube && layered)
    return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH) &&
           d.Depth <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS);
  if (cube) return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
  if (layered && !d.Height)
    return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH) &&
           d.Depth <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS);
  if (layered)
    return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH) &&
           d.Height <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT) &&
           d.Depth <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS);
  if (d.Depth) {
    const size_t w = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH),
                 h = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT),
                 z = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH);
    const size_t w2 = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
                 h2 = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
                 z2 = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE);
    return (d.Width <= w && d.Height <= h && d.Depth <= z) ||
           (d.Width <= w2 && d.Height <= h2 && d.Depth <= z2);
  }
  if (!d.Height) return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  if (d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
    return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH) &&
           d.Height <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT);
  return d.Width <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH) &&
         d.Height <= most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
}

CUresult check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR& d, const Device& device,
                          TexelLayout* texels) {
  // Flags that CUDA does not have are ignored. measured H200, driver 580.x
  if (d.Flags & CUDA_ARRAY3D_SPARSE) return refuse("sparse");
  if (d.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) return refuse("deferred-mapping");
  if (d.Flags & CUDA_ARRAY3D_DEPTH_TEXTURE) return refuse("depth-texture");
  if (d.Flags & CUDA_ARRAY3D_VIDEO_ENCODE_DECODE) return refuse("video");
  if (CUresult result = layout_of(d.Format, d.NumChannels, texels)) return result;
  const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED, cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (!d.Width) return CUDA_ERROR_INVALID_VALUE;
  if (cube && (d.Width != d.Height || (layered ? !d.Depth || d.Depth % 6 : d.Depth != 6)))
    return CUDA_ERROR_INVALID_VALUE;
  if (layered && !d.Depth) return CUDA_ERROR_INVALID_VALUE;
  if (d.Depth && !d.Height && !layered) return CUDA_ERROR_INVALID_VALUE;
  if ((d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && (!d.Height || (d.Depth && !layered)))
    return CUDA_ERROR_INVALID_VALUE;
  return fits(d, device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Zeroed memory of the device: what a new array holds is undefined, and ours shall not differ from
/// run to run.
uint64_t allocate(Context& context, uint64_t bytes) {
  Allocator& memory = context.device.memory();
  uint64_t address = memory.allocate(bytes, MemoryKind::array, context.owner);
  if (!address) {
    trim_pools(context.device);
    address = memory.allocate(bytes, MemoryKind::array, context.owner);
  }
  if (address) std::memset(reinterpret_cast<void*>(address), 0, bytes);
  return address;
}

void wait_for_use(uint32_t owner) {
  Context* context = context_of_owner(owner);
  if (context && context->busy()) context->synchronize();
}

void release(uint64_t memory) {
  if (Allocator* allocator = driver().allocator_of(memory)) allocator->release(memory);
}

CUresult create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& desc) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  TexelLayout texels;
  if (CUresult result = check_descriptor(desc, context->device, &texels)) return result;
  engine::Image image = image_of(desc, texels.bytes());
  const uint64_t memory = allocate(*context, image.slice * image.depth);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  Array* array = driver().arrays.create();
  if (!array) {
    release(memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  image.base = memory;
  array->owner = context->owner;
  array->desc = desc;
  array->texels = texels;
  array->image = image;
  array->memory = memory;
  {
    std::lock_guard lock(registry().mutex);
    registry().arrays.insert(array);
  }
  *handle = reinterpret_cast<CUarray>(array);
  return CUDA_SUCCESS;
}

/// Level `i` of a descriptor. Layers and faces stay.
CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR d, unsigned i) {
  auto smaller = [i](size_t n) { return n ? std::max<size_t>(n >> i, 1) : 0; };
  d.Width = smaller(d.Width);
  d.Height = smaller(d.Height);
  if (!(d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP))) d.Depth = smaller(d.Depth);
  return d;
}

unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  const bool layers = d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
  size_t longest = std::max(d.Width, std::max(d.Height, layers ? 1 : d.Depth));
  unsigned levels = 0;
  for (; longest; longest >>= 1) ++levels;
  return levels;
}

void destroy(MipmappedArray* mipmapped) {
  for (Array* level : mipmapped->levels) driver().arrays.destroy(level);
  driver().mipmapped_arrays.destroy(mipmapped);
}

}  // namespace

CUresult layout_of(CUarray_format format, unsigned channels, TexelLayout* out) {
  using engine::TexelFormat;
  if (channels != 1 && channels != 2 && channels != 4) return CUDA_ERROR_INVALID_VALUE;
  out->channels = static_cast<uint8_t>(channels);
  out->normalized = false;
  auto plain = [&](TexelFormat f) {
    out->format = f;
    return CUDA_SUCCESS;
  };
  // Three formats in a row for 1, 2 and 4 channels.
  auto normal = [&](TexelFormat f, CUarray_format first) {
    out->format = f;
    out->normalized = true;
    const unsigned step = static_cast<unsigned>(format) - static_cast<unsigned>(first);
    return channels == 1u << step ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return plain(TexelFormat::u8);
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return plain(TexelFormat::u16);
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return plain(TexelFormat::u32);
    case CU_AD_FORMAT_SIGNED_INT8:
      return plain(TexelFormat::s8);
    case CU_AD_FORMAT_SIGNED_INT16:
      return plain(TexelFormat::s16);
    case CU_AD_FORMAT_SIGNED_INT32:
      return plain(TexelFormat::s32);
    case CU_AD_FORMAT_HALF:
      return plain(TexelFormat::f16);
    case CU_AD_FORMAT_FLOAT:
      return plain(TexelFormat::f32);
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
      return normal(TexelFormat::u8, CU_AD_FORMAT_UNORM_INT8X1);
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
      return normal(TexelFormat::u16, CU_AD_FORMAT_UNORM_INT16X1);
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4:
      return normal(TexelFormat::s8, CU_AD_FORMAT_SNORM_INT8X1);
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4:
      return normal(TexelFormat::s16, CU_AD_FORMAT_SNORM_INT16X1);
    default:
      if (!is_array_format(format)) return CUDA_ERROR_INVALID_VALUE;
      return report({Code::not_supported,
                     fmt::format("array format {} is not built yet", static_cast<int>(format)),
                     ""});
  }
}

Array* array_of(CUarray handle) {
  Array* array = driver().arrays.resolve(handle);
  return array && context_of_owner(array->owner) ? array : nullptr;
}

MipmappedArray* mipmapped_array_of(CUmipmappedArray handle) {
  MipmappedArray* array = driver().mipmapped_arrays.resolve(handle);
  return array && context_of_owner(array->owner) ? array : nullptr;
}

void forget_arrays(uint32_t owner) {
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().arrays, [owner](Array* array) {
    if (array->owner != owner) return false;
    driver().arrays.destroy(array);
    return true;
  });
  std::erase_if(registry().mipmapped, [owner](MipmappedArray* array) {
    if (array->owner != owner) return false;
    destroy(array);
    return true;
  });
}

CUresult cuArrayCreate(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pAllocateArray) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR desc{pAllocateArray->Width,  pAllocateArray->Height,      0,
                                     pAllocateArray->Format, pAllocateArray->NumChannels, 0};
  return create(pHandle, desc);
}

CUresult cuArray3DCreate(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pAllocateArray) return CUDA_ERROR_INVALID_VALUE;
  return create(pHandle, *pAllocateArray);
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  const Array* array = array_of(hArray);
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pArrayDescriptor) return CUDA_ERROR_INVALID_VALUE;
  *pArrayDescriptor = {array->desc.Width, array->desc.Height, array->desc.Format,
                       array->desc.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  const Array* array = array_of(hArray);
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pArrayDescriptor) return CUDA_ERROR_INVALID_VALUE;
  *pArrayDescriptor = array->desc;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                      CUarray array, CUdevice device) {
  if (!memoryRequirements || !array) return CUDA_ERROR_INVALID_VALUE;
  const Array* found = array_of(array);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  // Other arrays have their memory; that is seen before the device. source: CUDA Driver API 13.0,
  // cuArrayGetMemoryRequirements; measured H200, driver 580.x
  if (!(found->desc.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING)) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *memoryRequirements = {};
  memoryRequirements->size = found->image.slice * found->image.depth;
  memoryRequirements->alignment = level_align_bytes;
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray hArray) {
  // The handle is looked at before the context. measured H200, driver 580.x
  Array* array = array_of(hArray);
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (array->parent) return CUDA_SUCCESS;  // its mipmapped array's to free. measured the same way
  wait_for_use(array->owner);
  if (context->busy()) context->synchronize();
  if (!driver().arrays.retire(array)) return CUDA_ERROR_INVALID_HANDLE;
  {
    std::lock_guard lock(registry().mutex);
    registry().arrays.erase(array);
  }
  release(array->memory);
  driver().arrays.destroy(array);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pHandle || !pMipmappedArrayDesc) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR desc = *pMipmappedArrayDesc;
  TexelLayout texels;
  if (CUresult result = check_descriptor(desc, context->device, &texels)) return result;
  // source: CUDA Driver API 13.0, cuMipmappedArrayCreate: clamped to 1 + floor(log2(longest side)).
  const unsigned count = std::clamp(numMipmapLevels, 1u, most_levels(desc));
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    const engine::Image image = image_of(level_of(desc, i), texels.bytes());
    offsets.push_back(bytes);
    bytes = round_up(bytes + image.slice * image.depth, level_align_bytes);
  }
  const uint64_t memory = allocate(*context, bytes);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  MipmappedArray* mipmapped = driver().mipmapped_arrays.create();
  if (!mipmapped) {
    release(memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  mipmapped->owner = context->owner;
  mipmapped->desc = desc;
  mipmapped->memory = memory;
  for (unsigned i = 0; i < count; ++i) {
    Array* level = driver().arrays.create();
    if (!level) {
      destroy(mipmapped);
      release(memory);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    level->owner = context->owner;
    level->desc = level_of(desc, i);
    level->texels = texels;
    level->image = image_of(level->desc, texels.bytes());
    level->image.base = memory + offsets[i];
    level->parent = mipmapped;
    mipmapped->levels.push_back(level);
  }
  {
    std::lock_guard lock(registry().mutex);
    registry().mipmapped.insert(mipmapped);
  }
  *pHandle = reinterpret_cast<CUmipmappedArray>(mipmapped);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level) {
  const MipmappedArray* mipmapped = mipmapped_array_of(hMipmappedArray);
  if (!mipmapped) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pLevelArray) return CUDA_ERROR_INVALID_VALUE;
  if (level >= mipmapped->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *pLevelArray = reinterpret_cast<CUarray>(mipmapped->levels[level]);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device) {
  if (!memoryRequirements || !mipmap) return CUDA_ERROR_INVALID_VALUE;
  const MipmappedArray* found = mipmapped_array_of(mipmap);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (!(found->desc.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING)) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const engine::Image& last = found->levels.back()->image;
  *memoryRequirements = {};
  memoryRequirements->size =
      round_up(last.base + last.slice * last.depth - found->memory, level_align_bytes);
  memoryRequirements->alignment = level_align_bytes;
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
  MipmappedArray* mipmapped = mipmapped_array_of(hMipmappedArray);
  if (!mipmapped) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  wait_for_use(mipmapped->owner);
  if (context->busy()) context->synchronize();
  if (!driver().mipmapped_arrays.retire(mipmapped)) return CUDA_ERROR_INVALID_HANDLE;
  {
    std::lock_guard lock(registry().mutex);
    registry().mipmapped.erase(mipmapped);
  }
  release(mipmapped->memory);
  destroy(mipmapped);
  return CUDA_SUCCESS;
}

/// partial: multi-planar formats are not built, so no array has planes
CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int) {
  if (!array_of(hArray)) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  // Planes of an array without any. source: CUDA Driver API 13.0, cuArrayGetPlane
  return CUDA_ERROR_INVALID_VALUE;
}

/// partial: sparse arrays are not built, so none has these properties
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties, CUarray array) {
  if (!sparseProperties) return CUDA_ERROR_INVALID_VALUE;
  return array_of(array) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

/// partial: sparse arrays are not built, so none has these properties
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties,
                                             CUmipmappedArray mipmap) {
  if (!sparseProperties) return CUDA_ERROR_INVALID_VALUE;
  return mipmapped_array_of(mipmap) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

/// partial: sparse and deferred-mapping arrays are not built, so nothing can be mapped into one
CUresult cuMemMapArrayAsync(CUarrayMapInfo* mapInfoList, unsigned int count, CUstream hStream) {
  if (!mapInfoList || !count) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  for (unsigned i = 0; i < count; ++i) {
    const CUarrayMapInfo& info = mapInfoList[i];
    const bool array = info.resourceType == CU_RESOURCE_TYPE_ARRAY;
    if (!array && info.resourceType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
      return CUDA_ERROR_INVALID_VALUE;
    const bool live = array ? array_of(info.resource.array) != nullptr
                            : mipmapped_array_of(info.resource.mipmap) != nullptr;
    if (!live) return CUDA_ERROR_INVALID_HANDLE;
  }
  return CUDA_ERROR_INVALID_VALUE;  // none of them is sparse
}

}  // namespace limen::cpu
