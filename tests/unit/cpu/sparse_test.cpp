// Sparse arrays' layouts: every texel of every level has a place of its own in its layout's pieces,
// and copies, fetches and stores see what they see in ordinary arrays.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/sparse.h"
#include "drivers/cpu/memory/transfer.h"
#include "engine/texture_service.h"

namespace limen::cpu {
namespace {

using engine::TileMap;

/// An array with all its pieces there, in memory of the test's.
struct Mapped {
  TileStore store;
  std::vector<engine::Image> images;
  std::vector<uint64_t> block;
  std::vector<uint8_t> memory;

  Mapped(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, uint32_t texel_bytes, bool deferred) {
    store.layout = tile_layout(levels, texel_bytes, deferred);
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
                                uint32_t texel_bytes, bool deferred) {
  const Mapped array(levels, texel_bytes, deferred);
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
  expect_places_of_their_own({level(300, 200)}, 4, false);
  expect_places_of_their_own({level(5, 7)}, 1, false);
  expect_places_of_their_own({level(130, 129, 3, layers)}, 4, false);
  expect_places_of_their_own({level(40, 33, 20)}, 4, false);
  expect_places_of_their_own({level(300, 260), level(150, 130), level(75, 65), level(37, 32)}, 4,
                             false);
  expect_places_of_their_own(
      {level(140, 140, 2, layers), level(70, 70, 2, layers), level(35, 35, 2, layers)}, 4, false);
  expect_places_of_their_own({level(40, 40, 40), level(20, 20, 20), level(10, 10, 10)}, 4, false);
  expect_places_of_their_own({level(300, 200), level(150, 100), level(75, 50)}, 16, true);
  expect_places_of_their_own({level(130, 129, 3, layers)}, 2, true);
}

TEST(Sparse, copies_move_what_copies_of_ordinary_arrays_move) {
  Mapped from({level(300, 200)}, 4, false), to({level(300, 200)}, 4, false);
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

using kernel::TextureGeometry;
using kernel::TextureKind;
using kernel::TextureLod;

/// The same texels in tiles and as other arrays lie.
struct Twins {
  engine::Texture plain, tiled;
  std::vector<std::vector<float>> memory;
  Mapped mapped;

  Twins(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, bool deferred)
      : mapped(levels, 4, deferred) {
    for (uint32_t i = 0; i < levels.size(); ++i) {
      const engine::Image& tiles = mapped.images[i];
      engine::Image& image = plain.levels[i] = image_of(levels[i], 4);
      memory.emplace_back(image.slice * image.depth / 4);
      image.base = reinterpret_cast<uint64_t>(memory[i].data());
      for (uint64_t z = 0; z < image.depth; ++z)
        for (uint64_t y = 0; y < image.height; ++y)
          for (uint64_t x = 0; x < image.width; ++x) {
            const auto value = static_cast<float>((i + 1) * 1000003 + (z * 511 + y) * 509 + x);
            std::memcpy(tiles.tiles->at(x * 4, y, z), &value, 4);
            memory[i][(z * image.slice + y * image.pitch) / 4 + x] = value;
          }
      tiled.levels[i] = tiles;
    }
    const unsigned flags = levels[0].Flags;
    for (engine::Texture* one : {&plain, &tiled}) {
      one->kind = engine::Texture::Kind::texture;
      one->format = engine::TexelFormat::f32;
      one->layered = flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
      one->cube = flags & CUDA_ARRAY3D_CUBEMAP;
      one->dims = levels[0].Depth && !one->layered ? 3 : 2;
      one->level_count = static_cast<uint32_t>(levels.size());
      one->lod_max = 16;
    }
  }
};

void expect_same_fetches(Twins& twins, TextureGeometry geometry) {
  std::mt19937 random(7);
  auto any = [&](float least, float most) {
    return std::uniform_real_distribution<float>(least, most)(random);
  };
  const bool levels = twins.plain.level_count > 1, layer = engine::has_layer(geometry);
  for (int i = 0; i < 4000; ++i) {
    for (engine::Texture* one : {&twins.plain, &twins.tiled}) {
      one->normalized = levels || i % 2;
      one->linear = i % 3 != 0;
      one->mip_linear = i % 5 != 0;
      one->seamless = i % 7 == 0;
      for (auto& mode : one->address) mode = static_cast<engine::AddressMode>(i / 8 % 4);
    }
    const kernel::TextureOp op{
        TextureKind::fetch, geometry, levels ? TextureLod::level : TextureLod::base, 0, 0, 4, 0, 0};
    uint32_t in[8] = {}, a[4] = {}, b[4] = {};
    size_t next = 0;
    if (layer) in[next++] = static_cast<uint32_t>(random() % 8);
    const float most = twins.plain.normalized ? 1.5f : 300.0f;
    for (uint32_t k = 0; k < engine::coordinate_count(geometry); ++k)
      in[next++] = std::bit_cast<uint32_t>(any(-most / 3, most));
    in[next] = std::bit_cast<uint32_t>(any(-0.5f, 5));
    ASSERT_EQ(engine::fetch_texture(twins.plain, op, {in, 1}, {a, 1}), nullptr);
    ASSERT_EQ(engine::fetch_texture(twins.tiled, op, {in, 1}, {b, 1}), nullptr);
    ASSERT_EQ(a[0], b[0]) << i;
  }
}

TEST(Sparse, fetches_see_what_they_see_in_ordinary_arrays) {
  const unsigned layered = CUDA_ARRAY3D_LAYERED, cube = CUDA_ARRAY3D_CUBEMAP;
  for (bool deferred : {false, true}) {
    Twins plane({level(200, 150)}, deferred);
    expect_same_fetches(plane, TextureGeometry::d2);
    Twins solid({level(50, 40, 30)}, deferred);
    expect_same_fetches(solid, TextureGeometry::d3);
    Twins layers({level(140, 130, 3, layered)}, deferred);
    expect_same_fetches(layers, TextureGeometry::a2d);
    Twins cubes({level(140, 140, 6, cube)}, deferred);
    expect_same_fetches(cubes, TextureGeometry::cube);
    Twins mipmapped({level(300, 260), level(150, 130), level(75, 65), level(37, 32)}, deferred);
    expect_same_fetches(mipmapped, TextureGeometry::d2);
    Twins both({level(140, 140, 2, layered), level(70, 70, 2, layered)}, deferred);
    expect_same_fetches(both, TextureGeometry::a2d);
  }
}

TEST(Sparse, surfaces_store_where_something_is) {
  Mapped array({level(200, 150)}, 4, false);
  array.store.table[1] = nullptr;
  engine::Texture surface;
  surface.kind = engine::Texture::Kind::surface;
  surface.format = engine::TexelFormat::u32;
  surface.levels[0] = array.images[0];
  const auto clamp = static_cast<uint8_t>(kernel::SurfaceClamp::trap);
  const kernel::TextureOp store{
      TextureKind::store, TextureGeometry::d2, TextureLod::base, clamp, 4, 1, 0, 0};
  const kernel::TextureOp load{
      TextureKind::load, TextureGeometry::d2, TextureLod::base, clamp, 4, 1, 0, 0};
  const kernel::TextureOp add{TextureKind::reduce,
                              TextureGeometry::d2,
                              TextureLod::base,
                              clamp,
                              4,
                              1,
                              static_cast<uint8_t>(kernel::SurfaceReduction::add),
                              0};
  for (uint32_t x : {5u, 130u}) {
    uint32_t in[3] = {x * 4, 7, 40}, out[1] = {9};
    EXPECT_EQ(engine::access_surface(surface, store, {in, 1}, {out, 1}).what, nullptr);
    in[2] = 2;
    EXPECT_EQ(engine::access_surface(surface, add, {in, 1}, {out, 1}).what, nullptr);
    EXPECT_EQ(engine::access_surface(surface, load, {in, 1}, {out, 1}).what, nullptr);
    EXPECT_EQ(out[0], x < 128 ? 42u : 0u);
  }
  uint32_t outside[3] = {200 * 4, 7, 1}, out[1];
  EXPECT_NE(engine::access_surface(surface, store, {outside, 1}, {out, 1}).what, nullptr);
}

}  // namespace
}  // namespace limen::cpu
