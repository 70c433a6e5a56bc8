// The estimate of registers: what is live at once, what costs nothing, and the limits on it.
#include "compiler/ptx/register_count.h"

#include <fmt/format.h>

#include "fixture.h"

namespace limen::ptx {
namespace {

/// What the body needs beside what an empty kernel needs.
uint32_t needed(const std::string& body) {
  return estimate_registers(parse_kernel(body).function()) -
         estimate_registers(parse_kernel("ret;").function());
}

TEST(RegisterCount, CountsWhatIsLiveAtOnce) {
  EXPECT_EQ(needed("ld.global.u32 %r1, [g]; ld.global.u32 %r2, [g+4]; add.u32 %r3, %r1, %r2;\n"
                   "st.global.u32 [g], %r3; ret;"),
            2u);
  // One after the other.
  EXPECT_EQ(needed("ld.global.u32 %r1, [g]; st.global.u32 [g+8], %r1;\n"
                   "ld.global.u32 %r2, [g+4]; st.global.u32 [g], %r2; ret;"),
            1u);
}

TEST(RegisterCount, WideRegistersCountTwiceAndPredicatesNotAtAll) {
  EXPECT_EQ(needed("ld.global.u64 %rd1, [g]; st.global.u64 [g+8], %rd1; ret;"), 2u);
  EXPECT_EQ(needed("ld.global.u32 %r1, [g]; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [g], 1; ret;"),
            1u);
}

TEST(RegisterCount, ParametersAndConstantsCostNothing) {
  EXPECT_EQ(needed("ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 7;\n"
                   "st.global.u32 [%rd2], %r1; ret;"),
            0u);
  // Written twice it is a variable.
  EXPECT_EQ(needed("mov.u32 %r1, 7; ld.global.u32 %r2, [g]; setp.eq.u32 %p1, %r2, 0;\n"
                   "@%p1 mov.u32 %r1, 8; st.global.u32 [g], %r1; ret;"),
            2u);
}

TEST(RegisterCount, WhatALoopReadsStaysLiveInAllOfIt) {
  EXPECT_EQ(needed("ld.global.u32 %r1, [g]; mov.u32 %r2, 0;\n"
                   "again: ld.global.u32 %r3, [g+4]; st.global.u32 [g+8], %r3;\n"
                   "add.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %r2, 100; @%p1 bra again; ret;"),
            3u);
}

TEST(RegisterCount, NeverMoreThanAThreadCanHave) {
  std::string body, sum;
  for (int i = 0; i < 400; ++i) {
    body += fmt::format("ld.global.u32 %w{}, [g+{}];\n", i, i % 16 * 4);
    sum += fmt::format("st.global.u32 [g], %w{};\n", i);
  }
  EXPECT_EQ(estimate_registers(parse_kernel(".reg .b32 %w<400>;\n" + body + sum + "ret;").function()),
            255u);
}

TEST(RegisterCount, LimitsOfTheKernelBoundIt) {
  const auto limited = [](const std::string& directives, uint32_t estimate) {
    auto m = module_of(".visible .entry k() " + directives + " { ret; }");
    return limit_registers(m->functions[0], estimate, 65536);
  };
  EXPECT_EQ(limited("", 200), 200u);
  EXPECT_EQ(limited(".maxnreg 64", 200), 64u);
  EXPECT_EQ(limited(".maxnreg 64", 20), 20u);
  EXPECT_EQ(limited(".maxntid 1024", 200), 64u);
  EXPECT_EQ(limited(".maxntid 256 .minnctapersm 4", 200), 64u);
  EXPECT_EQ(limited(".reqntid 33, 2, 1", 255), 255u);
  EXPECT_EQ(limited(".maxntid 1024 .minnctapersm 32", 200), 16u);
}

TEST(RegisterCount, ALimitIsWrittenWhereTheKernelStatesNone) {
  const std::string text = std::string(header) +
                           ".func f() { ret; }\n.visible .entry a() { { ret; } }\n"
                           ".visible .entry b() .maxntid 32 { ret; }\n"
                           ".visible .entry c() .maxnreg 20\n{ ret; }\n.visible .entry d()\n{ ret; }\n";
  auto before = parse_module(text);
  ASSERT_TRUE(before.ok());
  auto after = parse_module(with_register_limit(**before, text, 57));
  ASSERT_TRUE(after.ok()) << after.error().what;
  const auto of = [&](const char* name) {
    return (*after)->functions[(*after)->function_index.at(name)].max_nreg;
  };
  EXPECT_EQ(of("f"), 0u);
  EXPECT_EQ(of("a"), 57u);
  EXPECT_EQ(of("b"), 0u);
  EXPECT_EQ(of("c"), 20u);
  EXPECT_EQ(of("d"), 57u);
}

}  // namespace
}  // namespace limen::ptx
