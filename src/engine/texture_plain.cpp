// The fetches that programs spend their time in: tex of 1, 2 and 3 dimensions by float coordinates,
// and tex1Dfetch, from one texture for the whole warp. The same results, bit for bit, as
// texture.cpp: the same places, weights and order of summation. Eight lanes at a time where the
// machine can (texture_lanes.h), else, and for what is left over, lane by lane. benchmark:
// cuda-samples convolutionTexture, texture.
#include <cstring>

#include "engine/texture_lanes.h"
#include "engine/texture_place.h"
#include "engine/texture_service.h"

namespace limen::engine {
namespace {

using kernel::TextureGeometry;
using kernel::TextureKind;
using kernel::TextureLod;
using kernel::TextureResult;

/// What does not change from lane to lane.
template <uint32_t dims>
struct Plane {
  explicit Plane(const Texture& texture)
      : t(texture), image(texture.levels[0]), texel_bytes(texture.texel_bytes()) {
    const uint32_t all[3] = {image.width, image.height, image.depth};
    for (uint32_t i = 0; i < dims; ++i) size[i] = all[i], mode[i] = effective_mode(t, i);
  }
  const uint8_t* at(const int32_t (&index)[dims]) const {
    uint64_t address = image.base + static_cast<uint64_t>(index[0]) * texel_bytes;
    if constexpr (dims > 1) address += static_cast<uint64_t>(index[1]) * image.pitch;
    if constexpr (dims > 2) address += static_cast<uint64_t>(index[2]) * image.slice;
    return reinterpret_cast<const uint8_t*>(address);
  }

  const Texture& t;
  const Image& image;
  uint32_t texel_bytes;
  uint32_t size[dims];
  AddressMode mode[dims];
};

template <uint32_t channels>
struct LoadF32 {
  static constexpr uint32_t count = channels;
  static void load(const Texture&, const uint8_t* p, float* out) {
    std::memcpy(out, p, size_t{channels} * 4);
  }
};
template <uint32_t channels>
struct LoadU8 {
  static constexpr uint32_t count = channels;
  static void load(const Texture&, const uint8_t* p, float* out) {
    for (uint32_t i = 0; i < channels; ++i) out[i] = static_cast<float>(p[i] * 257);
  }
};
struct LoadAny {
  static constexpr uint32_t count = 4;
  static void load(const Texture& t, const uint8_t* p, float* out) { load_units(t, p, out); }
};

template <uint32_t dims>
int64_t place_point(const Plane<dims>& plane, const TextureCall& call, uint32_t axis,
                    uint32_t lane) {
  const double x = std::bit_cast<float>(call.in[axis * call.width + lane]);
  return floor_of(position(x, plane.t.normalized, plane.mode[axis], plane.size[axis]));
}

/// False: the border.
template <uint32_t dims>
bool inside(const Plane<dims>& plane, const int64_t (&from)[dims], int32_t (&index)[dims]) {
  for (uint32_t i = 0; i < dims; ++i) {
    index[i] = resolve(from[i], plane.size[i], plane.mode[i]);
    if (index[i] == outside) return false;
  }
  return true;
}

void write_lane(const TextureCall& call, uint32_t lane, const uint32_t (&bits)[4]) {
  for (uint32_t i = 0; i < 4; ++i) call.out[i * call.width + lane] = bits[i];
}

/// Point fetches: integers and f32 keep their bits.
template <uint32_t dims>
void point(const Texture& t, const TextureCall& call) {
  const Plane<dims> plane(t);
  const bool word = channel_bytes(t.format) == 4, raw = t.integer() || t.format == TexelFormat::f32;
  for (uint32_t left = call.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    int64_t from[dims];
    int32_t index[dims];
    for (uint32_t i = 0; i < dims; ++i) from[i] = place_point(plane, call, i, lane);
    uint32_t bits[4] = {};
    if (!inside(plane, from, index)) {
      std::memcpy(bits, t.border, sizeof bits);
    } else if (word) {
      std::memcpy(bits, plane.at(index), plane.texel_bytes);
    } else if (raw) {
      load_bits(t, plane.at(index), bits);
    } else {
      float value[4];
      load_floats(t, plane.at(index), value);
      std::memcpy(bits, value, sizeof bits);
    }
    write_lane(call, lane, bits);
  }
}

template <uint32_t dims, typename Loader>
void linear(const Texture& t, const TextureCall& call) {
  const Plane<dims> plane(t);
  float border[4];
  border_units(t, border);
  for (uint32_t left = call.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    int64_t first[dims];
    int32_t weight[dims];
    for (uint32_t i = 0; i < dims; ++i) {
      const double x = position(std::bit_cast<float>(call.in[i * call.width + lane]), t.normalized,
                                plane.mode[i], plane.size[i]);
      const int64_t fixed = floor_of(x * one_weight + 0.5) - one_weight / 2;
      first[i] = fixed >> 8;
      weight[i] = static_cast<int32_t>(fixed & (one_weight - 1));
    }
    int32_t weights[8];
    const auto whole = static_cast<int32_t>(one_weight);
    for (uint32_t z = 0; z < (dims > 2 ? 2u : 1u); ++z) {
      const int32_t share = dims < 3 ? whole : z ? weight[dims - 1] : whole - weight[dims - 1];
      weigh(weight[0], dims > 1 ? weight[dims > 1] : 0, share, weights + size_t{4} * z);
    }
    double sum[4] = {};
    for (uint32_t corner = 0; corner < 1u << dims; ++corner) {
      const int32_t w = weights[corner];
      if (w == 0) continue;
      int64_t from[dims];
      int32_t index[dims];
      for (uint32_t i = 0; i < dims; ++i) {
        const bool next = corner >> i & 1;
        from[i] = first[i] + next;
      }
      if (inside(plane, from, index)) {
        float value[4];
        Loader::load(t, plane.at(index), value);
        for (uint32_t c = 0; c < Loader::count; ++c)
          sum[c] += static_cast<double>(w) * double{value[c]};
      } else {
        for (uint32_t c = 0; c < Loader::count; ++c)
          sum[c] += static_cast<double>(w) * double{border[c]};
      }
    }
    uint32_t bits[4];
    for (uint32_t c = 0; c < 4; ++c) bits[c] = filtered_bits(sum[c] * 0x1p-8, filter_units(t, c));
    write_lane(call, lane, bits);
  }
}

template <uint32_t dims>
void fetch(const Texture& t, const TextureCall& call) {
  if (!t.linear || t.integer()) return point<dims>(t, call);
  if (t.format == TexelFormat::f32) {
    if (t.channels == 1) return linear<dims, LoadF32<1>>(t, call);
    if (t.channels == 2) return linear<dims, LoadF32<2>>(t, call);
    return linear<dims, LoadF32<4>>(t, call);
  }
  if (t.format == TexelFormat::u8 && !t.srgb) {
    if (t.channels == 1) return linear<dims, LoadU8<1>>(t, call);
    if (t.channels == 4) return linear<dims, LoadU8<4>>(t, call);
  }
  linear<dims, LoadAny>(t, call);
}

/// tex1Dfetch: zeros outside.
void fetch_buffer(const Texture& t, const TextureCall& call) {
  const Image& image = t.levels[0];
  const uint32_t texel_bytes = t.texel_bytes();
  const bool word = channel_bytes(t.format) == 4;
  for (uint32_t left = call.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t i = call.in[lane];
    uint32_t bits[4] = {};
    if (i < image.width) {
      const auto* p = reinterpret_cast<const uint8_t*>(image.base + uint64_t{i} * texel_bytes);
      if (word) {
        std::memcpy(bits, p, texel_bytes);
      } else if (t.integer()) {
        load_bits(t, p, bits);
      } else {
        float value[4];
        load_floats(t, p, value);
        std::memcpy(bits, value, sizeof bits);
      }
    }
    write_lane(call, lane, bits);
  }
}

/// The texture of all lanes, or nullptr.
const Texture* only_texture(const TextureView& view, const TextureCall& call) {
  if (!call.lanes) return nullptr;
  const uint64_t handle = call.handles[std::countr_zero(call.lanes)];
  // A handle that is the same in all lanes is so in those that take no part, too: most are found
  // out without a look at the lanes.
  uint64_t differ = 0;
  for (uint32_t lane = 0; lane < call.width; ++lane) differ |= call.handles[lane] ^ handle;
  for (uint32_t left = differ ? call.lanes : 0; left != 0; left &= left - 1)
    if (call.handles[std::countr_zero(left)] != handle) return nullptr;
  return view.find(handle);
}

}  // namespace

void plan_lanes(Texture* texture) {
  texture->plan = machine_fetches_lanes() ? plan_of(*texture) : LanePlan{};
}

uint32_t fetch_plain(const TextureView& view, const TextureCall& call) {
  const kernel::TextureOp op = call.op;
  if (op.kind != TextureKind::fetch) return 0;
  const Texture* t = only_texture(view, call);
  if (!t) return 0;
  const uint32_t done = fetch_lanes(*t, call);
  if (done == call.lanes) return done;
  TextureCall rest = call;
  rest.lanes &= ~done;
  return fetch_plain(*t, rest) ? call.lanes : done;
}

bool fetch_plain(const Texture& t, const TextureCall& call) {
  const kernel::TextureOp op = call.op;
  if (op.kind != TextureKind::fetch || op.lod != TextureLod::base ||
      static_cast<TextureResult>(op.type) != TextureResult::words)
    return false;
  if (t.kind != Texture::Kind::texture || t.level_count != 1 || t.layered || t.cube ||
      t.levels[0].tiles)
    return false;
  if (t.buffer) {
    if (op.geometry != TextureGeometry::d1 || op.flags != kernel::texture_integer_coordinates)
      return false;
    fetch_buffer(t, call);
    return true;
  }
  // A filtered line with a border has a second axis: the general path knows.
  if (op.flags != 0 ||
      (op.geometry == TextureGeometry::d1 && t.linear && t.address[1] == AddressMode::border))
    return false;
  switch (op.geometry) {
    case TextureGeometry::d1:
      fetch<1>(t, call);
      return true;
    case TextureGeometry::d2:
      fetch<2>(t, call);
      return true;
    case TextureGeometry::d3:
      fetch<3>(t, call);
      return true;
    default:
      return false;
  }
}

}  // namespace limen::engine
