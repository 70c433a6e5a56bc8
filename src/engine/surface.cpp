// suld, sust and sured: unfiltered access to one texel, or to bytes of it. One lane at a time.
// source: PTX ISA 9.0 #surface-instructions: `.b` counts the first coordinate in bytes, `.p` in
// texels; out of bounds: trap, the nearest address, or nothing (reads give 0).
#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/texture_service.h"

namespace limen::engine {
namespace {

using kernel::SurfaceClamp;
using kernel::SurfaceReduction;
using kernel::TextureGeometry;
using kernel::TextureKind;
using kernel::TextureOp;

enum class Where { inside, outside, unmapped, misaligned };

struct Place {
  Where where = Where::inside;
  uint8_t* at = nullptr;
  size_t next = 0;  ///< the operand word after the coordinates
};

/// Finds `bytes` bytes; the first coordinate is multiplied by `step`.
Place place(const Texture& s, TextureOp op, LaneIn in, uint32_t step, uint32_t bytes) {
  const Image& image = s.levels[0];
  Place p;
  int64_t layer = 0, x[3] = {0, 0, 0};
  if (has_layer(op.geometry)) layer = in[p.next++];
  const uint32_t dims = coordinate_count(op.geometry);
  for (uint32_t i = 0; i < dims; ++i) x[i] = static_cast<int32_t>(in[p.next++]);
  x[0] *= step;
  if (has_layer(op.geometry)) x[2] = layer;
  const int64_t row = int64_t{image.width} * s.texel_bytes();
  const int64_t most[3] = {row - bytes, int64_t{image.height} - 1, int64_t{image.depth} - 1};
  if (most[0] < 0) return {Where::outside, nullptr, p.next};
  const bool clamps = static_cast<SurfaceClamp>(op.detail) == SurfaceClamp::clamp;
  for (int i = 0; i < 3; ++i) {
    if (x[i] >= 0 && x[i] <= most[i]) continue;
    if (!clamps) return {Where::outside, nullptr, p.next};
    x[i] = std::clamp<int64_t>(x[i], 0, most[i]);
  }
  if (x[0] % bytes != 0) return {Where::misaligned, nullptr, p.next};
  if (image.tiles) {
    p.at = image.tiles->at(static_cast<uint64_t>(x[0]), static_cast<uint64_t>(x[1]),
                           image.first_slice + static_cast<uint64_t>(x[2]));
    if (!p.at) p.where = Where::unmapped;
    return p;
  }
  p.at = reinterpret_cast<uint8_t*>(image.base + static_cast<uint64_t>(x[2]) * image.slice +
                                    static_cast<uint64_t>(x[1]) * image.pitch +
                                    static_cast<uint64_t>(x[0]));
  return p;
}

uint64_t value_of(LaneIn in, size_t first, uint32_t element, uint32_t count, uint32_t i) {
  const uint64_t low = in[first + i];
  return element == 8 ? low | uint64_t{in[first + count + i]} << 32 : low;
}

template <typename T>
void reduce(void* at, SurfaceReduction how, T value) {
  T* p = static_cast<T*>(at);
  T old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
  do {
    switch (how) {
      case SurfaceReduction::add:
        next = static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                              static_cast<std::make_unsigned_t<T>>(value));
        break;
      case SurfaceReduction::min:
        next = std::min(old, value);
        break;
      case SurfaceReduction::max:
        next = std::max(old, value);
        break;
      case SurfaceReduction::and_:
        next = old & value;
        break;
      default:
        next = old | value;
    }
  } while (!__atomic_compare_exchange_n(p, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void reduce_bits(void* at, uint32_t bytes, SurfaceReduction how, bool is_signed, uint64_t value) {
  if (bytes == 8)
    return is_signed ? reduce(at, how, static_cast<int64_t>(value)) : reduce(at, how, value);
  const auto word = static_cast<uint32_t>(value);
  is_signed ? reduce(at, how, static_cast<int32_t>(word)) : reduce(at, how, word);
}

}  // namespace

TextureError access_surface(const Texture& s, TextureOp op, LaneIn in, LaneOut out) {
  const bool formatted =
      op.kind == TextureKind::store_formatted || op.kind == TextureKind::reduce_formatted;
  const uint32_t bytes = formatted ? s.texel_bytes() : uint32_t{op.type} * op.count;
  if (op.kind == TextureKind::reduce_formatted && (s.channels != 1 || bytes != op.type))
    return {"sured.p on a surface whose texels are not one element of the instruction's size"};
  const Place p = place(s, op, in, formatted ? bytes : 1, bytes);
  if (p.where == Where::misaligned)
    return {"a surface access is not aligned to its size", kernel::Fault::misaligned_address};
  if (p.where == Where::outside && static_cast<SurfaceClamp>(op.detail) == SurfaceClamp::trap)
    return {"a surface access is out of bounds"};
  const bool inside = p.where == Where::inside;
  switch (op.kind) {
    case TextureKind::load:
      for (uint32_t i = 0; i < op.count; ++i) {
        uint64_t value = 0;
        if (inside) std::memcpy(&value, p.at + i * op.type, op.type);
        out[i] = static_cast<uint32_t>(value);
        if (op.type == 8) out[op.count + i] = static_cast<uint32_t>(value >> 32);
      }
      break;
    case TextureKind::store:
      for (uint32_t i = 0; inside && i < op.count; ++i) {
        const uint64_t value = value_of(in, p.next, op.type, op.count, i);
        std::memcpy(p.at + i * op.type, &value, op.type);
      }
      break;
    case TextureKind::store_formatted: {
      uint32_t values[4];
      for (uint32_t i = 0; i < op.count; ++i) values[i] = in[p.next + i];
      if (inside) store_bits(s, p.at, values, op.count);
      break;
    }
    default: {
      const bool is_signed = formatted ? s.format == TexelFormat::s32 : (op.reduction & 0x80) != 0;
      const auto how = static_cast<SurfaceReduction>(op.reduction & 0x7f);
      if (inside) reduce_bits(p.at, op.type, how, is_signed, value_of(in, p.next, op.type, 1, 0));
    }
  }
  return {};
}

}  // namespace limen::engine
