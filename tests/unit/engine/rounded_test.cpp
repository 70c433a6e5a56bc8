// Directed rounding against wide arithmetic: f32 against exact results in double or long double.
#include "engine/rounded.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "devlib/kernel_abi.h"

namespace limen::engine {
namespace {

using kernel::RoundedOp;
constexpr uint32_t rn = 0, rz = 1, rm = 2, rp = 3;

/// Rounds an exact value (given in a wider type) to float in PTX mode.
float round_exact(long double exact, uint32_t mode) {
  const auto nearest = static_cast<float>(exact);
  if (mode == rn || std::isnan(exact)) return nearest;
  const auto below = static_cast<long double>(nearest) > exact
                         ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                         : nearest;
  const auto above = static_cast<long double>(nearest) < exact
                         ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                         : nearest;
  if (mode == rm) return below;
  if (mode == rp) return above;
  return exact < 0 ? above : below;
}

float call(RoundedOp op, uint32_t mode, float a, float b = 0, float c = 0) {
  return rounded_f32(static_cast<uint32_t>(op), mode, a, b, c);
}
float call_bits(RoundedOp op, uint32_t mode, uint64_t bits) {
  return call(op, mode, std::bit_cast<float>(static_cast<uint32_t>(bits)),
              std::bit_cast<float>(static_cast<uint32_t>(bits >> 32)));
}
double call64(RoundedOp op, uint32_t mode, double a, double b = 0, double c = 0) {
  return rounded_f64(static_cast<uint32_t>(op), mode, a, b, c);
}

TEST(Rounded, FloatsAgainstLongDouble) {
  std::mt19937_64 random(3);
  const auto pick = [&] {
    // Exponents near each other, so that sums and products round in interesting places.
    const auto mantissa = static_cast<uint32_t>(random() & 0x807fffff);
    return std::bit_cast<float>(mantissa | static_cast<uint32_t>(110 + random() % 24) << 23);
  };
  for (int i = 0; i < 50000; ++i) {
    const float a = pick(), b = pick();
    const long double wa = a, wb = b;
    for (uint32_t mode : {rn, rz, rm, rp}) {
      EXPECT_EQ(call(RoundedOp::add, mode, a, b), round_exact(wa + wb, mode));
      EXPECT_EQ(call(RoundedOp::mul, mode, a, b), round_exact(wa * wb, mode));
      const float c = static_cast<float>(wa * wb);  // product and addend nearly cancel
      const _Float128 exact = static_cast<_Float128>(a) * b - static_cast<_Float128>(c);
      EXPECT_EQ(call(RoundedOp::fma, mode, a, b, -c),
                round_exact(static_cast<long double>(exact), mode));
      const auto whole = static_cast<int64_t>(random() >> random() % 60);
      EXPECT_EQ(call_bits(RoundedOp::from_s64, mode, static_cast<uint64_t>(whole)),
                round_exact(static_cast<long double>(whole), mode));
      EXPECT_EQ(call_bits(RoundedOp::from_u64, mode, static_cast<uint64_t>(whole)),
                round_exact(static_cast<long double>(static_cast<uint64_t>(whole)), mode));
      const double narrow = static_cast<double>(wa * wb);
      EXPECT_EQ(call_bits(RoundedOp::from_f64, mode, std::bit_cast<uint64_t>(narrow)),
                round_exact(narrow, mode));
    }
  }
}

TEST(Rounded, QuotientsAndRootsEncloseTheTruth) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const float a = 1.0f + static_cast<float>(random() % 1000003) / 7.0f;
    const float b = 1.0f + static_cast<float>(random() % 1000003) / 3.0f;
    const float down = call(RoundedOp::div, rm, a, b), up = call(RoundedOp::div, rp, a, b);
    EXPECT_LE(static_cast<long double>(down) * b, static_cast<long double>(a));
    EXPECT_GE(static_cast<long double>(up) * b, static_cast<long double>(a));
    EXPECT_TRUE(down == up || std::nextafter(down, INFINITY) == up);
    EXPECT_EQ(call(RoundedOp::div, rz, a, b), down);
    const float low = call(RoundedOp::sqrt, rm, a), high = call(RoundedOp::sqrt, rp, a);
    EXPECT_LE(static_cast<long double>(low) * low, static_cast<long double>(a));
    EXPECT_GE(static_cast<long double>(high) * high, static_cast<long double>(a));
    EXPECT_TRUE(low == high || std::nextafter(low, INFINITY) == high);
    EXPECT_EQ(call(RoundedOp::rcp, rp, b), call(RoundedOp::div, rp, 1.0f, b));
  }
}

TEST(Rounded, Doubles) {
  EXPECT_EQ(call64(RoundedOp::add, rp, 1.0, 0x1p-60), 1.0 + 0x1p-52);
  EXPECT_EQ(call64(RoundedOp::add, rm, 1.0, 0x1p-60), 1.0);
  EXPECT_EQ(call64(RoundedOp::add, rm, 1.0, -0x1p-60), 1.0 - 0x1p-53);
  EXPECT_EQ(call64(RoundedOp::add, rz, -1.0, -0x1p-60), -1.0);
  EXPECT_EQ(call64(RoundedOp::mul, rp, 1.0 + 0x1p-52, 1.0 + 0x1p-52), 1.0 + 0x3p-52);
  EXPECT_EQ(call64(RoundedOp::fma, rm, 1.0 + 0x1p-52, 1.0 + 0x1p-52, -1.0), 0x1p-51);
  EXPECT_EQ(call64(RoundedOp::div, rp, 1.0, 3.0), std::nextafter(1.0 / 3.0, 1.0));
  EXPECT_EQ(call64(RoundedOp::sqrt, rm, 2.0) * call64(RoundedOp::sqrt, rm, 2.0) <= 2.0, true);
  const uint64_t large = ~uint64_t{0};
  EXPECT_EQ(call64(RoundedOp::from_u64, rp, std::bit_cast<double>(large)), 0x1p64);
  EXPECT_EQ(call64(RoundedOp::from_u64, rz, std::bit_cast<double>(large)), 0x1.fffffffffffffp63);
  EXPECT_EQ(call64(RoundedOp::from_s64, rm, std::bit_cast<double>(int64_t{-1} * ((1LL << 60) + 1))),
            -(0x1p60 + 0x1p8));
}

TEST(Rounded, EdgesAndEnvironment) {
  EXPECT_EQ(std::bit_cast<uint32_t>(call(RoundedOp::add, rz, INFINITY, -INFINITY)), 0x7fffffffu);
  EXPECT_EQ(std::bit_cast<uint32_t>(call(RoundedOp::sqrt, rp, -1.0f)), 0x7fffffffu);
  EXPECT_EQ(call(RoundedOp::mul, rz, 3e38f, 3e38f), std::numeric_limits<float>::max());
  EXPECT_EQ(call(RoundedOp::mul, rp, 3e38f, 3e38f), INFINITY);
  EXPECT_EQ(call(RoundedOp::mul, rp, 1e-30f, 1e-30f), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(call(RoundedOp::mul, rz, 1e-30f, 1e-30f), 0.0f);
  EXPECT_TRUE(std::signbit(call(RoundedOp::add, rm, 1.0f, -1.0f)));
  EXPECT_FALSE(std::signbit(call(RoundedOp::add, rp, 1.0f, -1.0f)));
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  volatile float third = 1.0f;
  third = third / 3.0f;
  EXPECT_EQ(third, 1.0f / 3.0f);
}

}  // namespace
}  // namespace limen::engine
