// Values are made as 64-bit patterns, whatever their class, and cut to the width of the register.
// Edge lists are in order of importance: where not all can be crossed, the first are.
#include "tools/test/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace limen::golden {

namespace {

using Values = std::vector<uint64_t>;

/// splitmix64: small, and its results are the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

struct FloatFormat {
  unsigned exponent_bits, mantissa_bits;
  unsigned sign_at() const { return exponent_bits + mantissa_bits; }
  uint64_t sign() const { return uint64_t{1} << sign_at(); }
  uint64_t hidden() const { return uint64_t{1} << mantissa_bits; }
  uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// 1.0 times 2^exponent.
  uint64_t power(int exponent) const {
    return static_cast<uint64_t>(std::clamp(exponent + bias(), 0, 2 * bias())) << mantissa_bits;
  }
};

constexpr FloatFormat half{5, 10}, brain{8, 7}, single{8, 23}, twice{11, 52};

uint64_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

Values integer_edges(unsigned width) {
  uint64_t top = uint64_t{1} << (width - 1);
  Values out = {0,
                1,
                ~uint64_t{0},
                top,
                top - 1,
                2,
                ~uint64_t{1},
                top + 1,
                top - 2,
                3,
                10,
                ~uint64_t{6},
                0x5555555555555555,
                0xaaaaaaaaaaaaaaaa,
                7,
                8,
                31,
                32,
                33,
                127,
                128,
                255,
                256,
                ~uint64_t{127},
                ~uint64_t{128},
                0x7fff,
                0x8000,
                0xffff,
                0x0123456789abcdef,
                0x80808080ff00017f,
                0x7f80ff01807f00ff};
  for (unsigned k = 2; k < width; ++k)
    for (uint64_t near : {uint64_t{0}, ~uint64_t{0}, uint64_t{1}}) {
      out.push_back((uint64_t{1} << k) + near);
      out.push_back(~((uint64_t{1} << k) + near) + 1);
    }
  return out;
}

Values float_edges(FloatFormat f) {
  uint64_t one = f.power(0), infinity = f.infinity(), quiet = f.hidden() >> 1;
  Values magnitudes = {0,
                       one,
                       infinity,
                       infinity | quiet,
                       infinity | 1,
                       infinity - 1,
                       f.hidden(),
                       1,
                       f.hidden() - 1,
                       f.power(1),
                       f.power(-1),
                       one | quiet,
                       one + 1,
                       one - 1,
                       f.power(1) | quiet,
                       f.power(3) | f.hidden() >> 2,
                       infinity | quiet | 5,
                       infinity | (f.hidden() - 1),
                       infinity | (quiet - 1),
                       f.hidden() + 1,
                       2,
                       3,
                       f.power(-3) | (f.hidden() - 1) / 5 * 3,
                       f.power(static_cast<int>(f.mantissa_bits)),
                       f.power(static_cast<int>(f.mantissa_bits) + 1),
                       f.power(f.bias()),
                       f.power(f.bias() / 2),
                       f.power(-f.bias() / 2),
                       f.power(1 - f.bias() / 2),
                       f.power(-static_cast<int>(f.mantissa_bits) - 1),
                       f.hidden() >> 1};
  Values out;
  for (uint64_t m : magnitudes) {
    out.push_back(m);
    out.push_back(m | f.sign());
  }
  return out;
}

/// Where conversions to integers and to narrower formats change their minds.
template <typename Float>
Values conversion_edges(FloatFormat f) {
  Values out = float_edges(f);
  auto around = [&](double value) {
    uint64_t bits = bits_of(static_cast<Float>(value));
    for (uint64_t b : {bits, bits - 1, bits + 1}) {
      out.push_back(b);
      out.push_back(b | f.sign());
    }
  };
  for (double v : {0.5, 1.5, 2.5, 3.5, 0.25, 0.75, 126.5, 127.5, 128.5, 254.5, 255.5, 256.5})
    around(v);
  for (int k : {7, 8, 11, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64, 127}) {
    around(std::ldexp(1.0, k));
    around(std::ldexp(1.0, k) - 0.5);
    around(std::ldexp(1.0, k) - 1);
  }
  // f16, e4m3, e5m2, bf16, f32: the largest, where it rounds to infinity, the smallest and half of
  // it.
  for (double v : {65504.0, 65520.0, 448.0, 464.0, 480.0, 57344.0, 61440.0, 3.3895313892515355e38,
                   3.3961775292304957e38, 3.4028234663852886e38, 3.4028235677973366e38})
    around(v);
  for (int k : {-6, -9, -10, -14, -15, -16, -17, -24, -25, -126, -127, -133, -134, -149, -150})
    around(std::ldexp(1.0, k));
  return out;
}

Values count_edges() {
  return {0,   1,   31,      32,         33,         7,          8,     15,
          16,  63,  64,      65,         0xffffffff, 0x80000000, 255,   256,
          257, 2,   5,       17,         24,         30,         47,    62,
          127, 128, 0x10001, 0x7fffffff, 0xfffffffb, 0xffffffe0, 0x120, 0xff08};
}

Values selector_edges() {
  return {0,      0x3210, 0x7654, 0x0123, 0xfedc, 0x8888,     1,          2,      3,
          0xba98, 0x5410, 0x7632, 0xffff, 0x4567, 0xffff3210, 0x80000001, 0x9c35, 0xffffffff};
}

Values angle_edges() {
  Values out = float_edges(single);
  const double pi = 3.14159265358979323846;
  for (int k = 1; k <= 8; ++k)
    for (double s : {1.0, -1.0}) {
      out.push_back(bits_of(static_cast<float>(s * k * pi / 4)));
      out.push_back(bits_of(static_cast<float>(s * k * pi / 4)) + 1);
    }
  return out;
}

Values packed_edges(FloatFormat f) {
  Values one = float_edges(f), out;
  for (size_t i = 0; i < one.size(); ++i)
    out.push_back(one[i] | one[(i * 7 + 3) % one.size()] << 16);
  return out;
}

Values byte_pairs() {
  Values out;
  for (uint64_t i = 0; i < 256; ++i) out.push_back(i | ((i * 37 + 11) & 255) << 8);
  return out;
}

uint64_t any_integer(Random& random, unsigned width) {
  uint64_t bits = random.next();
  switch (random.below(4)) {
    case 0:  // small, of either sign
      return random.below(2) ? bits & 255 : ~(bits & 255);
    case 1: {  // ends as a halfway case of a conversion to a float of 8, 11, 24 or 53 bits
      const unsigned kept[] = {8, 11, 24, 53};
      unsigned length = 1 + static_cast<unsigned>(random.below(width));
      unsigned keep = kept[random.below(4)];
      uint64_t value = (bits | uint64_t{1} << 63) >> (64 - length);
      if (length <= keep) return value;
      unsigned low = length - keep;
      uint64_t tie = uint64_t{1} << (low - 1);
      value = value >> low << low | (tie + random.below(3) - 1);
      return random.below(2) ? value : ~value + 1;
    }
    default:
      return bits;
  }
}

uint64_t any_float(Random& random, FloatFormat f) {
  uint64_t bits = random.next(), sign = random.below(2) ? f.sign() : 0;
  uint64_t fraction = bits & (f.hidden() - 1);
  switch (random.below(6)) {
    case 0:  // any pattern
      return bits & (2 * f.sign() - 1);
    case 1:  // subnormal
      return sign | fraction >> random.below(f.mantissa_bits);
    case 2: {  // halfway between two values of fewer bits, or beside it
      unsigned keep = static_cast<unsigned>(random.below(f.mantissa_bits - 1));
      unsigned low = f.mantissa_bits - keep;
      uint64_t tie = uint64_t{1} << (low - 1);
      fraction = fraction >> low << low | (tie + random.below(3) - 1);
      return sign |
             (f.power(static_cast<int>(random.below(48)) - 28) + (fraction & (f.hidden() - 1)));
    }
    case 3: {  // few bits: sums and products are exact or ties
      // One draw a statement, here and below: the order of operands is the compiler's choice.
      const auto exponent = static_cast<int>(random.below(24)) - 12;
      const uint64_t cut = (f.hidden() - 1) >> random.below(5);
      return sign | f.power(exponent) | (fraction & ~cut);
    }
    default:  // of moderate size
      return sign | f.power(static_cast<int>(random.below(14)) - 7) | fraction;
  }
}

/// Also halfway cases of the formats that conversions lead to.
uint64_t any_converted(Random& random, FloatFormat f) {
  if (random.below(2)) return any_float(random, f);
  const unsigned kept[] = {0, 1, 2, 3, 7, 10, 23};
  unsigned keep = std::min(kept[random.below(7)], f.mantissa_bits - 2);
  // Below the smallest normal number of a format the kept bits shrink.
  int exponent = static_cast<int>(random.below(70)) - 30;
  unsigned low = f.mantissa_bits - keep;
  uint64_t tie = uint64_t{1} << (low - 1);
  const uint64_t upper = (random.next() & (f.hidden() - 1)) >> low << low;
  const uint64_t fraction = upper | (tie + random.below(3) - 1);
  return (random.below(2) ? f.sign() : 0) | f.power(exponent) | fraction;
}

uint64_t any_angle(Random& random) {
  if (random.below(4) == 0) return any_float(random, single);
  double unit = static_cast<double>(random.next() >> 11) * 0x1p-53 * 2 - 1;
  double range = random.below(3) ? 3.14159265358979 : 40;
  return bits_of(static_cast<float>(unit * range));
}

struct ValueClass {
  unsigned bytes;
  Values edges;
  uint64_t (*any)(Random&);
};

const std::map<std::string, ValueClass>& classes() {
  static const std::map<std::string, ValueClass> all = {
      {"i8", {1, integer_edges(8), [](Random& r) { return any_integer(r, 8); }}},
      {"i16", {2, integer_edges(16), [](Random& r) { return any_integer(r, 16); }}},
      {"i32", {4, integer_edges(32), [](Random& r) { return any_integer(r, 32); }}},
      {"i64", {8, integer_edges(64), [](Random& r) { return any_integer(r, 64); }}},
      {"count", {4, count_edges(), [](Random& r) { return r.below(8) ? r.below(70) : r.next(); }}},
      {"sel", {4, selector_edges(), [](Random& r) { return r.next(); }}},
      {"pred", {1, {0, 1}, [](Random& r) { return r.below(2); }}},
      {"carry", {4, {0, 1}, [](Random& r) { return r.below(2); }}},
      {"f16", {2, float_edges(half), [](Random& r) { return any_float(r, half); }}},
      {"bf16", {2, float_edges(brain), [](Random& r) { return any_float(r, brain); }}},
      {"f16x2",
       {4, packed_edges(half),
        [](Random& r) {
          uint64_t low = any_float(r, half);
          return low | any_float(r, half) << 16;
        }}},
      {"bf16x2",
       {4, packed_edges(brain),
        [](Random& r) {
          uint64_t low = any_float(r, brain);
          return low | any_float(r, brain) << 16;
        }}},
      {"f32", {4, float_edges(single), [](Random& r) { return any_float(r, single); }}},
      {"f64", {8, float_edges(twice), [](Random& r) { return any_float(r, twice); }}},
      {"f32cvt",
       {4, conversion_edges<float>(single), [](Random& r) { return any_converted(r, single); }}},
      {"f64cvt",
       {8, conversion_edges<double>(twice), [](Random& r) { return any_converted(r, twice); }}},
      {"angle", {4, angle_edges(), any_angle}},
      {"e4m3x2", {2, byte_pairs(), [](Random& r) { return r.next(); }}},
      {"e5m2x2", {2, byte_pairs(), [](Random& r) { return r.next(); }}},
  };
  return all;
}

/// How many of each list are crossed, so that the product takes at most half of the tuples.
size_t crossed_edges(const std::vector<const ValueClass*>& columns, size_t tuples) {
  size_t best = 1;
  for (size_t k = 2;; ++k) {
    size_t product = 1;
    bool grows = false;
    for (const ValueClass* c : columns) {
      product *= std::min(k, c->edges.size());
      grows |= k <= c->edges.size();
    }
    if (!grows || product > tuples / 2) return best;
    best = k;
  }
}

void random_tuple(Random& random, const Kernel& kernel,
                  const std::vector<const ValueClass*>& columns, Values& tuple) {
  for (size_t c = 0; c < columns.size(); ++c) {
    const Values& edges = columns[c]->edges;
    bool related = c > 0 && kernel.columns[c].value_class == kernel.columns[0].value_class &&
                   random.below(8) == 0;
    if (related) {
      const uint64_t changes[] = {0, 1, uint64_t{1} << (columns[c]->bytes * 8 - 1), 2};
      tuple[c] = tuple[0] ^ changes[random.below(4)];
    } else if (random.below(2)) {
      tuple[c] = edges[random.below(edges.size())];
    } else {
      tuple[c] = columns[c]->any(random);
    }
  }
}

}  // namespace

uint32_t hash_of(const void* bytes, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const uint8_t*>(bytes)[i]) * 16777619u;
  return hash;
}

unsigned class_bytes(const std::string& value_class) {
  auto found = classes().find(value_class);
  return found == classes().end() ? 0 : found->second.bytes;
}

Result<std::vector<uint8_t>> make_input(const Kernel& kernel) {
  std::vector<const ValueClass*> columns;
  for (const Column& column : kernel.columns) {
    auto found = classes().find(column.value_class);
    if (found == classes().end())
      return Error{Code::invalid_value, fmt::format("class {} is not known", column.value_class),
                   ""};
    columns.push_back(&found->second);
  }
  size_t n = kernel.tuples, count = columns.size();
  std::vector<uint8_t> input(count * n * 8, 0);
  std::string signature = kernel.signature();
  Random random(hash_of(signature.data(), signature.size()));
  // One operand: all its edges. More: the first of each crossed.
  size_t crossed = count == 1 ? columns[0]->edges.size() : crossed_edges(columns, n);
  Values tuple(count);
  std::vector<size_t> at(count, 0);
  bool crossing = count > 0;
  for (size_t t = 0; t < n; ++t) {
    if (crossing) {
      for (size_t c = 0; c < count; ++c) tuple[c] = columns[c]->edges[at[c]];
      size_t c = 0;
      while (c < count && ++at[c] == std::min(crossed, columns[c]->edges.size())) at[c++] = 0;
      crossing = c < count;
    } else if (count == 1) {
      tuple[0] = columns[0]->any(random);
    } else {
      random_tuple(random, kernel, columns, tuple);
    }
    for (size_t c = 0; c < count; ++c)
      std::memcpy(&input[c * n * 8 + t * columns[c]->bytes], &tuple[c], columns[c]->bytes);
  }
  return input;
}

uint64_t input_value(const Kernel& kernel, const std::vector<uint8_t>& input, size_t column,
                     size_t tuple) {
  unsigned bytes = class_bytes(kernel.columns[column].value_class);
  uint64_t value = 0;
  std::memcpy(&value, &input[column * kernel.tuples * 8 + tuple * bytes], bytes);
  return value;
}

}  // namespace limen::golden
