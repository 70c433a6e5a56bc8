// The comparison of approximate results: what passes a bound, what does not, what is counted.
#include "tools/test/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using limen::golden::compare_bounded;
using limen::golden::Distance;

namespace {

uint64_t bits(float value) {
  uint32_t out;
  std::memcpy(&out, &value, sizeof(out));
  return out;
}

Distance ex2(float x, uint64_t want, uint64_t got) {
  return compare_bounded("ex2.approx.f32 d, a", "2 ulp", {bits(x)}, want, got);
}

TEST(Bound, a_result_within_its_ulps_passes_and_is_measured) {
  Distance d = ex2(1.0f, bits(2.0f), bits(2.0f) + 2);
  EXPECT_TRUE(d.within);
  EXPECT_EQ(d.ulp, 2);
}

TEST(Bound, a_result_over_its_bound_fails) {
  EXPECT_FALSE(ex2(1.0f, bits(2.0f), bits(2.0f) + 3).within);
}

TEST(Bound, the_devices_own_error_is_allowed) {
  EXPECT_TRUE(ex2(1.0f, bits(2.0f) + 5, bits(2.0f) + 4).within);
  EXPECT_FALSE(ex2(1.0f, bits(2.0f) + 5, bits(2.0f) + 6).within);
}

TEST(Bound, zeros_and_nans_and_infinities_are_the_devices) {
  EXPECT_FALSE(ex2(-140.0f, 0, 512).within);
  EXPECT_FALSE(ex2(-140.0f, 512, 0).within);
  EXPECT_FALSE(ex2(NAN, 0x7fffffff, 0x7fc00000).within);
  EXPECT_FALSE(ex2(200.0f, bits(INFINITY), 0x7f7fffff).within);
  EXPECT_TRUE(std::isinf(ex2(200.0f, bits(INFINITY), 0x7f7fffff).ulp));
}

TEST(Bound, sine_has_its_bound_by_the_size_of_the_angle) {
  auto sine = [](float x, float off) {
    float exact = static_cast<float>(std::sin(static_cast<double>(x)));
    return compare_bounded("sin.approx.f32 d, a", "abs 2^-20.5 to 2pi, 2^-14.7 to 100pi", {bits(x)},
                           bits(exact), bits(exact + off));
  };
  EXPECT_TRUE(sine(6.0f, 0x1p-21f).within);
  EXPECT_FALSE(sine(6.0f, 0x1p-20f).within);
  EXPECT_TRUE(sine(7.0f, 0x1p-15f).within);
  EXPECT_FALSE(sine(7.0f, 0x1p-14f).within);
  EXPECT_FALSE(sine(1000.0f, 0x1p-15f).counted);
  EXPECT_FALSE(sine(1000.0f, 0x1p-15f).within);  // beyond: as close to the device as inside
  EXPECT_TRUE(sine(1000.0f, 0x1p-21f).within);
}

TEST(Bound, each_half_of_a_packed_result_is_compared) {
  const char* text = "tanh.approx.f16x2 d, a";
  uint64_t half = 0x3800;  // 0.5, whose tanh is 0x3765 in f16
  EXPECT_TRUE(
      compare_bounded(text, "abs 2^-10.987", {half | half << 16}, 0x37653765, 0x37653766).within);
  EXPECT_FALSE(
      compare_bounded(text, "abs 2^-10.987", {half | half << 16}, 0x37653765, 0x37703765).within);
}

TEST(Bound, the_lower_half_of_a_gross_reciprocal_is_zero) {
  const char* text = "rcp.approx.ftz.f64 d, a";
  uint64_t two = 0x4000000000000000, half = 0x3fe0000000000000;
  EXPECT_TRUE(compare_bounded(text, "rel 2^-20", {two}, half, half + (1ull << 32)).within);
  EXPECT_FALSE(compare_bounded(text, "rel 2^-20", {two}, half, half + 1).within);
}

}  // namespace
