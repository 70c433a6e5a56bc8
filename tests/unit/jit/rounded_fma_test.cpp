// fma.rm, .rp and .rz of f32 with a factor and an addend that all lanes share, as `expf` has it,
// against the C library's fmaf in the same rounding mode: products of every size beside the addend,
// sums on and beside numbers, subnormal products, infinities and NaNs, in warps of their own kind
// and mixed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

#include "processor.h"
#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 256, blocks = 16;

struct Mode {
  const char* name;
  int mode;
};
constexpr Mode modes[] = {{"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}, {"rz", FE_TOWARDZERO}};

struct Constants {
  float factor, addend;
};
constexpr Constants constants[] = {
    {252.0f, 12582913.0f}, {-252.0f, 12582913.0f}, {1.0f, -12582912.0f}, {1.0f, 1.0f},
    {3.0f, -1.0f},         {0x1.fffffep0f, 8.0f},  {1.0f, 0x1p-24f},     {0.75f, 8388608.0f},
    {1e30f, -0x1p100f},    {7.0f, 0x1.8p102f},     {5.0f, 0.0f},         {0.0f, 2.0f}};

Job job_for(const Mode& m, const Constants& c, bool ftz, bool swapped) {
  Job job;
  job.grid[0] = blocks;
  job.block[0] = threads;
  job.out_words = size_t{threads} * blocks;
  job.ptx = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".reg .u64 %from, %to;\n.reg .u32 %me, %b, %t;\n.reg .f32 %x, %r, %k, %c;\n"
      "ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\nmov.u32 %b, %ctaid.x;\n"
      "mov.u32 %t, %tid.x;\nmad.lo.u32 %me, %b, {}, %t;\nmad.wide.u32 %from, %me, 4, %from;\n"
      "mad.wide.u32 %to, %me, 4, %to;\nld.global.f32 %x, [%from];\n"
      "mov.f32 %k, 0f{:08X};\nmov.f32 %c, 0f{:08X};\nfma.{}{}.f32 %r, {}, %c;\n"
      "st.global.f32 [%to], %r;\nret;\n}}\n",
      threads, std::bit_cast<uint32_t>(c.factor), std::bit_cast<uint32_t>(c.addend), m.name,
      ftz ? ".ftz" : "", swapped ? "%k, %x" : "%x, %k");
  return job;
}

class Factors {
 public:
  explicit Factors(uint64_t seed) : random_(seed) {}

  float next(const Constants& c, uint32_t kind) {
    const float unit = std::nextafterf(std::fabs(c.addend), INFINITY) - std::fabs(c.addend);
    const auto n = static_cast<float>(static_cast<int32_t>(random_() % 4096) - 2048);
    switch (kind) {
      case 0:  // in [0, 1]
        return static_cast<float>(random_() >> 40) * 0x1p-24f;
      case 1:  // whole and half units of the sum, and their neighbours
        return std::nextafterf(n * 0.5f * unit / c.factor, random_() % 3 == 0 ? INFINITY
                                                           : random_() % 2    ? -INFINITY
                                                                              : 0.0f);
      case 2:
        return n * 0.5f * unit / c.factor;
      case 3:  // the smallest numbers
        return std::bit_cast<float>(static_cast<uint32_t>(random_() & 0x80ffffff));
      case 4:  // about the limit
        return c.addend / c.factor * (0.125f + n * 0x1p-24f);
      default:  // anything
        return std::bit_cast<float>(static_cast<uint32_t>(random_()));
    }
  }

 private:
  std::mt19937_64 random_;
};

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

uint32_t expected(float x, const Mode& m, const Constants& c, bool ftz) {
  volatile float a = ftz ? flushed(x) : x, b = c.factor, d = c.addend;
  std::fesetround(m.mode);
  volatile float r = std::fmaf(a, b, d);
  std::fesetround(FE_TONEAREST);
  if (std::isnan(r)) return 0x7fffffff;
  return std::bit_cast<uint32_t>(ftz ? flushed(r) : float{r});
}

TEST(RoundedFma, TheSumIsRoundedAsTheModeSays) {
  uint64_t seed = 0;
  for (const Mode& m : modes)
    for (const Constants& c : constants)
      for (bool ftz : {false, true}) {
        Job job = job_for(m, c, ftz, seed % 2);
        Factors factors(++seed);
        for (uint32_t t = 0; t < job.out_words; ++t) {
          const uint32_t kind = t / 32 % 8;  // the last two kinds of warp are mixed
          const float x = factors.next(c, kind < 6 ? kind : (t + t / 32) % 6);
          job.in.push_back(std::bit_cast<uint32_t>(x));
        }
        const Outcome got = run(job);
        ASSERT_TRUE(got.ran) << got.error;
        for (uint32_t t = 0; t < job.out_words; ++t) {
          const auto x = std::bit_cast<float>(job.in[t]);
          ASSERT_EQ(got.out[t], expected(x, m, c, ftz)) << fmt::format(
              "fma.{}{} {:a} * {:a} + {:a}", m.name, ftz ? ".ftz" : "", x, c.factor, c.addend);
        }
      }
}

TEST(RoundedFma, AProductBesideAGreatAddendIsRoundedByItsSign) {
  if (!has_avx2() || has_avx512())
    GTEST_SKIP() << "done with AVX2 only: AVX-512 has the rounding in its instruction";
  Job job = job_for(modes[0], constants[0], false, false);
  job.in.resize(job.out_words);
  const std::string code = code_of(job);
  EXPECT_NE(code.find("@llvm.fma.v"), std::string::npos) << code;
}

}  // namespace
}  // namespace limen::test
