// cvt between f16, bf16 and f64 in the forms that ptxas 13.0 takes beyond the manual's: without a
// rounding (it makes one instruction of them and of .rn), with one where nothing is rounded, and
// .satfinite for every target.
#include <gtest/gtest.h>

#include "runner.h"

namespace limen::test {
namespace {

/// Thread t reads word t into %r3 and %h1 and stores %r2.
std::string program(const std::string& head, const std::string& body) {
  return head + R"(
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .b16 %h<3>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .f64 %d<2>; .reg .b64 %x<5>;
  ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %x3, %r1, 4; add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;
  ld.global.b32 %r3, [%x1]; mov.b32 %f1, %r3; cvt.u16.u32 %h1, %r3;
  )" + body +
         R"(
  st.global.b32 [%x2], %r2; ret;
})";
}

using Words = std::vector<uint32_t>;

Words run_on(const std::string& body, const Words& in,
             const std::string& head = ".version 7.8\n.target sm_90") {
  Job job;
  job.ptx = program(head, body);
  job.block[0] = static_cast<uint32_t>(in.size());
  job.out_words = static_cast<uint32_t>(in.size());
  job.in = in;
  const Outcome got = run(job);
  EXPECT_TRUE(got.ran) << body << ": " << got.error;
  job.strategy = oracle_strategy;
  EXPECT_EQ(run(job).out, got.out) << body << ": the evaluator differs";
  return got.ran ? got.out : Words(job.out_words);
}

TEST(HalfConversions, NoRoundingBetweenF16AndBf16IsToNearest) {
  const std::string widen = " %h2, %h1; cvt.u32.u16 %r2, %h2;";
  for (const char* how : {"", ".rn"}) {
    const std::string cvt = std::string("cvt") + how;
    // Two ties among them, the largest, a subnormal.
    EXPECT_EQ(
        run_on(cvt + ".bf16.f16" + widen,
               {0x3c00, 0x3c01, 0x3c04, 0x3c05, 0x3c0c, 0xbc05, 0x7bff, 0x0001, 0x7c00, 0x7e00}),
        (Words{0x3f80, 0x3f80, 0x3f80, 0x3f81, 0x3f82, 0xbf81, 0x4780, 0x3380, 0x7f80, 0x7fff}));
    EXPECT_EQ(
        run_on(cvt + ".f16.bf16" + widen, {0x3f80, 0x4780, 0x477f, 0x3300, 0x3301, 0xff80, 0x7fc0}),
        (Words{0x3c00, 0x7c00, 0x7bf8, 0x0000, 0x0001, 0xfc00, 0x7fff}));
  }
}

TEST(HalfConversions, Bf16ToF64IsExactWithEveryRounding) {
  for (const char* how : {"", ".rn", ".rz", ".rm", ".rp"})
    EXPECT_EQ(run_on(std::string("cvt") + how + ".f64.bf16 %d1, %h1; mov.b64 {%r1, %r2}, %d1;",
                     {0x3f81, 0xbf81, 0x0001}),
              (Words{0x3ff02000, 0xbff02000, 0x37a00000}));
}

TEST(HalfConversions, F16SaturatesFinitelyOnEveryTarget) {
  EXPECT_EQ(run_on("cvt.rn.satfinite.f16.f32 %h2, %f1; cvt.u32.u16 %r2, %h2;",
                   {0x3f800000, 0x7f800000, 0xc8000000, 0x7fc00000}, ".version 8.1\n.target sm_75"),
            (Words{0x3c00, 0x7bff, 0xfbff, 0x7fff}));
}

}  // namespace
}  // namespace limen::test
