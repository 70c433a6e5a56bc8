// ex2.approx.ftz.f32 is ex2.approx.f32 with its result flushed, to the bit: two codes, one answer.
// Whole and half exponents and their neighbours, both ends, subnormals, infinities, NaNs, any bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 256, blocks = 256;

Job job_for(const char* ftz, const std::vector<uint32_t>& in) {
  Job job;
  job.grid[0] = blocks;
  job.block[0] = threads;
  job.out_words = size_t{threads} * blocks;
  job.in = in;
  job.ptx = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".reg .u64 %from, %to;\n.reg .u32 %me, %b, %t;\n.reg .f32 %x, %r;\n"
      "ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\nmov.u32 %b, %ctaid.x;\n"
      "mov.u32 %t, %tid.x;\nmad.lo.u32 %me, %b, {}, %t;\nmad.wide.u32 %from, %me, 4, %from;\n"
      "mad.wide.u32 %to, %me, 4, %to;\nld.global.f32 %x, [%from];\n"
      "ex2.approx{}.f32 %r, %x;\nst.global.f32 [%to], %r;\nret;\n}}\n",
      threads, ftz);
  return job;
}

TEST(Ex2, FlushedItIsTheSameNumber) {
  std::mt19937_64 random(1);
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < threads * blocks; ++i) {
    const auto half = static_cast<float>(static_cast<int>(random() % 640) - 320) / 2;
    const int32_t beside = static_cast<int32_t>(random() % 9) - 4;
    switch (i % 4) {
      case 0:
        in.push_back(std::bit_cast<uint32_t>(half) + static_cast<uint32_t>(beside));
        break;
      case 1:
        in.push_back(static_cast<uint32_t>(random()));
        break;
      default:
        in.push_back(std::bit_cast<uint32_t>(half + static_cast<float>(random() >> 40) * 0x1p-24f));
    }
  }
  const Outcome flushed = run(job_for(".ftz", in)), whole = run(job_for("", in));
  ASSERT_TRUE(flushed.ran) << flushed.error;
  ASSERT_TRUE(whole.ran) << whole.error;
  uint32_t small = 0, great = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool tiny = whole.out[i] < 0x00800000;
    small += tiny, great += whole.out[i] == 0x7f800000;
    ASSERT_EQ(flushed.out[i], tiny ? 0 : whole.out[i])
        << fmt::format("2^{:a}", std::bit_cast<float>(in[i]));
  }
  EXPECT_GT(small, 1000u);
  EXPECT_GT(great, 1000u);
}

}  // namespace
}  // namespace limen::test
