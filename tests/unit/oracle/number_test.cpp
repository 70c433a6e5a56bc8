// Rounding, NaNs and conversions of the evaluator's numbers, on values computed by hand.
#include "oracle/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "support.h"

namespace limen::test {
namespace {

using namespace oracle;

constexpr uint64_t one = 0x3f800000, tiny = 1, huge = 0x7f7fffff, inf = 0x7f800000,
                   nan32 = 0x7fffffff;

uint64_t f(Arithmetic op, Rounding mode, uint64_t a, uint64_t b, uint64_t c = 0) {
  return compute(f32, op, mode, a, b, c);
}

TEST(Number, AdditionRoundsOnceInEveryMode) {
  // 1 + 2^-149 lies just above 1, -1 - 2^-149 just below -1.
  EXPECT_EQ(f(Arithmetic::add, Rounding::nearest, one, tiny), one);
  EXPECT_EQ(f(Arithmetic::add, Rounding::zero, one, tiny), one);
  EXPECT_EQ(f(Arithmetic::add, Rounding::down, one, tiny), one);
  EXPECT_EQ(f(Arithmetic::add, Rounding::up, one, tiny), one + 1);
  EXPECT_EQ(f(Arithmetic::add, Rounding::down, 0xbf800000, 0x80000001), 0xbf800001u);
  // Half an ulp: to even.
  EXPECT_EQ(f(Arithmetic::add, Rounding::nearest, one, 0x33800000), one);
  EXPECT_EQ(f(Arithmetic::add, Rounding::nearest, one + 1, 0x33800000), one + 2);
}

TEST(Number, ExactZerosHaveTheSignOfTheMode) {
  EXPECT_EQ(f(Arithmetic::sub, Rounding::nearest, one, one), 0u);
  EXPECT_EQ(f(Arithmetic::sub, Rounding::down, one, one), 0x80000000u);
  EXPECT_EQ(f(Arithmetic::mul, Rounding::nearest, 0x80000000, one), 0x80000000u);
}

TEST(Number, OverflowIsInfinityOrTheLargest) {
  EXPECT_EQ(f(Arithmetic::add, Rounding::nearest, huge, huge), inf);
  EXPECT_EQ(f(Arithmetic::add, Rounding::zero, huge, huge), huge);
  EXPECT_EQ(f(Arithmetic::add, Rounding::down, huge, huge), huge);
  EXPECT_EQ(f(Arithmetic::add, Rounding::up, huge, huge), inf);
  EXPECT_EQ(f(Arithmetic::mul, Rounding::up, huge, 0xff7fffff), 0xff7fffffu);
}

TEST(Number, SubnormalResultsRoundOnce) {
  // The smallest normal times 1/2 + 2^-24 is 2^-127 + 2^-150: between two subnormals, a tie to
  // even.
  EXPECT_EQ(f(Arithmetic::mul, Rounding::nearest, 0x00800000, 0x3f000001), 0x00400000u);
  EXPECT_EQ(f(Arithmetic::mul, Rounding::up, 0x00800000, 0x3f000001), 0x00400001u);
  EXPECT_EQ(f(Arithmetic::mul, Rounding::up, tiny, tiny), 1u);
  EXPECT_EQ(f(Arithmetic::mul, Rounding::nearest, tiny, tiny), 0u);
}

TEST(Number, FmaKeepsTheProductExact) {
  // (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46.
  EXPECT_EQ(f(Arithmetic::fma, Rounding::nearest, one + 1, one + 1, 0xbf800002), 0x28800000u);
  // f16: 2^-24 * 2^-24 + 1 rounds up only when asked.
  EXPECT_EQ(compute(f16, Arithmetic::fma, Rounding::nearest, 1, 1, 0x3c00), 0x3c00u);
  EXPECT_EQ(compute(f16, Arithmetic::fma, Rounding::up, 1, 1, 0x3c00), 0x3c01u);
}

TEST(Number, NansAreTheDevices) {
  EXPECT_EQ(f(Arithmetic::add, Rounding::nearest, 0xffc00001, one), nan32);
  EXPECT_EQ(f(Arithmetic::sub, Rounding::nearest, inf, inf), nan32);
  EXPECT_EQ(compute(f16, Arithmetic::mul, Rounding::nearest, 0x7c00, 0, 0), 0x7fffu);
  EXPECT_EQ(compute(bf16, Arithmetic::mul, Rounding::nearest, 0x7f80, 0, 0), 0x7fffu);
  EXPECT_EQ(compute(f64, Arithmetic::add, Rounding::nearest, 0x7ff0000000000123, 0, 0),
            0x7ff8000000000123u);
  // Of several f64 NaNs: the second operand's, the third's, the first's; a division's first.
  constexpr uint64_t a = 0x7ff0000000000001, b = 0xfff8000000000002, c = 0x7ff8000000000003,
                     quiet_a = 0x7ff8000000000001;
  for (Arithmetic op : {Arithmetic::add, Arithmetic::sub, Arithmetic::mul})
    EXPECT_EQ(compute(f64, op, Rounding::nearest, a, b, 0), b);
  EXPECT_EQ(compute(f64, Arithmetic::div, Rounding::nearest, a, b, 0), quiet_a);
  EXPECT_EQ(compute(f64, Arithmetic::fma, Rounding::down, a, b, c), b);
  EXPECT_EQ(compute(f64, Arithmetic::fma, Rounding::nearest, a, 0, c), c);
}

/// The machine's own f32 arithmetic is correctly rounded: both must agree.
TEST(Number, RandomSinglesAreThoseOfTheMachine) {
  std::mt19937_64 random(7);
  for (int n = 0; n < 20000; ++n) {
    const uint32_t a = static_cast<uint32_t>(random()), b = static_cast<uint32_t>(random());
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
    const volatile float sum = x + y, product = x * y, quotient = x / y, root = std::sqrt(x);
    const auto check = [&](float want, Arithmetic op) {
      const uint64_t got = f(op, Rounding::nearest, a, b);
      if (std::isnan(want))
        EXPECT_EQ(got, nan32);
      else
        EXPECT_EQ(got, std::bit_cast<uint32_t>(want)) << a << " " << b << " " << int(op);
    };
    check(sum, Arithmetic::add);
    check(product, Arithmetic::mul);
    check(quotient, Arithmetic::div);
    check(root, Arithmetic::sqrt);
  }
}

TEST(Number, SmallFormatsSurviveTheWayThroughDouble) {
  for (const Format* g : {&f16, &bf16, &e5m2, &e4m3})
    for (uint64_t v = 0; v < uint64_t{1} << g->bits(); ++v) {
      if (is_nan(*g, v)) continue;
      const uint64_t wide = std::bit_cast<uint64_t>(to_double(*g, v));
      EXPECT_EQ(put_together(*g, take_apart(f64, wide), Rounding::nearest), v)
          << g->bits() << " " << v;
    }
  EXPECT_EQ(to_double(e4m3, 0x7e), 448.0);
  EXPECT_EQ(to_double(e5m2, 0x7b), 57344.0);
  EXPECT_EQ(to_double(f16, 0x7bff), 65504.0);
}

TEST(Number, ConversionsToIntegersClampAndNameNans) {
  EXPECT_EQ(value32("cvt.rzi.s32.f32 %r0, 0f4F000000"), 0x7fffffffu);
  EXPECT_EQ(value32("cvt.rzi.s32.f32 %r0, 0fCF000001"), 0x80000000u);
  EXPECT_EQ(value32("cvt.rzi.u32.f32 %r0, 0fBF800000"), 0u);
  EXPECT_EQ(value32("cvt.rzi.s32.f32 %r0, 0f7FC00000"), 0u);
  EXPECT_EQ(value64("cvt.rzi.u64.f32 %d0, 0f7FC00000"), 0x8000000000000000u);
  EXPECT_EQ(value32("cvt.rni.s32.f32 %r0, 0f40200000"), 2u);  // 2.5
  EXPECT_EQ(value32("cvt.rpi.s32.f32 %r0, 0f40200000"), 3u);
  EXPECT_EQ(value32("cvt.rmi.s32.f32 %r0, 0fC0200000"), 0xfffffffdu);  // -2.5
  EXPECT_EQ(value32("cvt.rzi.s8.f32 %r0, 0fC3480000"), 0xffffff80u);   // -200
}

TEST(Number, ConversionsFromIntegersRound) {
  EXPECT_EQ(value32("cvt.rn.f32.u32 %r0, 0xffffffff"), 0x4f800000u);
  EXPECT_EQ(value32("cvt.rz.f32.u32 %r0, 0xffffffff"), 0x4f7fffffu);
  EXPECT_EQ(value32("cvt.rn.f32.s64 %r0, -9223372036854775807"), 0xdf000000u);
  EXPECT_EQ(value64("cvt.rp.f64.u64 %d0, 0xffffffffffffffff"), 0x43f0000000000000u);
}

TEST(Number, PackedConversionsPutTheFirstOperandHigh) {
  EXPECT_EQ(value32("cvt.rn.f16x2.f32 %r0, 0f3F800000, 0f40000000"), 0x3c004000u);
  EXPECT_EQ(value32("cvt.rz.bf16x2.f32 %r0, 0f3F80FFFF, 0fC0000000"), 0x3f80c000u);
  EXPECT_EQ(value32("cvt.rn.relu.f16x2.f32 %r0, 0fBF800000, 0f7FC00000"), 0x00007fffu);
  EXPECT_EQ(value16("cvt.rn.satfinite.e4m3x2.f32 %h0, 0f447A0000, 0f3F800000"), 0x7e38u);
  EXPECT_EQ(value16("cvt.rn.satfinite.e5m2x2.f32 %h0, 0fFF800000, 0f7FC00000"), 0xfb7fu);
  EXPECT_EQ(value32("mov.b16 %h1, 0x7fb8; cvt.rn.f16x2.e4m3x2 %r0, %h1"), 0x7fffbc00u);
  EXPECT_EQ(value16("cvt.rp.ue8m0x2.f32 %h0, 0f3F800001, 0f00400000"), 0x8000u);
  EXPECT_EQ(value16("cvt.rz.ue8m0x2.f32 %h0, 0fBFC00000, 0f7FC00000"), 0x7fffu);
  EXPECT_EQ(value16("cvt.rp.satfinite.ue8m0x2.f32 %h0, 0f7F7FFFFF, 0fFF800000"), 0xfefeu);
  EXPECT_EQ(value16("mov.b32 %r1, 0x40003f81; cvt.rp.ue8m0x2.bf16x2 %h0, %r1"), 0x8080u);
  EXPECT_EQ(value32("mov.b16 %h1, 0xff00; cvt.rn.bf16x2.ue8m0x2 %r0, %h1"), 0x7fff0040u);
  EXPECT_EQ(value32("cvt.rna.tf32.f32 %r0, 0f3F801000"), 0x3f802000u);
  EXPECT_EQ(value32("cvt.rn.tf32.f32 %r0, 0f3F801000"), 0x3f800000u);
}

}  // namespace
}  // namespace limen::test
