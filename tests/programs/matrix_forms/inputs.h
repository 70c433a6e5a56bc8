// The operands that matrix goldens are recorded with: random numbers by theme, from a generator
// seeded with the form's title. Draws are sequenced one by one, so every compiler makes the same.
#pragma once
#include <algorithm>

#include "forms.h"

struct Inputs {
  std::vector<uint8_t> a, b, c, metadata;  // by case
};

enum class Theme {
  near,
  spread,
  wide,
  raw,
  specials,   // infinities, NaNs, largest and smallest numbers among ordinary ones
  cut,        // small numbers beside zeros and the largest: what alignment cuts
  zeros,      // beside large and small factors
  subnormal,  // and nearly so
  tiny,       // products below f32's normal numbers
};
constexpr int themes_of_32 = 8;

// An empty range (high < low) gives zero or infinity, which `encode` makes the largest number.
inline double magnitude(Rng& rng, int low, int high) {
  const double fraction = 1.0 + rng.next() / 4294967296.0;
  return fraction * __builtin_ldexp(1, low + rng.below(high - low + 1));
}

inline int mantissa_bits(Type t) {
  return t == Type::f64    ? 52
         : t == Type::f16  ? 10
         : t == Type::bf16 ? 7
         : t == Type::e4m3 ? 3
         : t == Type::e5m2 ? 2
                           : 23;
}

inline uint64_t special(Rng& rng, Type t) {
  const int w = bits_of(t), mantissa = mantissa_bits(t);
  const uint64_t e4m3[] = {0x7f, 0x7e, 1, 0, 7, 8, 0x38};
  const uint64_t inf = ((1ull << (w - 1)) - 1) >> mantissa << mantissa;
  const uint64_t other[] = {inf,
                            inf | 1ull << (mantissa - 1),
                            inf | 1,
                            inf - 1,
                            1,
                            0,
                            (1ull << mantissa) - 1,
                            1ull << mantissa,
                            (inf >> 1) >> mantissa << mantissa};
  const uint64_t v = t == Type::e4m3 ? e4m3[rng.below(7)] : other[rng.below(9)];
  return v | uint64_t(rng.below(2)) << (w - 1);
}

inline uint64_t element(Rng& rng, Type t, Theme theme, bool accumulator) {
  const int w = bits_of(t), kind = int(theme);
  const uint64_t mask = w == 64 ? ~0ull : (1ull << w) - 1;
  const uint64_t high = rng.next();
  const uint64_t raw = (high << 32 | rng.next()) & mask;
  if (t == Type::s32) {
    if (kind % 4 != 3) return raw;
    const uint32_t near_limit = rng.below(2) ? 0x7ffffff0u : 0x80000010u;
    return uint32_t(near_limit + rng.below(32));
  }
  if (t == Type::s8 || t == Type::u8 || t == Type::s4 || t == Type::u4 || t == Type::b1)
    return kind % 4 == 1 ? (rng.below(2) ? mask : mask >> 1) : raw;
  const int range = t == Type::f16 || t == Type::e5m2 ? 14
                    : t == Type::e4m3                 ? 6
                    : t == Type::f64                  ? 1000
                                                      : 120;
  const double sign = rng.below(2) ? -1 : 1;
  const uint64_t sign_bit = uint64_t(sign < 0) << (w - 1);
  switch (theme) {
    case Theme::near:
      return encode(t, sign * magnitude(rng, -2, 1));
    case Theme::spread:
      return encode(t, sign * magnitude(rng, -std::min(range, 8), std::min(range, 8)));
    case Theme::wide: {
      const int limit = range / (accumulator ? 1 : 2);
      return encode(t, sign * magnitude(rng, -limit, limit));
    }
    case Theme::raw:
      return raw;
    case Theme::specials:
      return rng.below(6) ? encode(t, sign * magnitude(rng, -2, 2)) : special(rng, t);
    case Theme::cut: {
      const int last = rng.below(8) ? -3 : 6;
      const int first = rng.below(8) ? -6 : 5;
      return encode(t, sign * magnitude(rng, first, last));
    }
    case Theme::zeros: {
      if (rng.below(2)) return sign_bit;
      const int first = rng.below(2) ? range / 2 : -range / 2;
      return encode(t, sign * magnitude(rng, first, range / 2));
    }
    case Theme::subnormal:
      return rng.below(3) ? (raw & ((1ull << mantissa_bits(t)) - 1)) | sign_bit
                          : encode(t, sign * magnitude(rng, -range, -range + 2));
    case Theme::tiny:
      if (rng.below(3) == 0) return accumulator ? (raw & 0x7fffff) | sign_bit : sign_bit;
      if (accumulator)
        return rng.below(2) ? sign_bit : encode(t, sign * magnitude(rng, -126, -118));
      return encode(t, sign * magnitude(rng, -78, -60));
  }
  return 0;
}

inline std::vector<uint8_t> fill(Rng& rng, Type t, size_t bytes_a_case,
                                 const std::vector<Theme>& cases, bool accumulator) {
  std::vector<uint8_t> out(bytes_a_case * cases.size());
  const int w = bits_of(t);
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool plain = accumulator && i >= 8 && i % 3 == 0;
    for (size_t at = 0; at < bytes_a_case * 8; at += w) {
      const uint64_t v = element(rng, t, plain ? Theme::near : cases[i], accumulator);
      uint8_t* p = &out[i * bytes_a_case + at / 8];
      if (w >= 8)
        memcpy(p, &v, w / 8);
      else
        *p = uint8_t(*p | v << (at % 8));
    }
  }
  return out;
}

// `set` names the cases within the form and is part of the seed.
inline Inputs inputs_of(const Form& f, const std::string& set, const std::vector<Theme>& cases) {
  uint64_t seed = 1469598103934665603ull;
  for (char ch : f.title() + set) seed = (seed ^ uint8_t(ch)) * 1099511628211ull;
  Rng rng{seed | 1};
  Inputs in;
  in.a = fill(rng, f.a, f.bytes_a(), cases, false);
  in.b = fill(rng, f.b, f.bytes_b(), cases, false);
  in.c = fill(rng, f.c, f.bytes_c(), cases, true);
  in.metadata.resize(cases.size() * bytes_of_metadata());
  for (size_t i = 0; i < in.metadata.size(); i += 4) {
    const uint32_t v = metadata(rng, f.a);
    memcpy(&in.metadata[i], &v, 4);
  }
  return in;
}
