// What generated code calls for texture and surface instructions: run_texture does one instruction
// for all lanes of a warp. Holds no lock and no resource while it reads images, because such a read
// may fault and land the worker elsewhere. Thread rule: any worker.
#pragma once
#include <cstddef>
#include <cstdint>

#include "devlib/kernel_abi.h"
#include "engine/texture.h"

namespace limen::engine {

struct TextureCall {
  kernel::TextureOp op;
  uint32_t width;  ///< lanes of a vector, and the stride of `in` and `out`
  uint32_t lanes;  ///< bit per lane that takes part
  const uint64_t* handles;
  const uint32_t* in;
  uint32_t* out;
};

/// what == nullptr: no error.
struct TextureError {
  const char* what = nullptr;
  kernel::Fault kind = kernel::Fault::illegal_address;
  uint32_t lane = 0;
};

TextureError run_texture(const TextureView& view, const TextureCall& call);

/// One lane's operands or results: word i.
template <typename Word>
struct LaneWords {
  Word* first;
  size_t stride;
  Word& operator[](size_t i) const { return first[i * stride]; }
};
using LaneIn = LaneWords<const uint32_t>;
using LaneOut = LaneWords<uint32_t>;

/// Dimensions of a geometry, layers and faces not counted; a cube's coordinates count 3.
constexpr uint32_t coordinate_count(kernel::TextureGeometry geometry) {
  switch (geometry) {
    case kernel::TextureGeometry::d1:
    case kernel::TextureGeometry::a1d:
      return 1;
    case kernel::TextureGeometry::d2:
    case kernel::TextureGeometry::a2d:
      return 2;
    default:
      return 3;
  }
}
constexpr bool has_layer(kernel::TextureGeometry geometry) {
  return geometry == kernel::TextureGeometry::a1d || geometry == kernel::TextureGeometry::a2d ||
         geometry == kernel::TextureGeometry::acube;
}

/// tex and tld4 of one lane. Gives an error text or nullptr.
const char* fetch_texture(const Texture& texture, kernel::TextureOp op, LaneIn in, LaneOut out);
/// A tex without levels, offsets or conversions, all lanes from one texture, at speed. Returns the
/// lanes that are done, 0 where it is not such a call.
uint32_t fetch_plain(const TextureView& view, const TextureCall& call);
/// The same lane by lane, without layers. False: not such a call, nothing done.
bool fetch_plain(const Texture& texture, const TextureCall& call);
/// suld, sust and sured of one lane.
TextureError access_surface(const Texture& surface, kernel::TextureOp op, LaneIn in, LaneOut out);

// -- texels (texel.cpp)

/// The channels as 32-bit integers, sign-extended or not by format; absent ones are 0.
void load_bits(const Texture& texture, const void* texel, uint32_t out[4]);
/// The channels as numbers: normalized integers, halves widened, sRGB undone.
void load_floats(const Texture& texture, const void* texel, float out[4]);
/// The channels as linear filters add them up: whole units of filter_units, else numbers.
void load_units(const Texture& texture, const void* texel, float out[4]);
/// The border colour in the same units.
void border_units(const Texture& texture, float out[4]);
/// Brings a border colour to what the texture's format holds.
void fit_border(Texture* texture);
/// sust.p: stores 32-bit values as the format's channels.
void store_bits(const Texture& surface, void* texel, const uint32_t* values, uint32_t count);
uint16_t half_of(float value);
/// The same, what does not fit cut off: as surfaces are stored.
uint16_t cut_half_of(float value);
float float_of(uint16_t half);

}  // namespace limen::engine
