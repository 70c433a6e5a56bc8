// Layouts of sparse arrays, what they say of themselves, and cuMemMapArrayAsync. Everything that a
// call lists is checked before any of it is done; the work is one operation of the stream.
#include "drivers/cpu/memory/sparse.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

using engine::TileMap;

uint64_t pieces_of(uint64_t bytes) {
  return (bytes + TileMap::piece_bytes - 1) / TileMap::piece_bytes;
}

uint32_t tiles_of(uint32_t texels, uint32_t tile) { return (texels + tile - 1) / tile; }

uint8_t log2_of(uint64_t power) { return static_cast<uint8_t>(std::countr_zero(power)); }

/// The array that an entry of the list means.
struct Target {
  std::shared_ptr<TileStore> store;
  bool deferred = false;
};

CUresult find_target(const CUarrayMapInfo& info, Target* out) {
  const CUDA_ARRAY3D_DESCRIPTOR* desc = nullptr;
  if (info.resourceType == CU_RESOURCE_TYPE_ARRAY) {
    const Array* array = array_of(info.resource.array);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (array->parent) return CUDA_ERROR_INVALID_VALUE;
    out->store = array->tiles;
    desc = &array->desc;
  } else if (info.resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
    const MipmappedArray* mipmapped = mipmapped_array_of(info.resource.mipmap);
    if (!mipmapped) return CUDA_ERROR_INVALID_HANDLE;
    out->store = mipmapped->tiles;
    desc = &mipmapped->desc;
  } else {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out->deferred = desc->Flags & CUDA_ARRAY3D_DEFERRED_MAPPING;
  return out->store ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// The tiles of a range of texels on one axis: whole tiles, or up to the level's edge.
bool tile_range(uint32_t offset, uint32_t extent, uint32_t tile, uint32_t size, uint32_t tiles,
                uint32_t* first, uint32_t* count) {
  const uint64_t end = uint64_t{offset} + extent;
  if (!extent || offset % tile || (end % tile && end != size) || end > uint64_t{tiles} * tile)
    return false;
  *first = offset / tile;
  *count = tiles_of(extent, tile);
  return true;
}

CUresult list_level(const TileLayout& layout, const CUarrayMapInfo& info,
                    std::vector<uint64_t>* pieces) {
  const auto& at = info.subresource.sparseLevel;
  if (at.level >= layout.tail_level || at.layer >= layout.layers) return CUDA_ERROR_INVALID_VALUE;
  const TileLayout::Level& level = layout.levels[at.level];
  uint32_t x, y, z, columns, rows, slices;
  if (!tile_range(at.offsetX, at.extentWidth, layout.tile.width, level.width, level.columns, &x,
                  &columns) ||
      !tile_range(at.offsetY, at.extentHeight, layout.tile.height, level.height, level.rows, &y,
                  &rows) ||
      !tile_range(at.offsetZ, at.extentDepth, layout.tile.depth, level.depth, level.slices, &z,
                  &slices))
    return CUDA_ERROR_INVALID_VALUE;
  for (uint64_t k = z; k < uint64_t{z} + slices; ++k)
    for (uint64_t j = y; j < uint64_t{y} + rows; ++j)
      for (uint64_t i = x; i < uint64_t{x} + columns; ++i)
        pieces->push_back(
            level.first +
            ((uint64_t{at.layer} * level.slices + k) * level.rows + j) * level.columns + i);
  return CUDA_SUCCESS;
}

CUresult list_tail(const TileLayout& layout, const CUarrayMapInfo& info,
                   std::vector<uint64_t>* pieces) {
  const auto& at = info.subresource.miptail;
  if (at.layer >= layout.layers) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t room = layout.tail_bytes * (layout.one_tail() ? layout.layers - at.layer : 1);
  if (!at.size || at.offset % TileMap::piece_bytes || at.size % TileMap::piece_bytes ||
      at.offset > room || at.size > room - at.offset)
    return CUDA_ERROR_INVALID_VALUE;
  const uint64_t first = layout.tail_first + at.layer * pieces_of(layout.tail_bytes) +
                         at.offset / TileMap::piece_bytes;
  for (uint64_t i = 0; i < at.size / TileMap::piece_bytes; ++i) pieces->push_back(first + i);
  return CUDA_SUCCESS;
}

CUresult plan_change(const CUarrayMapInfo& info, int device, TileChange* change) {
  Target target;
  if (CUresult result = find_target(info, &target)) return result;
  const bool map = info.memOperationType == CU_MEM_OPERATION_TYPE_MAP;
  if ((!map && info.memOperationType != CU_MEM_OPERATION_TYPE_UNMAP) ||
      info.memHandleType != CU_MEM_HANDLE_TYPE_GENERIC || info.flags || info.reserved[0] ||
      info.reserved[1] || info.deviceBitMask != 1u << device)
    return CUDA_ERROR_INVALID_VALUE;
  const TileLayout& layout = target.store->layout;
  if (target.deferred) {
    for (uint64_t i = 0; i < layout.pieces; ++i) change->pieces.push_back(i);
  } else if (info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL) {
    if (CUresult result = list_level(layout, info, &change->pieces)) return result;
  } else if (info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL) {
    if (CUresult result = list_tail(layout, info, &change->pieces)) return result;
  } else {
    return CUDA_ERROR_INVALID_VALUE;
  }
  change->store = std::move(target.store);
  return map ? hold_tile_pool(info.memHandle.memHandle, device, info.offset, change) : CUDA_SUCCESS;
}

/// `mipmapped`: says how many levels there are where there is no tail; an array alone says 0.
CUresult tell_properties(const TileStore* store, bool sparse, bool mipmapped,
                         CUDA_ARRAY_SPARSE_PROPERTIES* out) {
  if (!store || !sparse) return CUDA_ERROR_INVALID_VALUE;
  const TileLayout& layout = store->layout;
  *out = {};
  out->tileExtent.width = layout.tile.width;
  out->tileExtent.height = layout.tile.height;
  out->tileExtent.depth = layout.tile.depth;
  // measured H200, driver 580.159.04: the size is that of all layers where everything is tail.
  out->miptailFirstLevel = layout.tail_bytes || mipmapped ? layout.tail_level : 0;
  out->miptailSize = layout.tail_bytes * (layout.one_tail() ? layout.layers : 1);
  if (layout.one_tail()) out->flags = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
  return CUDA_SUCCESS;
}

CUresult tell_requirements(const TileStore* store, bool deferred,
                           CUDA_ARRAY_MEMORY_REQUIREMENTS* out) {
  // Other arrays have their memory. The device is not looked at. measured H200, driver 580.159.04
  if (!store || !deferred) return CUDA_ERROR_INVALID_VALUE;
  *out = {};
  out->size = store->layout.tail_bytes;
  out->alignment = TileMap::piece_bytes;
  return CUDA_SUCCESS;
}

}  // namespace

TileExtent tile_extent(uint32_t texel_bytes, bool three_d) {
  // Each doubling of the texel halves the longest side, the last one first.
  if (!three_d) {
    TileExtent tile{256, 256, 1};
    for (uint32_t bytes = 1, i = 0; bytes < texel_bytes; bytes *= 2, ++i)
      (i % 2 ? tile.width : tile.height) /= 2;
    return tile;
  }
  constexpr TileExtent volumes[] = {
      {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
  return volumes[std::countr_zero(texel_bytes)];
}

TileLayout tile_layout(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, uint32_t texel_bytes,
                       bool deferred) {
  TileLayout out;
  const CUDA_ARRAY3D_DESCRIPTOR& top = levels[0];
  const bool layered = top.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
  const bool three_d = top.Depth && !layered;
  out.tile = tile_extent(texel_bytes, three_d);
  // A deferred array is one piece of memory, layers and all.
  if (layered && !deferred) out.layers = static_cast<uint32_t>(top.Depth);
  out.tail_level = static_cast<uint32_t>(levels.size());
  uint64_t next = 0, tail = 0;
  for (uint32_t i = 0; i < levels.size(); ++i) {
    TileLayout::Level level;
    level.width = static_cast<uint32_t>(levels[i].Width);
    level.height = static_cast<uint32_t>(std::max<size_t>(levels[i].Height, 1));
    level.depth = three_d ? static_cast<uint32_t>(levels[i].Depth) : 1;
    const bool small = level.width < out.tile.width || level.height < out.tile.height ||
                       level.depth < out.tile.depth;
    level.in_tail = deferred || i > out.tail_level || small;
    if (level.in_tail) {
      out.tail_level = std::min(out.tail_level, i);
      const engine::Image image = image_of(levels[i], texel_bytes);
      const uint64_t slices = layered && !deferred ? 1 : image.depth;
      // As large as on a device, whose slices lie in blocks of a power of two. measured H200,
      // driver 580.159.04.
      const uint64_t room = image.slice * (deferred ? slices : std::bit_ceil(slices));
      level.first = tail;
      tail += (room + level_align_bytes - 1) / level_align_bytes * level_align_bytes;
    } else {
      level.columns = tiles_of(level.width, out.tile.width);
      level.rows = tiles_of(level.height, out.tile.height);
      level.slices = tiles_of(level.depth, out.tile.depth);
      level.first = next;
      next += uint64_t{level.columns} * level.rows * level.slices * out.layers;
    }
    out.levels.push_back(level);
  }
  out.tail_first = next;
  out.tail_bytes = pieces_of(tail) * TileMap::piece_bytes;
  out.pieces = next + pieces_of(tail) * out.layers;
  return out;
}

uint64_t tile_block_bytes(const TileLayout& layout) {
  // Never a small block: those have neighbours that an overrun of the program's would reach.
  constexpr uint64_t least_bytes = 64 << 10;
  return std::max(layout.levels.size() * sizeof(TileMap) + layout.pieces * sizeof(uint8_t*),
                  least_bytes);
}

void lay_out_tiles(TileStore& store, uint64_t block, std::vector<engine::Image*> images) {
  const TileLayout& layout = store.layout;
  auto* maps = reinterpret_cast<TileMap*>(block);
  store.block = block;
  store.table = reinterpret_cast<uint8_t**>(maps + layout.levels.size());
  std::fill_n(store.table, layout.pieces, nullptr);
  for (size_t i = 0; i < images.size(); ++i) {
    const TileLayout::Level& level = layout.levels[i];
    engine::Image& image = *images[i];
    TileMap map;
    if (level.in_tail) {
      map.pieces = store.table + layout.tail_first;
      map.linear = true;
      map.first = level.first;
      map.pitch = image.pitch;
      map.slice = layout.layers > 1 ? layout.tail_bytes : image.slice;
    } else {
      const uint64_t texels = uint64_t{layout.tile.width} * layout.tile.height * layout.tile.depth;
      map.pieces = store.table + level.first;
      map.row_shift = log2_of(layout.tile.width * (TileMap::piece_bytes / texels));
      map.height_shift = log2_of(layout.tile.height);
      map.depth_shift = log2_of(layout.tile.depth);
      map.columns = level.columns;
      map.rows = level.rows;
    }
    maps[i] = map;
    image.base = 0;
    image.tiles = maps + i;
  }
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties, CUarray array) {
  if (!sparseProperties) return CUDA_ERROR_INVALID_VALUE;
  const Array* found = array_of(array);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (found->parent) return CUDA_ERROR_INVALID_VALUE;
  return tell_properties(found->tiles.get(), found->desc.Flags & CUDA_ARRAY3D_SPARSE, false,
                         sparseProperties);
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties,
                                             CUmipmappedArray mipmap) {
  if (!sparseProperties) return CUDA_ERROR_INVALID_VALUE;
  const MipmappedArray* found = mipmapped_array_of(mipmap);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  return tell_properties(found->tiles.get(), found->desc.Flags & CUDA_ARRAY3D_SPARSE, true,
                         sparseProperties);
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                      CUarray array, CUdevice) {
  if (!memoryRequirements || !array) return CUDA_ERROR_INVALID_VALUE;
  const Array* found = array_of(array);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (found->parent) return CUDA_ERROR_INVALID_VALUE;
  return tell_requirements(found->tiles.get(), found->desc.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING,
                           memoryRequirements);
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice) {
  if (!memoryRequirements || !mipmap) return CUDA_ERROR_INVALID_VALUE;
  const MipmappedArray* found = mipmapped_array_of(mipmap);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  return tell_requirements(found->tiles.get(), found->desc.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING,
                           memoryRequirements);
}

CUresult cuMemMapArrayAsync(CUarrayMapInfo* mapInfoList, unsigned int count, CUstream hStream) {
  if (!mapInfoList || !count) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  std::vector<TileChange> changes;  // grows with what is valid: the count may be absurd
  for (unsigned i = 0; i < count; ++i) {
    TileChange change;
    if (CUresult result = plan_change(mapInfoList[i], on.context->device.ordinal(), &change)) {
      for (const TileChange& held : changes) let_go(held);
      return result;
    }
    changes.push_back(std::move(change));
  }
  before_work(*on.context, *on.stream);
  // Also in a context that has failed: what is held has to be let go.
  on.stream->task(
      [changes = std::move(changes)] {
        for (const TileChange& change : changes) apply(change);
      },
      false, false, true);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
