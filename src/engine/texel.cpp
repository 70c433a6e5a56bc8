// Texels between memory and registers, by format. No addressing here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/texture_place.h"
#include "engine/texture_service.h"

namespace limen::engine {
namespace {

template <typename T>
T read_channel(const void* texel, uint32_t i) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(texel) + i * sizeof(T), sizeof(T));
  return value;
}

float unsrgb(float c) {
  return c <= 0.04045f ? c / 12.92f
                       : static_cast<float>(std::pow((double{c} + 0.055) / 1.055, 2.4));
}

/// What an H200 gives for an sRGB byte (measured for 144 of the 256, in tests/programs/
/// texture_record): 8 bits of mantissa, no finer than 2^-14, and 8 values a step beside that.
float srgb_value(int byte) {
  constexpr struct {
    int byte;
    float value;
  } odd[] = {{33, 62.5f}, {65, 216},   {70, 250},   {97, 488},
             {184, 1968}, {249, 3872}, {251, 3936}, {252, 4000}};
  for (const auto& o : odd)
    if (o.byte == byte) return o.value / 4096;
  const float exact = unsrgb(static_cast<float>(byte) / 255.0f);
  int exponent = 0;
  std::frexp(exact, &exponent);
  const float step = std::ldexp(1.0f, std::max(exponent - 8, -14));
  return std::floor(exact / step + 0.5f) * step;
}

/// sRGB textures are 8 bits a channel: 256 values.
const float* srgb_table() {
  static const auto table = [] {
    struct Table {
      float value[256];
    } t;
    for (int i = 0; i < 256; ++i) t.value[i] = srgb_value(i);
    return t;
  }();
  return table.value;
}

uint32_t channel_bits(TexelFormat format, const void* texel, uint32_t i) {
  switch (format) {
    case TexelFormat::u8:
      return read_channel<uint8_t>(texel, i);
    case TexelFormat::u16:
      return read_channel<uint16_t>(texel, i);
    case TexelFormat::s8:
      return static_cast<uint32_t>(int32_t{read_channel<int8_t>(texel, i)});
    case TexelFormat::s16:
      return static_cast<uint32_t>(int32_t{read_channel<int16_t>(texel, i)});
    case TexelFormat::f16:
      return std::bit_cast<uint32_t>(float_of(read_channel<uint16_t>(texel, i)));
    default:
      return read_channel<uint32_t>(texel, i);
  }
}

float channel_float(TexelFormat format, const void* texel, uint32_t i) {
  switch (format) {
    case TexelFormat::u8:
      return static_cast<float>(read_channel<uint8_t>(texel, i)) / 255.0f;
    case TexelFormat::u16:
      return static_cast<float>(read_channel<uint16_t>(texel, i)) / 65535.0f;
    case TexelFormat::s8:
      return std::max(static_cast<float>(read_channel<int8_t>(texel, i)) / 127.0f, -1.0f);
    case TexelFormat::s16:
      return std::max(static_cast<float>(read_channel<int16_t>(texel, i)) / 32767.0f, -1.0f);
    case TexelFormat::f16:
      return float_of(read_channel<uint16_t>(texel, i));
    default:
      return read_channel<float>(texel, i);
  }
}

int32_t nearest(float value, int32_t top) {
  return static_cast<int32_t>(std::floor(value * static_cast<float>(top) + 0.5f));
}

/// A channel in 16-bit fixed point; s8 by the factor that an H200's sums show.
float units_of(TexelFormat format, int32_t value) {
  switch (format) {
    case TexelFormat::u8:
      return static_cast<float>(value * 257);
    case TexelFormat::s8:
      return static_cast<float>(std::max(value, -127)) * (258 + 0x1p-7f);
    case TexelFormat::s16:
      return static_cast<float>(std::max(value, -32767));
    default:
      return static_cast<float>(value);
  }
}

template <typename T>
void write_channel(void* texel, uint32_t i, T value) {
  std::memcpy(static_cast<uint8_t*>(texel) + i * sizeof(T), &value, sizeof(T));
}

}  // namespace

float float_of(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) {
    const float tiny = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -tiny : tiny;
  }
  return std::bit_cast<float>(sign | ((magnitude + (112u << 10)) << 13));
}

uint16_t half_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 2^16
  if (magnitude < 0x38800000u) {  // below 2^-14: the sum's last bits are the half's
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return static_cast<uint16_t>(sign | ((magnitude + 0xfffu + odd - (112u << 23)) >> 13));
}

uint16_t cut_half_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t half;
  if (magnitude > 0x7f800000u)
    half = 0x7e00;
  else if (magnitude == 0x7f800000u)
    half = 0x7c00;
  else if (magnitude >= 0x47800000u)
    half = 0x7bff;
  else if (magnitude < 0x38800000u)
    half = static_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p24f);
  else
    half = (magnitude - (112u << 23)) >> 13;
  return static_cast<uint16_t>(sign | half);
}

void load_bits(const Texture& texture, const void* texel, uint32_t out[4]) {
  out[1] = out[2] = out[3] = 0;
  for (uint32_t i = 0; i < texture.channels; ++i) out[i] = channel_bits(texture.format, texel, i);
}

void load_floats(const Texture& texture, const void* texel, float out[4]) {
  out[1] = out[2] = out[3] = 0;
  if (texture.format == TexelFormat::f32) {
    std::memcpy(out, texel, size_t{texture.channels} * 4);
    return;
  }
  for (uint32_t i = 0; i < texture.channels; ++i)
    out[i] = srgb_channel(texture, i) ? srgb_table()[read_channel<uint8_t>(texel, i)]
                                      : channel_float(texture.format, texel, i);
}

void load_units(const Texture& texture, const void* texel, float out[4]) {
  if (texture.format >= TexelFormat::f16) return load_floats(texture, texel, out);
  out[1] = out[2] = out[3] = 0;
  for (uint32_t i = 0; i < texture.channels; ++i) {
    const auto bits = static_cast<int32_t>(channel_bits(texture.format, texel, i));
    if (srgb_channel(texture, i))
      out[i] = srgb_table()[bits];
    else
      out[i] = units_of(texture.format, bits);
  }
}

void border_units(const Texture& texture, float out[4]) {
  for (uint32_t i = 0; i < 4; ++i) {
    const int32_t top = top_of(texture.format);
    const float c = texture.border[i];
    const bool fixed = top != 0 && !srgb_channel(texture, i) && !texture.integer();
    out[i] = fixed ? units_of(texture.format, nearest(c, top)) : c;
  }
}

void fit_border(Texture* texture) {
  const int32_t top = top_of(texture->format);
  const uint32_t bits = channel_bytes(texture->format) * 8;
  for (uint32_t i = 0; i < 4; ++i) {
    float& c = texture->border[i];
    if (i >= texture->channels) {
      c = 0;
    } else if (top == 0) {
      continue;
    } else if (texture->integer()) {
      const uint32_t low = std::bit_cast<uint32_t>(c) << (32 - bits);
      const bool is_signed =
          texture->format == TexelFormat::s8 || texture->format == TexelFormat::s16;
      const uint32_t wide = is_signed
                                ? static_cast<uint32_t>(static_cast<int32_t>(low) >> (32 - bits))
                                : low >> (32 - bits);
      c = std::bit_cast<float>(wide);
    } else {
      const bool is_signed =
          texture->format == TexelFormat::s8 || texture->format == TexelFormat::s16;
      c = c == c ? std::clamp(c, is_signed ? -1.0f : 0.0f, 1.0f) : 0.0f;
      if (!srgb_channel(*texture, i))
        c = static_cast<float>(nearest(c, top)) / static_cast<float>(top);
    }
  }
}

void store_bits(const Texture& surface, void* texel, const uint32_t* values, uint32_t count) {
  const uint32_t channels = std::min<uint32_t>(surface.channels, count);
  for (uint32_t i = 0; i < channels; ++i) {
    const uint32_t value = values[i];
    const auto number = static_cast<int32_t>(value);
    switch (surface.format) {
      case TexelFormat::u8:
        write_channel(texel, i, static_cast<uint8_t>(std::min(value, 255u)));
        break;
      case TexelFormat::s8:
        write_channel(texel, i, static_cast<int8_t>(std::clamp(number, -128, 127)));
        break;
      case TexelFormat::u16:
        write_channel(texel, i, static_cast<uint16_t>(std::min(value, 65535u)));
        break;
      case TexelFormat::s16:
        write_channel(texel, i, static_cast<int16_t>(std::clamp(number, -32768, 32767)));
        break;
      case TexelFormat::f16:
        write_channel(texel, i, cut_half_of(std::bit_cast<float>(value)));
        break;
      default:
        write_channel(texel, i, value);
    }
  }
}

}  // namespace limen::engine
