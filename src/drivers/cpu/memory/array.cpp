// cuArray* and cuMipmappedArray*: made, described and freed. Copies are in copy.cpp, what is
// special to sparse and deferred arrays in sparse.cpp. Depth and multi-planar arrays are refused by
// name. Thread rule: any thread.
#include "drivers/cpu/memory/array.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/memory/sparse.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

constexpr uint64_t row_align_bytes = 64;

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

/// Whether CUDA has the format, which is not built: block-compressed and 10-bit packed ones.
bool is_other_format(CUarray_format format) {
  const unsigned n = format;
  return n == CU_AD_FORMAT_UNORM_INT_101010_2 || n == CU_AD_FORMAT_Y410 ||
         (n >= CU_AD_FORMAT_BC1_UNORM && n <= CU_AD_FORMAT_BC7_UNORM_SRGB);
}

/// Packed, planar and semi-planar YUV.
bool is_yuv(CUarray_format format) {
  const unsigned n = format;
  return n == CU_AD_FORMAT_NV12 || (n >= CU_AD_FORMAT_P010 && n <= CU_AD_FORMAT_Y410) ||
         (n >= CU_AD_FORMAT_Y416 && n <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar);
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

/// Whether the program maps the array's memory itself.
bool has_tiles(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return d.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING);
}

/// Multi-planar formats count 3 channels, and a plane of fewer texels divides the array. source:
/// CUDA Runtime API 13.0, cudaCreateChannelDescNV12; CUDA Driver API 13.0, cuArrayGetPlane.
CUresult check_planar(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  constexpr unsigned shapes = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  const bool plane = d.Height && (!d.Depth || (d.Flags & CUDA_ARRAY3D_LAYERED));
  if (d.NumChannels != 3 || !plane || has_tiles(d) || (d.Flags & shapes))
    return CUDA_ERROR_INVALID_VALUE;
  for (const PlaneShape& one : planes_of(d.Format))
    if (d.Width % (1u << one.width_shift) || d.Height % (1u << one.height_shift))
      return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR& d, const Device& device,
                          TexelLayout* texels) {
  // Flags that CUDA does not have are ignored. measured H200, driver 580.x
  if (d.Flags & CUDA_ARRAY3D_DEPTH_TEXTURE) return refuse("depth-texture");
  // measured H200, driver 580.159.04: formats of video need its flag, which others may have too;
  // sparse arrays are for textures only.
  const bool video = is_yuv(d.Format) && !(d.Flags & CUDA_ARRAY3D_VIDEO_ENCODE_DECODE);
  if (video || ((d.Flags & CUDA_ARRAY3D_SPARSE) && (d.Flags & CUDA_ARRAY3D_SURFACE_LDST)))
    return CUDA_ERROR_INVALID_VALUE;
  if (!planes_of(d.Format).empty()) {
    if (CUresult result = check_planar(d)) return result;
  } else if (CUresult result = layout_of(d.Format, d.NumChannels, texels)) {
    return result;
  }
  const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED, cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (!d.Width) return CUDA_ERROR_INVALID_VALUE;
  if (cube && (d.Width != d.Height || (layered ? !d.Depth || d.Depth % 6 : d.Depth != 6)))
    return CUDA_ERROR_INVALID_VALUE;
  if (layered && !d.Depth) return CUDA_ERROR_INVALID_VALUE;
  if (d.Depth && !d.Height && !layered) return CUDA_ERROR_INVALID_VALUE;
  if ((d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && (!d.Height || (d.Depth && !layered)))
    return CUDA_ERROR_INVALID_VALUE;
  // source: CUDA Driver API 13.0, cuMemMapArrayAsync: 2D, 2D layered or 3D.
  if (has_tiles(d) &&
      (!d.Height || !(d.Flags & CUDA_ARRAY3D_SPARSE) == !(d.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING)))
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

/// The memory of an array's levels, whose images are told where it is; 0 when there is none.
uint64_t allocate_levels(Context& context, const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels,
                         uint32_t texel_bytes, const std::vector<engine::Image*>& images,
                         std::shared_ptr<TileStore>* tiles) {
  if (has_tiles(levels[0])) {
    auto store = std::make_shared<TileStore>();
    store->layout =
        tile_layout(levels, texel_bytes, levels[0].Flags & CUDA_ARRAY3D_DEFERRED_MAPPING);
    const uint64_t block = allocate(context, tile_block_bytes(store->layout));
    if (!block) return 0;
    lay_out_tiles(*store, block, images);
    *tiles = std::move(store);
    return block;
  }
  uint64_t bytes = 0;
  for (engine::Image* image : images) {
    image->base = bytes;
    bytes = round_up(bytes + image->slice * image->depth, level_align_bytes);
  }
  const uint64_t block = allocate(context, bytes);
  if (block)
    for (engine::Image* image : images) image->base += block;
  return block;
}

void destroy(Array* array) {
  for (Array* plane : array->planes) driver().arrays.destroy(plane);
  if (array->tiles) close_tiles(*array->tiles);
  driver().arrays.destroy(array);
}

/// Makes the planes of a new array, one behind the other in its memory. False: there is none left.
bool make_planes(Context& context, Array* array) {
  const std::span<const PlaneShape> shapes = planes_of(array->desc.Format);
  std::vector<engine::Image*> images;
  for (const PlaneShape& shape : shapes) {
    Array* plane = driver().arrays.create();
    if (!plane) return false;
    array->planes.push_back(plane);
    plane->owner = array->owner;
    plane->whole = array;
    plane->desc = array->desc;
    plane->desc.Format = shape.format;
    plane->desc.NumChannels = shape.channels;
    plane->desc.Width >>= shape.width_shift;
    plane->desc.Height >>= shape.height_shift;
    if (layout_of(shape.format, shape.channels, &plane->texels) != CUDA_SUCCESS) return false;
    plane->image = image_of(plane->desc, plane->texels.bytes());
    images.push_back(&plane->image);
  }
  std::shared_ptr<TileStore> none;
  array->memory = allocate_levels(context, {array->desc}, 0, images, &none);
  return array->memory != 0;
}

CUresult create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& desc) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  TexelLayout texels;
  if (CUresult result = check_descriptor(desc, context->device, &texels)) return result;
  Array* array = driver().arrays.create();
  if (!array) return CUDA_ERROR_OUT_OF_MEMORY;
  array->owner = context->owner;
  array->desc = desc;
  array->texels = texels;
  if (!planes_of(desc.Format).empty()) {
    make_planes(*context, array);
  } else {
    array->image = image_of(desc, texels.bytes());
    array->memory =
        allocate_levels(*context, {desc}, texels.bytes(), {&array->image}, &array->tiles);
  }
  if (!array->memory) {
    destroy(array);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
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
  if (mipmapped->tiles) close_tiles(*mipmapped->tiles);
  for (Array* level : mipmapped->levels) driver().arrays.destroy(level);
  driver().mipmapped_arrays.destroy(mipmapped);
}

}  // namespace

engine::Image image_of(const CUDA_ARRAY3D_DESCRIPTOR& d, uint32_t texel_bytes) {
  engine::Image image;
  image.width = static_cast<uint32_t>(d.Width);
  image.height = static_cast<uint32_t>(std::max<size_t>(d.Height, 1));
  image.depth = static_cast<uint32_t>(std::max<size_t>(d.Depth, 1));
  image.pitch = round_up(d.Width * texel_bytes, row_align_bytes);
  image.slice = image.pitch * image.height;
  return image;
}

CUresult layout_of(CUarray_format format, unsigned channels, TexelLayout* out) {
  using engine::TexelFormat;
  if (channels != 1 && channels != 2 && channels != 4) return CUDA_ERROR_INVALID_VALUE;
  out->channels = static_cast<uint8_t>(channels);
  out->normalized = false;
  auto plain = [&](TexelFormat f) {
    out->format = f;
    return CUDA_SUCCESS;
  };
  auto packed = [&](TexelFormat f, unsigned count) {
    out->format = f;
    return channels == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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
    // Packed YUV: the channels lie as in other formats, what they mean is the program's.
    // How many: measured H200, driver 580.159.04.
    case CU_AD_FORMAT_YUY2:
    case CU_AD_FORMAT_AYUV:
      return packed(TexelFormat::u8, 4);
    case CU_AD_FORMAT_Y210:
    case CU_AD_FORMAT_Y216:
      return packed(TexelFormat::u16, 2);
    case CU_AD_FORMAT_Y416:
      return packed(TexelFormat::u16, 4);
    default:
      if (!is_other_format(format)) return CUDA_ERROR_INVALID_VALUE;
      return report({Code::not_supported,
                     fmt::format("array format {} is not built yet", static_cast<int>(format)),
                     ""});
  }
}

Array* array_of(CUarray handle) {
  Array* array = driver().arrays.resolve(handle);
  return array && context_of_owner(array->owner) ? array : nullptr;
}

Array* texels_of(CUarray handle) {
  Array* array = array_of(handle);
  return array && array->planes.empty() ? array : nullptr;
}

std::span<const PlaneShape> planes_of(CUarray_format format) {
  constexpr auto u8 = CU_AD_FORMAT_UNSIGNED_INT8, u16 = CU_AD_FORMAT_UNSIGNED_INT16;
  // source: CUDA Driver API 13.0, CUarray_format and cuArrayGetPlane (NV12; the others by what
  // their sampling says). 10-bit ones have 16 bits a channel.
  static constexpr PlaneShape nv12[] = {{u8, 1, 0, 0}, {u8, 2, 1, 1}};
  static constexpr PlaneShape p016[] = {{u16, 1, 0, 0}, {u16, 2, 1, 1}};
  static constexpr PlaneShape nv16[] = {{u8, 1, 0, 0}, {u8, 2, 1, 0}};
  static constexpr PlaneShape p216[] = {{u16, 1, 0, 0}, {u16, 2, 1, 0}};
  static constexpr PlaneShape semi8[] = {{u8, 1, 0, 0}, {u8, 2, 0, 0}};
  static constexpr PlaneShape semi16[] = {{u16, 1, 0, 0}, {u16, 2, 0, 0}};
  static constexpr PlaneShape planar8[] = {{u8, 1, 0, 0}, {u8, 1, 0, 0}, {u8, 1, 0, 0}};
  static constexpr PlaneShape planar16[] = {{u16, 1, 0, 0}, {u16, 1, 0, 0}, {u16, 1, 0, 0}};
  switch (format) {
    case CU_AD_FORMAT_NV12:
      return nv12;
    case CU_AD_FORMAT_P010:
    case CU_AD_FORMAT_P016:
      return p016;
    case CU_AD_FORMAT_NV16:
      return nv16;
    case CU_AD_FORMAT_P210:
    case CU_AD_FORMAT_P216:
      return p216;
    case CU_AD_FORMAT_YUV444_8bit_SemiPlanar:
      return semi8;
    case CU_AD_FORMAT_YUV444_16bit_SemiPlanar:
      return semi16;
    case CU_AD_FORMAT_Y444_PLANAR8:
      return planar8;
    case CU_AD_FORMAT_Y444_PLANAR10:
      return planar16;
    default:
      return {};
  }
}

MipmappedArray* mipmapped_array_of(CUmipmappedArray handle) {
  MipmappedArray* array = driver().mipmapped_arrays.resolve(handle);
  return array && context_of_owner(array->owner) ? array : nullptr;
}

void forget_arrays(uint32_t owner) {
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().arrays, [owner](Array* array) {
    if (array->owner != owner) return false;
    destroy(array);
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

CUresult cuArrayDestroy(CUarray hArray) {
  // The handle is looked at before the context. measured H200, driver 580.x
  Array* array = array_of(hArray);
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  // Its mipmapped array's to free: measured the same way. Planes likewise.
  if (array->parent || array->whole) return CUDA_SUCCESS;
  wait_for_use(array->owner);
  if (context->busy()) context->synchronize();
  if (!driver().arrays.retire(array)) return CUDA_ERROR_INVALID_HANDLE;
  {
    std::lock_guard lock(registry().mutex);
    registry().arrays.erase(array);
  }
  const uint64_t memory = array->memory;
  destroy(array);
  release(memory);
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
  if (!planes_of(desc.Format).empty()) return refuse("mipmapped multi-planar");
  // source: CUDA Driver API 13.0, cuMipmappedArrayCreate: clamped to 1 + floor(log2(longest side)).
  const unsigned count = std::clamp(numMipmapLevels, 1u, most_levels(desc));
  std::vector<CUDA_ARRAY3D_DESCRIPTOR> levels;
  std::vector<engine::Image> images(count);
  std::vector<engine::Image*> places;
  for (unsigned i = 0; i < count; ++i) {
    levels.push_back(level_of(desc, i));
    images[i] = image_of(levels[i], texels.bytes());
    places.push_back(&images[i]);
  }
  std::shared_ptr<TileStore> tiles;
  const uint64_t memory = allocate_levels(*context, levels, texels.bytes(), places, &tiles);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  MipmappedArray* mipmapped = driver().mipmapped_arrays.create();
  if (!mipmapped) {
    release(memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  mipmapped->owner = context->owner;
  mipmapped->desc = desc;
  mipmapped->memory = memory;
  mipmapped->tiles = tiles;
  for (unsigned i = 0; i < count; ++i) {
    Array* level = driver().arrays.create();
    if (!level) {
      destroy(mipmapped);
      release(memory);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    level->owner = context->owner;
    level->desc = levels[i];
    level->texels = texels;
    level->image = images[i];
    level->parent = mipmapped;
    level->tiles = tiles;
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
  const uint64_t memory = mipmapped->memory;
  destroy(mipmapped);
  release(memory);
  return CUDA_SUCCESS;
}

CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int planeIdx) {
  const Array* array = array_of(hArray);
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  // An array without planes has none. source: CUDA Driver API 13.0, cuArrayGetPlane
  if (!pPlaneArray || planeIdx >= array->planes.size()) return CUDA_ERROR_INVALID_VALUE;
  *pPlaneArray = reinterpret_cast<CUarray>(array->planes[planeIdx]);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
