// The sampler of eight lanes at a time against the general one, lane by lane: every format, number
// of channels, filter, address mode and geometry, with coordinates among which are all that the
// fast way leaves out, texels that are NaN, infinite and denormal, and any set of lanes. Same bits,
// and nothing read behind the image, where memory ends.
#include "engine/texture_lanes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace limen::engine {
namespace {

using kernel::TextureGeometry;
using kernel::TextureLod;
using kernel::TextureOp;

constexpr uint64_t seed = 20261130;
constexpr uint32_t lanes_most = 32;
constexpr TexelFormat formats[] = {TexelFormat::u8,  TexelFormat::u16, TexelFormat::u32,
                                   TexelFormat::s8,  TexelFormat::s16, TexelFormat::s32,
                                   TexelFormat::f16, TexelFormat::f32};
constexpr AddressMode modes[] = {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror,
                                 AddressMode::border};

using Random = std::mt19937_64;
uint32_t below(Random& random, uint32_t n) { return static_cast<uint32_t>(random() % n); }
bool chance(Random& random, uint32_t of) { return below(random, of) == 0; }

/// Texels that end at a page which faults.
class Memory {
 public:
  static constexpr size_t bytes = 1 << 20, page = 4096;
  Memory() {
    first_ = static_cast<uint8_t*>(
        mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(first_ + bytes, page, PROT_NONE);
  }
  ~Memory() { munmap(first_, bytes + page); }
  uint8_t* last(size_t count) const { return first_ + bytes - count; }

 private:
  uint8_t* first_;
};

float odd_float(Random& random) {
  constexpr float all[] = {
      0.0f,       -0.0f,     1e-40f,   -1e-40f,   0x1p-126f,
      -0x1p-126f, 3e38f,     -3e38f,   0.5f,      1.0f,
      -1.0f,      0x1p-149f, INFINITY, -INFINITY, std::numeric_limits<float>::quiet_NaN()};
  return all[below(random, std::size(all))];
}

void fill(Random& random, TexelFormat format, uint8_t* to, size_t bytes) {
  const bool floats = format == TexelFormat::f32, odd = chance(random, 3);
  for (size_t i = 0; i + 4 <= bytes; i += 4) {
    auto word = static_cast<uint32_t>(random());
    if (floats && !odd)
      word = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(word)) * 0x1p-20f);
    else if (floats && chance(random, 4))
      word = std::bit_cast<uint32_t>(odd_float(random));
    std::memcpy(to + i, &word, 4);
  }
  // Extremes of the integers.
  if (chance(random, 4)) std::memset(to, chance(random, 2) ? 0x80 : 0xff, bytes / 2);
}

/// In units of the axis, so that normalized or not it lies about the image.
float coordinate(Random& random, uint32_t size, bool normalized) {
  const uint32_t kind = below(random, 32);
  const float scale = normalized ? 1.0f / static_cast<float>(size) : 1.0f;
  auto unit = [&] { return static_cast<float>(below(random, 1 << 24)) * 0x1p-24f; };
  if (kind < 20) return (unit() * 3 - 1) * static_cast<float>(size) * scale;
  if (kind < 24)  // halves of texels and of weights
    return (static_cast<float>(below(random, 6 * size)) * 0.5f - static_cast<float>(size)) * scale;
  if (kind < 26)
    return (static_cast<float>(below(random, 1024 * size)) / 512 - static_cast<float>(size)) *
           scale;
  if (kind == 26) return (unit() - 0.5f) * 0x1p-10f;
  if (kind == 27)  // about the bounds of what the fast way takes
    return std::ldexp((1 + unit()) * (chance(random, 2) ? -1 : 1),
                      static_cast<int>(below(random, 12)) + (chance(random, 2) ? 16 : -60));
  if (kind == 28) return std::bit_cast<float>(static_cast<uint32_t>(random()));
  if (kind == 29) return odd_float(random);
  if (kind == 30) return std::nextafter(static_cast<float>(below(random, 5)), -1.0f);
  return std::nextafter(-static_cast<float>(below(random, 5)), 1.0f);
}

struct Case {
  Texture texture;
  TextureOp op{};
  std::string told() const {
    const Texture& t = texture;
    const Image& image = t.levels[0];
    return fmt::format("format {} x{}, {}{}{}{}, geometry {}, modes {} {} {}, size {} {} {}",
                       static_cast<int>(t.format), t.channels, t.linear ? "linear" : "point",
                       t.normalized ? ", normalized" : "", t.reads_integer ? ", integer" : "",
                       t.layered ? ", layered" : "", static_cast<int>(op.geometry),
                       static_cast<int>(t.address[0]), static_cast<int>(t.address[1]),
                       static_cast<int>(t.address[2]), image.width, image.height, image.depth);
  }
};

/// An image of `bytes` at most that ends where memory ends.
void make_image(Random& random, const Memory& memory, uint32_t dims, Case* c) {
  Texture& t = c->texture;
  Image& image = t.levels[0];
  const uint32_t bytes = t.texel_bytes();
  auto size = [&](uint32_t most) {
    return chance(random, 4) ? 1 + below(random, 2) : 1 + below(random, most);
  };
  image.width = dims == 1 && !t.layered && chance(random, 3) ? size(60000) : size(40);
  image.height = dims > 1 ? size(30) : 1;
  image.depth = dims > 2 || t.layered ? size(7) : 1;
  const uint64_t row = uint64_t{image.width} * bytes;
  const uint64_t unit = std::min(bytes, 4u);
  image.pitch = row + unit * below(random, 9);
  image.slice = image.pitch * image.height + unit * below(random, 9);
  const uint64_t used = (image.depth - 1) * image.slice + (image.height - 1) * image.pitch + row;
  ASSERT_LE(used, Memory::bytes);
  image.base = reinterpret_cast<uint64_t>(memory.last(used));
  fill(random, t.format, memory.last(used), used);
}

Case make_case(Random& random, const Memory& memory, TexelFormat format, uint32_t channels,
               bool linear, AddressMode mode, TextureGeometry geometry) {
  Case c;
  Texture& t = c.texture;
  c.op.geometry = geometry;
  c.op.count = 4;
  c.op.lod = static_cast<TextureLod>(below(random, 3));
  t.kind = Texture::Kind::texture;
  t.format = format;
  t.channels = static_cast<uint8_t>(channels);
  t.normalized = chance(random, 2);
  t.layered = has_layer(geometry);
  t.linear = linear;
  t.reads_integer = !linear && format < TexelFormat::f16 && chance(random, 2);
  const uint32_t dims = coordinate_count(geometry);
  t.dims = static_cast<uint8_t>(dims);
  for (AddressMode& m : t.address) m = chance(random, 3) ? modes[below(random, 4)] : mode;
  // The rule of a line's second axis is the general sampler's alone.
  if (dims == 1 && !t.layered && linear && t.address[1] == AddressMode::border)
    t.address[1] = AddressMode::clamp;
  for (float& b : t.border)
    b = chance(random, 3) ? odd_float(random) : static_cast<float>(below(random, 999)) / 998;
  fit_border(&t);
  make_image(random, memory, dims, &c);
  return c;
}

struct Warp {
  uint32_t in[4 + 7][lanes_most];
  uint32_t out[4][lanes_most];
  uint64_t handles[lanes_most] = {};
};

/// Compares one call; returns the lanes that the fast way did.
uint32_t compare(Random& random, Case& c) {
  plan_lanes(&c.texture);
  Warp warp;
  const uint32_t width = chance(random, 3) ? 8 * (1 + below(random, 3)) : lanes_most;
  auto lanes = static_cast<uint32_t>(chance(random, 2) ? random() : ~uint64_t{0});
  if (width < 32) lanes &= (1u << width) - 1;
  uint32_t* const in = &warp.in[0][0];
  uint32_t* const out = &warp.out[0][0];
  for (size_t i = 0; i < std::size(warp.in) * lanes_most; ++i)
    in[i] = static_cast<uint32_t>(random());
  const Image& image = c.texture.levels[0];
  const uint32_t size[3] = {image.width, image.height, image.depth};
  const bool layered = c.texture.layered;
  for (uint32_t lane = 0; lane < width; ++lane) {
    if (layered && !chance(random, 8)) in[lane] = below(random, image.depth + 2);
    for (uint32_t i = 0; i < coordinate_count(c.op.geometry); ++i)
      in[(i + layered) * width + lane] =
          c.texture.buffer
              ? (chance(random, 4) ? static_cast<uint32_t>(random())
                                   : below(random, image.width + 3))
              : std::bit_cast<uint32_t>(coordinate(random, size[i], c.texture.normalized));
  }
  std::memset(warp.out, 0xcd, sizeof warp.out);
  const TextureCall call{c.op, width, lanes, warp.handles, in, out};
  const uint32_t done = fetch_lanes(c.texture, call);
  EXPECT_EQ(done & ~lanes, 0u) << c.told();
  for (uint32_t lane = 0; lane < width; ++lane) {
    if (!(done >> lane & 1)) continue;
    uint32_t wanted[4];
    EXPECT_EQ(fetch_texture(c.texture, c.op, {in + lane, width}, {wanted, 1}), nullptr);
    for (uint32_t i = 0; i < 4; ++i) {
      if (out[i * width + lane] == wanted[i]) continue;
      ADD_FAILURE() << c.told() << " lane " << lane << " channel " << i << std::hex << ": found "
                    << out[i * width + lane] << ", wanted " << wanted[i] << ", at " << in[lane]
                    << " " << in[width + lane] << " " << in[2 * width + lane];
      return done;
    }
  }
  return done;
}

class TextureLanes : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_fetches_lanes())
      GTEST_SKIP() << "this machine has no AVX2";  // then the lanes' sampler is never called
  }
  Memory memory;
};

TEST_F(TextureLanes, EveryFormatFilterAndAddressModeIsTheGeneralSamplersBitForBit) {
  Random random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (TexelFormat format : formats)
    for (uint32_t channels : {1u, 2u, 4u})
      for (bool linear : {false, true})
        for (AddressMode mode : modes)
          for (TextureGeometry geometry :
               {TextureGeometry::d1, TextureGeometry::d2, TextureGeometry::d3, TextureGeometry::a1d,
                TextureGeometry::a2d}) {
            if (linear && channel_bytes(format) == 4 && format != TexelFormat::f32) continue;
            uint64_t done = 0;
            for (int round = 0; round < 24 && !HasFailure(); ++round) {
              Case c = make_case(random, memory, format, channels, linear, mode, geometry);
              for (int i = 0; i < 4; ++i) done += std::popcount(compare(random, c));
            }
            // Else nothing was compared: of 24 x 4 warps most lanes are of the common kind.
            EXPECT_GT(done, 24u * 4 * 8) << static_cast<int>(format) << " x" << channels;
          }
}

TEST_F(TextureLanes, BuffersByIntegersTheSame) {
  Random random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (TexelFormat format : formats)
    for (uint32_t channels : {1u, 2u, 4u})
      for (int round = 0; round < 40; ++round) {
        Case c = make_case(random, memory, format, channels, false, AddressMode::clamp,
                           TextureGeometry::d1);
        c.texture.buffer = true;
        c.op.lod = TextureLod::base;
        c.op.flags = kernel::texture_integer_coordinates;
        uint64_t done = 0;
        for (int i = 0; i < 4; ++i) done += std::popcount(compare(random, c));
        EXPECT_GT(done, 0u);
      }
}

TEST_F(TextureLanes, LongAxesAndEveryTexelBoundaryTheSame) {
  // All boundaries between weights about a texel, and sizes up to the longest.
  std::vector<uint8_t> texels((size_t{1} << 17) * 4);
  Random random(seed);
  fill(random, TexelFormat::u8, texels.data(), texels.size());
  for (uint32_t size : {1u, 3u, 255u, 1000u, 65537u, 131071u, 131072u})
    for (AddressMode mode : modes)
      for (bool linear : {false, true})
        for (bool normalized : {false, true}) {
          Case c = make_case(random, memory, TexelFormat::u8, 4, linear, mode, TextureGeometry::d1);
          Texture& t = c.texture;
          t.normalized = normalized;
          t.reads_integer = false;
          t.address[0] = mode;
          t.address[1] = AddressMode::clamp;
          Image& image = t.levels[0];
          image.base = reinterpret_cast<uint64_t>(texels.data());
          image.width = size;
          uint64_t done = 0;
          for (int i = 0; i < 50; ++i) done += std::popcount(compare(random, c));
          EXPECT_GT(done, 50u * 8);
        }
}

TEST_F(TextureLanes, LeavesOutWhatItCannotDo) {
  Random random(seed);
  auto made = [&] {
    Case c = make_case(random, memory, TexelFormat::u8, 4, true, AddressMode::clamp,
                       TextureGeometry::d2);
    c.op.lod = TextureLod::base;
    return c;
  };
  uint32_t in[3 * lanes_most] = {}, out[4 * lanes_most];
  auto done = [&](Case& c) {
    plan_lanes(&c.texture);
    return fetch_lanes(c.texture, {c.op, lanes_most, ~0u, nullptr, in, out});
  };
  Case c = made();
  EXPECT_EQ(done(c), ~0u);
  // Lanes whose coordinates are rare are left to others, and only those.
  in[3] = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
  in[lanes_most + 9] = std::bit_cast<uint32_t>(-INFINITY);
  in[17] = std::bit_cast<uint32_t>(0x1p22f);
  in[18] = std::bit_cast<uint32_t>(0x1.fffffep21f);
  in[30] = std::bit_cast<uint32_t>(-0x1p-54f);
  EXPECT_EQ(done(c), ~(1u << 3 | 1u << 9 | 1u << 17 | 1u << 30));
  c.texture.srgb = true;
  EXPECT_EQ(done(c), 0u);
  c = made();
  c.texture.level_count = 2;
  EXPECT_EQ(done(c), 0u);
  c = made();
  c.texture.levels[0].slice = c.texture.levels[0].pitch = uint64_t{1} << 31;
  EXPECT_EQ(done(c), 0u);
  c = made();
  c.texture.levels[0].width = (1 << 17) + 1;
  EXPECT_EQ(done(c), 0u);
  c = made();
  c.op.flags = kernel::texture_offsets;
  EXPECT_EQ(done(c), 0u);
  c = made();
  c.op.geometry = TextureGeometry::cube;
  EXPECT_EQ(done(c), 0u);
}

}  // namespace
}  // namespace limen::engine
