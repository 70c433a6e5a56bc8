// Sparse arrays and arrays with deferred mapping: their texels lie in pieces of 64 KiB that
// cuMemMapArrayAsync puts into tile pools (cuMemCreate). A table of pointers says where each piece
// is; textures, surfaces and copies look there (engine::TileMap), so a map is a store, two places
// may share memory, and nothing is limited by how many mappings Linux allows a process. Ordinary
// arrays have no table. Invariant: whatever a table points to is held by its store; who holds what
// changes under the lock of vmm.cpp only. The table is device memory of kind `array`: after the
// array is destroyed, kernels fault there as in any other. Thread rule: any thread. docs:
// design/textures.md
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "abi/cuda_abi.h"
#include "engine/texture.h"

namespace limen::cpu {

struct PhysicalMemory;

struct TileExtent {
  uint32_t width = 1, height = 1, depth = 1;  ///< texels
};
/// 64 KiB of texels. source: the standard sparse block shapes of Vulkan 1.3 and Direct3D, which
/// NVIDIA's devices have.
TileExtent tile_extent(uint32_t texel_bytes, bool three_d);

/// How the pieces of an array follow each other: level by level (of a level: layers or slices of
/// tiles, rows, columns), then the tails of the layers.
struct TileLayout {
  struct Level {
    bool in_tail = false;
    uint64_t first = 0;                          ///< piece; in a tail: byte
    uint32_t columns = 0, rows = 0, slices = 0;  ///< of tiles, in one layer
    uint32_t width = 0, height = 0, depth = 0;   ///< texels; depth of 3D only
  };
  TileExtent tile;
  uint32_t layers = 1;
  std::vector<Level> levels;
  uint32_t tail_level = 0;  ///< the first level of the tail, or how many levels there are
  uint64_t tail_first = 0;  ///< the first layer's first piece
  uint64_t tail_bytes = 0;  ///< of one layer: whole pieces; deferred arrays: of all
  uint64_t pieces = 0;

  /// Whether all levels are in the tail, which is one for all layers then.
  bool one_tail() const { return tail_bytes && tail_level == 0; }
};
/// Of the levels of an array. `deferred`: all of it is one tail, laid out as other arrays are.
TileLayout tile_layout(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, uint32_t texel_bytes,
                       bool deferred);

/// What a sparse array has beside its handle.
struct TileStore {
  TileLayout layout;
  uint64_t block = 0;  ///< of the device's allocator: the levels' TileMaps, then the table
  uint8_t** table = nullptr;
  std::unordered_map<uint64_t, PhysicalMemory*> holders;  ///< by piece
  bool closed = false;  ///< the array is gone: there is no table any more
};
/// Bytes of TileStore::block.
uint64_t tile_block_bytes(const TileLayout& layout);
/// Fills a fresh block with maps and an empty table, and images with where their map is.
void lay_out_tiles(TileStore& store, uint64_t block, std::vector<engine::Image*> images);

/// Pieces of one store that a map or unmap changes.
struct TileChange {
  std::shared_ptr<TileStore> store;
  std::vector<uint64_t> pieces;
  PhysicalMemory* memory = nullptr;  ///< held until the change is made; null: unmap
  uint8_t* from = nullptr;           ///< of the first piece; the others follow
};
/// Holds a tile pool for a change to come. errors: 1, 2. In vmm.cpp.
CUresult hold_tile_pool(CUmemGenericAllocationHandle handle, int device, uint64_t offset,
                        TileChange* change);
void let_go(const TileChange& change);
void apply(const TileChange& change);
/// The array is gone: lets go of all its memory.
void close_tiles(TileStore& store);

}  // namespace limen::cpu
