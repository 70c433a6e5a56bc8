// Sparse arrays' layouts: every texel of every level has a place of its own in its layout's pieces,
// and copies to and from tiles move what copies of ordinary arrays move.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/sparse.h"
#include "drivers/cpu/memory/transfer.h"

namespace limen::cpu {
namespace {

using engine::TileMap;

/// An array with all its pieces there, in memory of the test's.
struct Mapped {
  TileStore store;
  std::vector<engine::Image> images;
  std::vector<uint64_t> block;
  std::vector<uint8_t> memory;

  Mapped(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, uint32_t texel_bytes, bool mipmapped,
         bool deferred) {
    store.layout = tile_layout(levels, texel_bytes, mipmapped, deferred);
    for (const auto& level : levels) images.push_back(image_of(level, texel_bytes));
    std::vector<engine::Image*> places;
    for (auto& image : images) places.push_back(&image);
    block.resize(tile_block_bytes(store.layout) / 8 + 1);
    lay_out_tiles(store, reinterpret_cast<uint64_t>(block.data()), places);
    memory.resize(store.layout.pieces * TileMap::piece_bytes);
    for (uint64_t i = 0; i < store.layout.pieces; ++i)
      store.table[i] = memory.data() + i * TileMap::piece_bytes;
  }
};

void expect_places_of_their_own(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels,
                                uint32_t texel_bytes, bool mipmapped, bool deferred) {
  const Mapped array(levels, texel_bytes, mipmapped, deferred);
  std::vector<uint8_t> taken(array.memory.size() / texel_bytes);
  for (const engine::Image& image : array.images)
    for (uint64_t z = 0; z < image.depth; ++z)
      for (uint64_t y = 0; y < image.height; ++y)
        for (uint64_t x = 0; x < image.width; ++x) {
          uint64_t run = 0;
          const uint8_t* at = image.tiles->at(x * texel_bytes, y, z, &run);
          const auto offset = static_cast<uint64_t>(at - array.memory.data());
          ASSERT_LT(offset, array.memory.size()) << x << ' ' << y << ' ' << z;
          ASSERT_EQ(offset % texel_bytes, 0u);
          ASSERT_GE(run, texel_bytes);
          ASSERT_EQ(taken[offset / texel_bytes]++, 0) << x << ' ' << y << ' ' << z;
        }
}

CUDA_ARRAY3D_DESCRIPTOR level(size_t width, size_t height, size_t depth = 0, unsigned flags = 0) {
  return {width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
}

TEST(Sparse, a_tile_is_one_piece_for_every_texel) {
  for (uint32_t bytes : {1u, 2u, 4u, 8u, 16u})
    for (bool three_d : {false, true}) {
      const TileExtent tile = tile_extent(bytes, three_d);
      EXPECT_EQ(tile.width * tile.height * tile.depth * bytes, TileMap::piece_bytes);
      EXPECT_EQ(tile.depth == 1, !three_d);
    }
}

TEST(Sparse, every_texel_has_a_place_of_its_own) {
  const unsigned layers = CUDA_ARRAY3D_LAYERED;
  expect_places_of_their_own({level(300, 200)}, 4, false, false);
  expect_places_of_their_own({level(5, 7)}, 1, false, false);
  expect_places_of_their_own({level(130, 129, 3, layers)}, 4, false, false);
  expect_places_of_their_own({level(40, 33, 20)}, 4, false, false);
  expect_places_of_their_own({level(300, 260), level(150, 130), level(75, 65), level(37, 32)}, 4,
                             true, false);
  expect_places_of_their_own(
      {level(140, 140, 2, layers), level(70, 70, 2, layers), level(35, 35, 2, layers)}, 4, true,
      false);
  expect_places_of_their_own({level(40, 40, 40), level(20, 20, 20), level(10, 10, 10)}, 4, true,
                             false);
  expect_places_of_their_own({level(300, 200), level(150, 100), level(75, 50)}, 16, true, true);
  expect_places_of_their_own({level(130, 129, 3, layers)}, 2, false, true);
}

TEST(Sparse, copies_move_what_copies_of_ordinary_arrays_move) {
  Mapped from({level(300, 200)}, 4, false, false), to({level(300, 200)}, 4, false, false);
  std::vector<uint32_t> in(300 * 200), out(300 * 200);
  std::iota(in.begin(), in.end(), 1u);
  Transfer job;
  job.width = 300 * 4, job.height = 200;
  job.src = reinterpret_cast<uint64_t>(in.data()), job.src_pitch = 1200;
  job.dst_tiles = from.images[0].tiles;
  job.run(nullptr);
  // A box that crosses tiles, to another place of another array, and back.
  to.store.table[4] = nullptr;
  Transfer box;
  box.width = 140 * 4, box.height = 100;
  box.src_tiles = from.images[0].tiles, box.src = 100 * 4, box.src_pitch = 60;
  box.dst_tiles = to.images[0].tiles, box.dst = 20 * 4, box.dst_pitch = 80;
  box.run(nullptr);
  Transfer back;
  back.width = 300 * 4, back.height = 200;
  back.src_tiles = to.images[0].tiles;
  back.dst = reinterpret_cast<uint64_t>(out.data()), back.dst_pitch = 1200;
  back.run(nullptr);
  for (uint32_t y = 0; y < 200; ++y)
    for (uint32_t x = 0; x < 300; ++x) {
      const bool inside = x >= 20 && x < 160 && y >= 80 && y < 180;
      const bool there = x / 128 + y / 128 * 3 != 4;
      ASSERT_EQ(out[y * 300 + x], inside && there ? in[(y - 20) * 300 + x + 80] : 0u)
          << x << ' ' << y;
    }
}

}  // namespace
}  // namespace limen::cpu
