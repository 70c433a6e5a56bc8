// tex of 1, 2 and 3 dimensions, layered or not, and tex1Dfetch, eight lanes at a time: the axes are
// placed for the whole warp, then each format has a kernel that reads and weighs its texels. The
// arithmetic is texture.cpp's in narrower words: fixed point fits 32 bits because coordinates that
// do not are left out (rare_lanes) and no axis is longer than longest_axis. Sums of floats stay in
// double and in its order. Texels are read under masks: lanes that take no part, border texels and
// weights of 0 read nothing (but for the neighbour in x of a texel that counts, which lies in the
// image). Multiplications may be fused into additions: all their products are exact. benchmark:
// texture.
#include "engine/texture_lanes.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/texture_place.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
// To the end of the file, so that templates are instantiated under it. The headers above are not.
#pragma GCC target("avx2,fma")
#endif

namespace limen::engine {

namespace {
constexpr uint32_t step = 8;  ///< lanes at a time
constexpr uint32_t most_lanes = 32;
constexpr uint32_t longest_axis = 1 << 17;        ///< a position is 12 bits of turns, 17 and 8
constexpr uint64_t most_bytes = (1u << 31) - 64;  ///< gathers add a signed 32-bit offset

/// Both texels of an axis, by lane: bytes from the image's first, and not the border.
struct alignas(32) Places {
  int32_t at[2][most_lanes];
  int32_t inside[2][most_lanes];
  int32_t weight[most_lanes];  ///< of the second, in 256ths
};
}  // namespace

struct LaneJob {
  const LanePlan& plan;
  const uint8_t* base;
  uint32_t* out;
  uint32_t width;
  uint32_t lanes;
  Places* axis;  ///< of plan.dims
};

namespace {

using Job = LaneJob;
using kernel::TextureGeometry;
using kernel::TextureKind;
using kernel::TextureLod;
using kernel::TextureResult;

[[gnu::always_inline]] inline __m256i all(int32_t value) { return _mm256_set1_epi32(value); }
[[gnu::always_inline]] inline __m256i all(uint32_t value) {
  return all(static_cast<int32_t>(value));
}
[[gnu::always_inline]] inline __m256i load8(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
[[gnu::always_inline]] inline void store8(int32_t* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
[[gnu::always_inline]] inline __m256i select(__m256i mask, __m256i yes, __m256i no) {
  return _mm256_blendv_epi8(no, yes, mask);
}
constexpr auto one = static_cast<int32_t>(one_weight);

/// All bits in the active lanes of step `first`.
[[gnu::always_inline]] inline __m256i active_lanes(const Job& job, uint32_t first) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i lanes = all(static_cast<int32_t>(job.lanes >> first));
  return _mm256_cmpeq_epi32(_mm256_and_si256(lanes, bit), bit);
}
[[gnu::always_inline]] inline bool any_active(const Job& job, uint32_t first) {
  return job.lanes >> first & 0xff;
}

[[gnu::always_inline]] inline void write8(const Job& job, uint32_t first, uint32_t channel,
                                          __m256i bits) {
  uint32_t* to = job.out + size_t{channel} * job.width + first;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
}

// -- coordinates

/// Lanes that 32 bits do not place as the general path does: NaN, infinite and from 2^22 on, and
/// those whose whole part a double's fraction loses (2^-54, mirrored 2^-53), denormals among them.
constexpr auto large_bits = std::bit_cast<int32_t>(0x1p22f);
constexpr auto tiny_bits = std::bit_cast<int32_t>(0x1p-53f);
constexpr bool is_rare(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffff;
  return magnitude >= large_bits || (magnitude != 0 && magnitude <= tiny_bits);
}
[[gnu::noinline]] uint32_t rare_lanes(const Job& job, const uint32_t* in) {
  uint32_t rare = 0;
  for (uint32_t left = job.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    rare |= uint32_t{is_rare(in[lane])} << lane;
  }
  return rare;
}

/// A coordinate times `size` and `scale` (1 or 256, a power of 2 by `shift`), rounded down, or with
/// `half` to the nearest whole, halves up.
template <AddressMode mode, bool linear>
[[gnu::always_inline]] inline __m256i scaled_position(__m256 x, __m256i size) {
  // 21 bits of fraction, the rest cut off. Both terms are whole, so their difference is exact.
  const __m256 steps = _mm256_set1_ps(0x1p21f), whole = _mm256_floor_ps(x);
  const __m256i part = _mm256_cvttps_epi32(
      _mm256_sub_ps(_mm256_floor_ps(_mm256_mul_ps(x, steps)), _mm256_mul_ps(whole, steps)));
  // 21 by 17 bits in two halves, the lower one cut off where it cannot be seen.
  __m256i high = _mm256_mullo_epi32(_mm256_srli_epi32(part, 11), size);
  __m256i low = _mm256_mullo_epi32(_mm256_and_si256(part, all(2047)), size);
  if (linear) low = _mm256_add_epi32(low, all(1 << 12));
  const __m256i sum = _mm256_add_epi32(high, _mm256_srli_epi32(low, 11));
  const __m256i fixed = linear ? _mm256_srli_epi32(sum, 2) : _mm256_srli_epi32(sum, 10);
  if (mode == AddressMode::wrap) return fixed;
  // Mirrors turn at odd wholes; beyond 4 wholes an edge or border is as far as it gets.
  __m256i turns = _mm256_cvttps_epi32(whole);
  if (mode == AddressMode::mirror)
    turns = _mm256_and_si256(turns, all(1));
  else
    turns = _mm256_max_epi32(_mm256_min_epi32(turns, all(4)), all(-4));
  const __m256i unit = linear ? _mm256_slli_epi32(size, 8) : size;
  return _mm256_add_epi32(fixed, _mm256_mullo_epi32(turns, unit));
}

/// Linear: 256ths of texels, less half a texel. Else texels.
template <bool normalized, AddressMode mode, bool linear>
[[gnu::always_inline]] inline __m256i position_of(__m256 x, __m256i size) {
  const __m256i half = all(one / 2);
  if constexpr (normalized) {
    const __m256i fixed = scaled_position<mode, linear>(x, size);
    return linear ? _mm256_sub_epi32(fixed, half) : fixed;
  } else if constexpr (linear) {
    const __m256 scaled = _mm256_mul_ps(x, _mm256_set1_ps(static_cast<float>(one)));
    const __m256 whole = _mm256_floor_ps(scaled);
    // The difference is rounded only where that does not take it below a half.
    const __m256 up = _mm256_cmp_ps(_mm256_sub_ps(scaled, whole), _mm256_set1_ps(0.5f), _CMP_GE_OQ);
    const __m256i rounded = _mm256_sub_epi32(_mm256_cvttps_epi32(whole), _mm256_castps_si256(up));
    return _mm256_sub_epi32(rounded, half);
  } else {
    return _mm256_cvttps_epi32(_mm256_floor_ps(x));
  }
}

/// resolve() of places that lie at most one texel outside a period.
template <AddressMode mode>
[[gnu::always_inline]] inline __m256i resolve8(__m256i i, __m256i size, __m256i* inside) {
  const __m256i last = _mm256_sub_epi32(size, all(1));
  switch (mode) {
    case AddressMode::wrap: {
      const __m256i below = _mm256_and_si256(_mm256_srai_epi32(i, 31), size);
      const __m256i above = _mm256_and_si256(_mm256_cmpgt_epi32(i, last), size);
      return _mm256_sub_epi32(_mm256_add_epi32(i, below), above);
    }
    case AddressMode::mirror: {
      const __m256i back = _mm256_sub_epi32(_mm256_add_epi32(size, last), i);
      return _mm256_max_epi32(_mm256_min_epi32(i, back), all(0));
    }
    case AddressMode::border:
      *inside = _mm256_cmpeq_epi32(_mm256_min_epu32(i, last), i);
      return i;
    default:
      return _mm256_max_epi32(_mm256_min_epi32(i, last), all(0));
  }
}

template <AddressMode mode>
[[gnu::always_inline]] inline void put(Places* out, uint32_t which, uint32_t first, __m256i i,
                                       __m256i size, __m256i stride) {
  __m256i inside = all(-1);
  const __m256i where = resolve8<mode>(i, size, &inside);
  store8(out->at[which] + first, _mm256_mullo_epi32(where, stride));
  if (mode == AddressMode::border) store8(out->inside[which] + first, inside);
}

/// LanePlan::place.
template <bool normalized, AddressMode mode, bool linear>
uint32_t place(const Job& job, uint32_t axis, const uint32_t* in) {
  const __m256i size = all(job.plan.size[axis]), stride = all(job.plan.stride[axis]);
  Places* out = job.axis + axis;
  __m256i largest = all(0), least = all(-1);
  for (uint32_t first = 0; first < job.width; first += step) {
    if (!any_active(job, first)) continue;
    const __m256i bits = load8(in + first);
    const __m256i magnitude = _mm256_and_si256(bits, all(0x7fffffff));
    largest = _mm256_max_epi32(largest, magnitude);
    // Zeros become the greatest.
    least = _mm256_min_epu32(least, _mm256_sub_epi32(magnitude, all(1)));
    const __m256i fixed = position_of<normalized, mode, linear>(_mm256_castsi256_ps(bits), size);
    if constexpr (linear) {
      const __m256i texel = _mm256_srai_epi32(fixed, 8);
      put<mode>(out, 0, first, texel, size, stride);
      put<mode>(out, 1, first, _mm256_add_epi32(texel, all(1)), size, stride);
      store8(out->weight + first, _mm256_and_si256(fixed, all(one - 1)));
    } else {
      put<mode>(out, 0, first, fixed, size, stride);
    }
  }
  const __m256i large = _mm256_cmpgt_epi32(largest, all(large_bits - 1));
  const __m256i usual = _mm256_cmpeq_epi32(_mm256_min_epu32(least, all(tiny_bits)), all(tiny_bits));
  const __m256i rare = _mm256_or_si256(large, _mm256_xor_si256(usual, all(-1)));
  return _mm256_testz_si256(rare, rare) ? 0 : rare_lanes(job, in);
}

/// tex1Dfetch: zeros outside.
uint32_t place_integers(const Job& job, uint32_t axis, const uint32_t* in) {
  for (uint32_t first = 0; first < job.width; first += step)
    put<AddressMode::border>(job.axis + axis, 0, first, load8(in + first), all(job.plan.size[axis]),
                             all(job.plan.stride[axis]));
  return 0;
}

using Place = uint32_t (*)(const Job&, uint32_t, const uint32_t*);
template <bool linear>
Place place_of(bool normalized, AddressMode mode) {
  const bool border = mode == AddressMode::border;
  if (!normalized)
    return border ? place<false, AddressMode::border, linear>
                  : place<false, AddressMode::clamp, linear>;
  switch (mode) {
    case AddressMode::wrap:
      return place<true, AddressMode::wrap, linear>;
    case AddressMode::mirror:
      return place<true, AddressMode::mirror, linear>;
    case AddressMode::border:
      return place<true, AddressMode::border, linear>;
    default:
      return place<true, AddressMode::clamp, linear>;
  }
}

/// Layers beyond the last, and negative ones, are the last.
void add_layer(const Job& job, const uint32_t* in) {
  for (uint32_t first = 0; first < job.width; first += step) {
    const __m256i layer = _mm256_min_epu32(load8(in + first), all(job.plan.layers - 1));
    const __m256i bytes = _mm256_mullo_epi32(layer, all(job.plan.layer_bytes));
    for (auto& at : job.axis[0].at) store8(at + first, _mm256_add_epi32(load8(at + first), bytes));
  }
}

// -- texels

template <typename T>
[[gnu::always_inline]] inline T word_at(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
/// Four rows of four words in each half, turned: words[i] has word i of all lanes.
[[gnu::always_inline]] inline void transpose(const __m256i* row, __m256i* words) {
  const __m256i low01 = _mm256_unpacklo_epi32(row[0], row[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(row[2], row[3]);
  const __m256i high01 = _mm256_unpackhi_epi32(row[0], row[1]);
  const __m256i high23 = _mm256_unpackhi_epi32(row[2], row[3]);
  words[0] = _mm256_unpacklo_epi64(low01, low23);
  words[1] = _mm256_unpackhi_epi64(low01, low23);
  words[2] = _mm256_unpacklo_epi64(high01, high23);
  words[3] = _mm256_unpackhi_epi64(high01, high23);
}
[[gnu::always_inline]] inline __m256i halves(__m128i low, __m128i high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/// load_texels() of all lanes, by one read a lane: a third to a half of what gathers take on Zen 3.
template <uint32_t bytes>
[[gnu::always_inline]] inline void load_all(const uint8_t* base, __m256i at, __m256i* words) {
  alignas(32) uint32_t k[step];
  _mm256_store_si256(reinterpret_cast<__m256i*>(k), at);
  if constexpr (bytes == 1) {
    __m128i all = _mm_cvtsi32_si128(base[k[0]]);
    all = _mm_insert_epi8(all, base[k[1]], 1);
    all = _mm_insert_epi8(all, base[k[2]], 2);
    all = _mm_insert_epi8(all, base[k[3]], 3);
    all = _mm_insert_epi8(all, base[k[4]], 4);
    all = _mm_insert_epi8(all, base[k[5]], 5);
    all = _mm_insert_epi8(all, base[k[6]], 6);
    all = _mm_insert_epi8(all, base[k[7]], 7);
    words[0] = _mm256_cvtepu8_epi32(all);
  } else if constexpr (bytes == 2) {
    __m128i all = _mm_cvtsi32_si128(word_at<uint16_t>(base + k[0]));
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[1]), 1);
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[2]), 2);
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[3]), 3);
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[4]), 4);
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[5]), 5);
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[6]), 6);
    all = _mm_insert_epi16(all, word_at<uint16_t>(base + k[7]), 7);
    words[0] = _mm256_cvtepu16_epi32(all);
  } else if constexpr (bytes == 4) {
    __m128i half[2];
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t* from = k + size_t{4} * i;
      __m128i four = _mm_cvtsi32_si128(word_at<int32_t>(base + from[0]));
      four = _mm_insert_epi32(four, word_at<int32_t>(base + from[1]), 1);
      four = _mm_insert_epi32(four, word_at<int32_t>(base + from[2]), 2);
      half[i] = _mm_insert_epi32(four, word_at<int32_t>(base + from[3]), 3);
    }
    words[0] = halves(half[0], half[1]);
  } else if constexpr (bytes == 8) {
    __m128i two[4];
    for (uint32_t i = 0; i < 4; ++i)
      two[i] = _mm_castpd_si128(
          _mm_set_pd(word_at<double>(base + k[2 * i + 1]), word_at<double>(base + k[2 * i])));
    const __m256 first = _mm256_castsi256_ps(halves(two[0], two[2]));
    const __m256 second = _mm256_castsi256_ps(halves(two[1], two[3]));
    words[0] = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
    words[1] = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
  } else {
    __m256i row[4];
    for (uint32_t i = 0; i < 4; ++i)
      row[i] = halves(_mm_loadu_si128(reinterpret_cast<const __m128i*>(base + k[i])),
                      _mm_loadu_si128(reinterpret_cast<const __m128i*>(base + k[i + 4])));
    transpose(row, words);
  }
}

/// Reads texels of `bytes` bytes at `base` + `at` as words of 32 bits, zeros where `mask` is not
/// set.
template <uint32_t bytes>
[[gnu::always_inline]] inline void load_texels(const uint8_t* base, __m256i at, __m256i mask,
                                               __m256i* words) {
  if (_mm256_movemask_ps(_mm256_castsi256_ps(mask)) == 0xff) [[likely]]
    return load_all<bytes>(base, at, words);
  const __m256i zero = all(0);
  if constexpr (bytes < 4) {
    // The aligned word around it, which lies in the same page.
    const auto address = reinterpret_cast<uint64_t>(base);
    at = _mm256_add_epi32(at, all(static_cast<int32_t>(address & 3)));
    const __m256i aligned = _mm256_and_si256(at, all(~3));
    const __m256i shift = _mm256_slli_epi32(_mm256_and_si256(at, all(3)), 3);
    const __m256i word = _mm256_mask_i32gather_epi32(
        zero, reinterpret_cast<const int*>(address & ~uint64_t{3}), aligned, mask, 1);
    words[0] = _mm256_srlv_epi32(word, shift);
  } else {
    // One gather for each word: what is read so are edges, borders and halves of warps.
    for (uint32_t i = 0; i < bytes / 4; ++i)
      words[i] =
          _mm256_mask_i32gather_epi32(zero, reinterpret_cast<const int*>(base) + i, at, mask, 1);
  }
}

/// Halves as floats; NaN keeps its bits, which the machine's conversion would not.
[[gnu::always_inline]] inline __m256i widen_halves(__m256i half) {
  const __m256i magnitude = _mm256_slli_epi32(_mm256_and_si256(half, all(0x7fff)), 13);
  const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(half, all(0x8000)), 16);
  const __m256i finite =
      _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(magnitude), _mm256_set1_ps(0x1p112f)));
  const __m256i special = _mm256_cmpgt_epi32(magnitude, all((0x7c00 << 13) - 1));
  const __m256i top = _mm256_or_si256(magnitude, all(0x7f800000));
  return _mm256_or_si256(sign, select(special, top, finite));
}

/// Channel `c` as an integer with the format's sign; halves and floats as a float's bits.
template <TexelFormat format>
[[gnu::always_inline]] inline __m256i channel_of(const __m256i* words, uint32_t c) {
  constexpr uint32_t bits = channel_bytes(format) * 8;
  constexpr bool is_signed = format == TexelFormat::s8 || format == TexelFormat::s16;
  if constexpr (bits == 32) return words[c];
  const __m256i word = words[c * bits / 32];
  const auto from = static_cast<int>(c * bits % 32);
  const int unused = 32 - static_cast<int>(bits);
  const __m256i high = _mm256_slli_epi32(word, unused - from);
  const __m256i value =
      is_signed ? _mm256_srai_epi32(high, unused) : _mm256_srli_epi32(high, unused);
  return format == TexelFormat::f16 ? widen_halves(value) : value;
}

/// `numbers`: normalized integers, else bits stay.
template <TexelFormat format, uint32_t channels, bool numbers>
void point(const Job& job) {
  constexpr uint32_t bytes = channel_bytes(format) * channels;
  for (uint32_t first = 0; first < job.width; first += step) {
    if (!any_active(job, first)) continue;
    __m256i at = load8(job.axis[0].at[0] + first), inside = all(-1);
    for (uint32_t i = 1; i < job.plan.dims; ++i)
      at = _mm256_add_epi32(at, load8(job.axis[i].at[0] + first));
    for (uint32_t left = job.plan.border; left != 0; left &= left - 1)
      inside = _mm256_and_si256(inside, load8(job.axis[std::countr_zero(left)].inside[0] + first));
    __m256i words[4];
    load_texels<bytes>(job.base, at, _mm256_and_si256(inside, active_lanes(job, first)), words);
    for (uint32_t c = 0; c < 4; ++c) {
      __m256i value = all(0);
      if (c < channels) {
        value = channel_of<format>(words, c);
        if (numbers) {
          const __m256 number = _mm256_div_ps(_mm256_cvtepi32_ps(value),
                                              _mm256_set1_ps(static_cast<float>(top_of(format))));
          value = _mm256_castps_si256(_mm256_max_ps(number, _mm256_set1_ps(-1)));
        }
      }
      if (job.plan.border) value = select(inside, value, all(job.plan.border_raw[c]));
      write8(job, first, c, value);
    }
  }
}

// -- linear filters

/// part() of weights up to 256.
[[gnu::always_inline]] inline __m256i part8(__m256i weight, __m256i of) {
  const __m256i product = _mm256_madd_epi16(weight, of);
  return _mm256_srli_epi32(_mm256_add_epi32(product, all(128)), 8);
}

/// Weights of all corners, 0 in lanes that take no part: weigh() with the share of each z.
template <uint32_t dims>
[[gnu::always_inline]] inline void weigh8(const Job& job, uint32_t first, __m256i* out) {
  const __m256i whole = all(one), active = active_lanes(job, first);
  const __m256i x = load8(job.axis[0].weight + first);
  if constexpr (dims == 1) {
    out[0] = _mm256_and_si256(_mm256_sub_epi32(whole, x), active);
    out[1] = _mm256_and_si256(x, active);
    return;
  }
  const __m256i y = load8(job.axis[1].weight + first), above = _mm256_sub_epi32(whole, y);
  for (uint32_t z = 0; z < (dims > 2 ? 2 : 1); ++z) {
    __m256i share = whole;
    if constexpr (dims > 2) {
      const __m256i third = load8(job.axis[2].weight + first);
      share = z ? third : _mm256_sub_epi32(whole, third);
    }
    share = _mm256_and_si256(share, active);
    const __m256i right = part8(share, x), left = _mm256_sub_epi32(share, right);
    __m256i* corner = out + size_t{4} * z;
    corner[3] = part8(right, y);
    corner[1] = _mm256_sub_epi32(right, corner[3]);
    corner[0] = part8(left, above);
    corner[2] = _mm256_sub_epi32(left, corner[0]);
  }
}

/// Where a corner's texels lie.
template <uint32_t dims>
[[gnu::always_inline]] inline __m256i corner_at(const Job& job, uint32_t first, uint32_t corner) {
  __m256i at = load8(job.axis[0].at[corner & 1] + first);
  for (uint32_t i = 1; i < dims; ++i)
    at = _mm256_add_epi32(at, load8(job.axis[i].at[corner >> i & 1] + first));
  return at;
}
/// Lanes whose texel at a corner is none of the border.
[[gnu::always_inline]] inline __m256i corner_inside(const Job& job, uint32_t first,
                                                    uint32_t corner) {
  __m256i inside = all(-1);
  for (uint32_t left = job.plan.border; left != 0; left &= left - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(left));
    inside = _mm256_and_si256(inside, load8(job.axis[i].inside[corner >> i & 1] + first));
  }
  return inside;
}
/// Whether both texels of x lie side by side in all active lanes.
template <uint32_t bytes>
[[gnu::always_inline]] inline bool side_by_side(const Job& job, uint32_t first) {
  const Places& x = job.axis[0];
  const __m256i apart = _mm256_sub_epi32(load8(x.at[1] + first), load8(x.at[0] + first));
  __m256i yes = _mm256_cmpeq_epi32(apart, all(bytes));
  if (job.plan.border & 1)
    yes = _mm256_and_si256(
        yes, _mm256_and_si256(load8(x.inside[0] + first), load8(x.inside[1] + first)));
  const int lanes = _mm256_movemask_ps(_mm256_castsi256_ps(yes));
  return (job.lanes >> first & 0xff & ~static_cast<uint32_t>(lanes)) == 0;
}

/// Reads two texels that lie side by side, at half the price.
template <uint32_t bytes>
[[gnu::always_inline]] inline void load_pair(const Job& job, __m256i at, __m256i mask,
                                             __m256i* left, __m256i* right) {
  if constexpr (bytes == 1) {
    // Four bytes about them, all within the image.
    const __m256i window = _mm256_min_epi32(at, all(job.plan.last_word));
    load_texels<4>(job.base, window, mask, left);
    left[0] = _mm256_srlv_epi32(left[0], _mm256_slli_epi32(_mm256_sub_epi32(at, window), 3));
    right[0] = _mm256_srli_epi32(left[0], 8);
  } else if constexpr (bytes <= 8) {
    __m256i words[4];
    load_texels<2 * bytes>(job.base, at, mask, words);
    left[0] = words[0];
    right[0] = bytes == 2 ? _mm256_srli_epi32(words[0], 16) : words[bytes / 4];
    if constexpr (bytes == 8) left[1] = words[1], right[1] = words[3];
  }
}

/// Four sums rounded as filtered_bits() rounds them, but for NaN.
[[gnu::always_inline]] inline __m128 rounded_sums(__m256d sum) {
  const __m256i value = _mm256_castpd_si256(_mm256_mul_pd(sum, _mm256_set1_pd(0x1p-8)));
  const __m256i half = _mm256_set1_epi64x(int64_t{1} << 28);
  const __m256d rounded = _mm256_castsi256_pd(
      _mm256_and_si256(_mm256_add_epi64(value, half), _mm256_set1_epi64x(-(int64_t{1} << 29))));
  const __m256d sign = _mm256_set1_pd(-0.0);
  const __m256d normal =
      _mm256_cmp_pd(_mm256_andnot_pd(sign, rounded), _mm256_set1_pd(0x1p-126), _CMP_NLT_UQ);
  return _mm256_cvtpd_ps(_mm256_and_pd(rounded, _mm256_or_pd(normal, sign)));
}
/// Eight sums as filtered_bits() writes them. A NaN has a float's payload, so it outlasts rounding.
[[gnu::always_inline]] inline __m256i float_bits(__m256d below, __m256d above) {
  const __m256 value = _mm256_set_m128(rounded_sums(above), rounded_sums(below));
  const __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
  return _mm256_castps_si256(_mm256_blendv_ps(value, _mm256_castsi256_ps(all(0x7fffffff)), nan));
}

/// Integers stay integers: their sums are below 2^24, and so is the fixed point of 16 bits that the
/// general path adds up, except for s8, whose units are 33025 / 128.
template <TexelFormat format>
[[gnu::always_inline]] inline __m256i fixed_bits(__m256i sum) {
  __m256i units;
  if constexpr (format == TexelFormat::u8) {
    const __m256i wide = _mm256_add_epi32(_mm256_slli_epi32(sum, 8), sum);
    units = _mm256_srli_epi32(_mm256_add_epi32(wide, all(128)), 8);
  } else if constexpr (format == TexelFormat::s8) {
    const __m256i wide = _mm256_mullo_epi32(sum, all(33025));
    units = _mm256_srai_epi32(_mm256_add_epi32(wide, all(1 << 14)), 15);
  } else {
    units = _mm256_srai_epi32(_mm256_add_epi32(sum, all(128)), 8);
  }
  const float top = format == TexelFormat::u8 || format == TexelFormat::u16 ? 65535 : 32767;
  return _mm256_castps_si256(_mm256_div_ps(_mm256_cvtepi32_ps(units), _mm256_set1_ps(top)));
}

template <TexelFormat format>
constexpr bool sums_integers = top_of(format) != 0;

[[gnu::always_inline]] inline __m256d widened_weight(__m128i weight) {
  return _mm256_cvtepi32_pd(weight);
}
[[gnu::always_inline]] inline __m256d widened(__m128i value) {
  return _mm256_cvtps_pd(_mm_castsi128_ps(value));
}

/// One channel of eight lanes. GCC gives constructors that it writes itself no target: clear().
template <TexelFormat format>
struct Sum {
  void clear() { below = above = _mm256_setzero_pd(); }
  void add(__m256i weight, __m256i value) {
    below = _mm256_fmadd_pd(widened_weight(_mm256_castsi256_si128(weight)),
                            widened(_mm256_castsi256_si128(value)), below);
    above = _mm256_fmadd_pd(widened_weight(_mm256_extracti128_si256(weight, 1)),
                            widened(_mm256_extracti128_si256(value, 1)), above);
  }
  __m256i bits() const { return float_bits(below, above); }
  __m256d below, above;
};
template <TexelFormat format>
  requires sums_integers<format>
struct Sum<format> {
  void clear() { sum = _mm256_setzero_si256(); }
  void add(__m256i weight, __m256i value) {
    constexpr bool is_signed = format == TexelFormat::s8 || format == TexelFormat::s16;
    if (is_signed) value = _mm256_max_epi32(value, all(-top_of(format)));
    // 16 bits by 16 where the value has a sign or is short.
    sum = _mm256_add_epi32(sum, format == TexelFormat::u16 ? _mm256_mullo_epi32(weight, value)
                                                           : _mm256_madd_epi16(weight, value));
  }
  __m256i bits() const { return fixed_bits<format>(sum); }
  __m256i sum;
};

/// Adds a corner to the sums of all channels.
template <TexelFormat format, uint32_t channels, bool border>
[[gnu::always_inline]] inline void add_corner(const Job& job, __m256i weight, __m256i inside,
                                              const __m256i* words, Sum<format>* sum) {
  for (uint32_t c = 0; c < channels; ++c) {
    __m256i value = channel_of<format>(words, c);
    if (border) value = select(inside, value, all(job.plan.border_raw[c]));
    // 0 times infinity must not become NaN.
    if (!sums_integers<format>) value = _mm256_and_si256(value, _mm256_cmpgt_epi32(weight, all(0)));
    sum[c].add(weight, value);
  }
}

template <TexelFormat format, uint32_t channels, uint32_t dims, bool border>
[[gnu::always_inline]] inline void filter_step(const Job& job, uint32_t first) {
  constexpr uint32_t corners = 1u << dims, bytes = channel_bytes(format) * channels;
  constexpr auto add = add_corner<format, channels, border>;
  __m256i weight[corners];
  weigh8<dims>(job, first, weight);
  Sum<format> sum[channels];
  for (auto& s : sum) s.clear();
  const __m256i inside = all(-1);
  if (bytes <= 8 && (bytes > 1 || job.plan.last_word >= 0) && side_by_side<bytes>(job, first)) {
#pragma GCC unroll 4
    for (uint32_t corner = 0; corner < corners; corner += 2) {
      const __m256i both = _mm256_add_epi32(weight[corner], weight[corner + 1]);
      __m256i mask = _mm256_cmpgt_epi32(both, all(0)), left[2], right[2];
      const __m256i in = border ? corner_inside(job, first, corner) : inside;
      if (border) mask = _mm256_and_si256(mask, in);
      load_pair<bytes>(job, corner_at<dims>(job, first, corner), mask, left, right);
      add(job, weight[corner], in, left, sum);
      add(job, weight[corner + 1], in, right, sum);
    }
  } else {
    // Edges, except where texels have 16 bytes: not worth its size in code.
#pragma GCC unroll 1
    for (uint32_t corner = 0; corner < corners; ++corner) {
      __m256i mask = _mm256_cmpgt_epi32(weight[corner], all(0)), words[4];
      const __m256i in = border ? corner_inside(job, first, corner) : inside;
      if (border) mask = _mm256_and_si256(mask, in);
      load_texels<bytes>(job.base, corner_at<dims>(job, first, corner), mask, words);
      add(job, weight[corner], in, words, sum);
    }
  }
  for (uint32_t c = 0; c < 4; ++c) write8(job, first, c, c < channels ? sum[c].bits() : all(0));
}

template <TexelFormat format, uint32_t channels, uint32_t dims>
void filter(const Job& job) {
  for (uint32_t first = 0; first < job.width; first += step)
    if (any_active(job, first))
      job.plan.border ? filter_step<format, channels, dims, true>(job, first)
                      : filter_step<format, channels, dims, false>(job, first);
}

// -- which kernel

using Read = decltype(LanePlan::read);
template <TexelFormat format, bool numbers>
constexpr std::array<Read, 3> points = {point<format, 1, numbers>, point<format, 2, numbers>,
                                        point<format, 4, numbers>};
template <TexelFormat format, uint32_t channels>
constexpr std::array<Read, 3> filters_of = {
    filter<format, channels, 1>, filter<format, channels, 2>, filter<format, channels, 3>};
template <TexelFormat format>
constexpr std::array<std::array<Read, 3>, 3> filters = {
    filters_of<format, 1>, filters_of<format, 2>, filters_of<format, 4>};

/// By format and channels (1, 2, 4).
constexpr std::array<Read, 3> bits_points[] = {
    points<TexelFormat::u8, false>,  points<TexelFormat::u16, false>,
    points<TexelFormat::u32, false>, points<TexelFormat::s8, false>,
    points<TexelFormat::s16, false>, points<TexelFormat::s32, false>,
    points<TexelFormat::f16, false>, points<TexelFormat::f32, false>};
constexpr std::array<Read, 3> number_points[] = {
    points<TexelFormat::u8, true>,   points<TexelFormat::u16, true>, {},
    points<TexelFormat::s8, true>,   points<TexelFormat::s16, true>, {},
    points<TexelFormat::f16, false>, points<TexelFormat::f32, false>};
/// By format, channels and dimensions. Textures of 32-bit integers have no filter.
constexpr std::array<std::array<Read, 3>, 3> filter_reads[] = {
    filters<TexelFormat::u8>,  filters<TexelFormat::u16>, {},
    filters<TexelFormat::s8>,  filters<TexelFormat::s16>, {},
    filters<TexelFormat::f16>, filters<TexelFormat::f32>};

Read read_of(const Texture& t, uint32_t dims, bool linear) {
  const auto format = static_cast<uint32_t>(t.format), channels = t.channels / 2u;
  if (linear) return filter_reads[format][channels][dims - 1];
  return (t.integer() ? bits_points : number_points)[format][channels];
}

void take_border(const Texture& t, bool linear, int32_t (&out)[4]) {
  if (!linear) {
    std::memcpy(out, t.border, sizeof out);
    return;
  }
  float units[4];
  border_units(t, units);
  const float unit = t.format == TexelFormat::u8   ? 257
                     : t.format == TexelFormat::s8 ? 258 + 0x1p-7f
                                                   : 1;
  const bool integers = filter_units(t, 0) != 0;
  for (uint32_t i = 0; i < 4; ++i)
    out[i] = integers ? static_cast<int32_t>(units[i] / unit) : std::bit_cast<int32_t>(units[i]);
}

/// The bytes of the image if 32-bit offsets reach its texels, 8 and 16 bit ones within aligned
/// words; else 0.
uint32_t reachable_bytes(const Texture& t, uint32_t dims) {
  const Image& image = t.levels[0];
  const uint32_t depth = dims > 2 || t.layered ? image.depth : 1;
  const uint32_t height = dims > 1 ? image.height : 1, bytes = t.texel_bytes();
  if (!image.width || !height || !depth) return 0;
  if (!t.buffer && std::max({image.width, height, depth}) > longest_axis) return 0;
  // Each factor is bounded before it is used, so nothing overflows.
  uint64_t span = uint64_t{image.width} * bytes;
  if (span > most_bytes || image.pitch > most_bytes || image.slice > most_bytes) return 0;
  span += (height - 1) * image.pitch + (depth - 1) * image.slice;
  if (span > most_bytes) return 0;
  const uint64_t steps = (height > 1 ? image.pitch : 0) | (depth > 1 ? image.slice : 0);
  const bool whole = bytes >= 4 || ((image.base | steps) & (bytes - 1)) == 0;
  return whole ? static_cast<uint32_t>(span) : 0;
}

TextureGeometry geometry_of(const Texture& t) {
  if (t.layered) return t.dims == 1 ? TextureGeometry::a1d : TextureGeometry::a2d;
  return t.dims == 1   ? TextureGeometry::d1
         : t.dims == 2 ? TextureGeometry::d2
                       : TextureGeometry::d3;
}

}  // namespace

LanePlan plan_of(const Texture& t) {
  LanePlan plan;
  const bool linear = t.linear && !t.integer();
  const uint32_t dims = t.dims;
  if (t.kind != Texture::Kind::texture || t.level_count != 1 || t.cube || t.srgb ||
      t.levels[0].tiles || dims == 0 || dims > (t.layered ? 2 : 3))
    return plan;
  // A filtered line with a border has a second axis: the general path knows.
  if (dims == 1 && !t.layered && linear && t.address[1] == AddressMode::border) return plan;
  const uint32_t bytes = reachable_bytes(t, dims);
  if (!bytes) return plan;
  const Image& image = t.levels[0];
  const uint32_t size[3] = {image.width, image.height, image.depth};
  const uint32_t stride[3] = {t.texel_bytes(), static_cast<uint32_t>(image.pitch),
                              static_cast<uint32_t>(image.slice)};
  plan.geometry = geometry_of(t);
  plan.dims = t.dims;
  plan.last_word = static_cast<int32_t>(bytes) - 4;
  for (uint32_t i = 0; i < dims; ++i) {
    const AddressMode mode = effective_mode(t, i);
    plan.size[i] = size[i];
    plan.stride[i] = stride[i];
    plan.place[i] =
        linear ? place_of<true>(t.normalized, mode) : place_of<false>(t.normalized, mode);
    plan.border |= uint32_t{mode == AddressMode::border} << i;
  }
  if (t.layered) plan.layers = image.depth, plan.layer_bytes = stride[2];
  if (t.buffer) {
    plan.flags = kernel::texture_integer_coordinates;
    plan.place[0] = place_integers;
    plan.border = 1;
  } else {
    take_border(t, linear, plan.border_raw);
  }
  plan.read = read_of(t, dims, linear && !t.buffer);
  return plan;
}

uint32_t fetch_lanes(const Texture& t, const TextureCall& call) {
  const LanePlan& plan = t.plan;
  const kernel::TextureOp op = call.op;
  if (!plan.read || op.geometry != plan.geometry || op.flags != plan.flags ||
      op.kind != TextureKind::fetch ||
      static_cast<TextureResult>(op.type) != TextureResult::words || call.width % step != 0 ||
      call.width > most_lanes)
    return 0;
  // With one level its number means nothing; a buffer's may name another.
  if (op.lod != TextureLod::base && (t.buffer || (op.lod == TextureLod::grad && t.anisotropic)))
    return 0;
  Places axis[3];
  Job job{plan,       reinterpret_cast<const uint8_t*>(t.levels[0].base),
          call.out,   call.width,
          call.lanes, axis};
  const uint32_t* in = call.in + (plan.layers ? call.width : 0);
  uint32_t rare = 0;
  for (uint32_t i = 0; i < plan.dims; ++i)
    rare |= plan.place[i](job, i, in + size_t{i} * call.width);
  if (plan.layers) add_layer(job, call.in);
  job.lanes &= ~rare;
  plan.read(job);
  return job.lanes;
}

}  // namespace limen::engine

#if defined(__clang__)
#pragma clang attribute pop
#endif
