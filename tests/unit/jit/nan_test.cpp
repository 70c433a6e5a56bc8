// Which of several different f64 NaNs comes out: with exact_nan (LIMEN_EXACT_NAN) the one that the
// evaluator, and so an H200, passes on; without it the code has no test for it. And `bfe.s32` with
// constants that ptxas folds.
#include <gtest/gtest.h>

#include "agree.h"

namespace limen::test {
namespace {

constexpr uint64_t edges[] = {0x7ff8000000000000, 0xfff8000000000003, 0x7ff0000000000001,
                              0xfff0000000000002, 0x7ff0000000000000, 0xfff0000000000000,
                              0x0000000000000000, 0x3ff0000000000000};
constexpr uint32_t count = 8, threads = 256, results = 18;

/// Thread t works on a = edge t % 8, b = edge t / 8 % 8, c = edge t / 64 * 2.
std::string program(const std::string& body, uint32_t words) {
  return R"(.version 8.2
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .b32 %r<8>; .reg .b64 %x<4>; .reg .f64 %a, %b, %c, %d, %e; .reg .pred %p;
  ld.param.u64 %x0, [in]; ld.param.u64 %x1, [out];
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 7; mul.wide.u32 %x2, %r1, 8; add.u64 %x2, %x0, %x2; ld.global.f64 %a, [%x2];
  shr.u32 %r1, %r0, 3; and.b32 %r1, %r1, 7;
  mul.wide.u32 %x2, %r1, 8; add.u64 %x2, %x0, %x2; ld.global.f64 %b, [%x2];
  shr.u32 %r1, %r0, 6; mul.wide.u32 %x2, %r1, 16; add.u64 %x2, %x0, %x2; ld.global.f64 %c, [%x2];
  mul.wide.u32 %x2, %r0, )" +
         std::to_string(4 * words) + "; add.u64 %x1, %x1, %x2;\n" + body + "ret;\n}\n";
}

Job job_of_text(std::string text, uint32_t words) {
  Job job;
  job.ptx = std::move(text);
  job.block[0] = threads;
  for (uint64_t e : edges) {
    job.in.push_back(static_cast<uint32_t>(e));
    job.in.push_back(static_cast<uint32_t>(e >> 32));
  }
  job.out_words = size_t{threads} * words;
  return job;
}

Job sums_of_nans() {
  std::string body;
  int at = 0;
  auto result = [&](const std::string& text) {
    body += text + "; st.global.f64 [%x1+" + std::to_string(8 * at++) + "], %d;\n";
  };
  for (const char* op : {"add.f64", "sub.f64", "mul.f64", "div.rn.f64", "add.rz.f64", "sub.rm.f64",
                         "mul.rp.f64", "div.rz.f64", "min.f64", "max.f64"})
    result(std::string(op) + " %d, %a, %b");
  for (const char* op : {"fma.rn.f64", "mad.rn.f64", "fma.rz.f64"})
    result(std::string(op) + " %d, %a, %b, %c");
  // Constants, which LLVM puts second and folds; a sign that it would fold into the sum.
  result("add.f64 %d, %a, 0dFFF8000000000007");
  result("mul.f64 %d, 0d7FF8000000000009, %b");
  result("mul.f64 %d, %a, 0d3FF0000000000000");
  result("neg.f64 %e, %a; add.f64 %d, %b, %e");
  result("neg.f64 %e, %b; fma.rn.f64 %d, %a, %e, %c");
  EXPECT_EQ(at, static_cast<int>(results));
  return job_of_text(program(body, 2 * results), 2 * results);
}

uint64_t wide(const Outcome& o, uint32_t thread, uint32_t result) {
  const size_t at = (size_t{thread} * results + result) * 2;
  return o.out[at] | uint64_t{o.out[at + 1]} << 32;
}

TEST(Nans, WithTheOptionOfSeveralTheDevicesComesOut) {
  Job job = sums_of_nans();
  job.exact_nan = true;
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  ASSERT_TRUE(want.ran) << want.error;
  // Recorded on an H200 (tests/golden/float.golden): a = edge 0, b = edge 1, c = edge 2.
  constexpr uint32_t thread = 0 + 8 * 1 + 64 * 1;
  constexpr uint64_t a = 0x7ff8000000000000, b = 0xfff8000000000003;
  const uint64_t of_two[] = {b, b, b, a, b, b, b, a, b, b, b, b, b};
  for (uint32_t i = 0; i < std::size(of_two); ++i) EXPECT_EQ(wide(want, thread, i), of_two[i]) << i;
  // b a number (edge 7): of a and c the addend.
  EXPECT_EQ(wide(want, 0 + 8 * 7 + 64 * 1, 10), 0x7ff8000000000001u);
  expect_every_version(job, want, 0);
}

TEST(Nans, WithoutTheOptionNothingIsTested) {
  Job job = job_of_text(program("fma.rn.f64 %d, %a, %b, %c; sub.f64 %d, %d, %a;"
                                "st.global.f64 [%x1], %d;\n",
                                2),
                        2);
  const std::string fast = code_of(job);
  job.exact_nan = true;
  const std::string exact = code_of(job);
  ASSERT_NE(fast, "");
  EXPECT_EQ(fast.find("fcmp"), std::string::npos);
  EXPECT_NE(exact.find("fcmp"), std::string::npos);
}

TEST(Nans, AComparisonDoesNotCareWhichOneItWas) {
  Job job =
      job_of_text(program("add.f64 %d, %a, %b; setp.nan.f64 %p, %d, %c; selp.u32 %r2, 1, 0, %p;"
                          "st.global.u32 [%x1], %r2;\n",
                          1),
                  1);
  job.exact_nan = true;
  EXPECT_EQ(code_of(job).find("fcmp ord"), std::string::npos);
  job.strategy = oracle_strategy;
  expect_every_version(job, run(job), 0);
}

TEST(Nans, ConstantFieldsOutsideOfTheValueAreAllOnesAsPtxasFoldsThem) {
  std::string body;
  int at = 0;
  for (const char* field : {"32, 1", "63, 2", "255, 255", "256, 4", "40, 0", "%r3, 1", "40, %r4"})
    for (const char* type : {"s32", "u32"})
      body += std::string("bfe.") + type + " %r2, %r0, " + field + "; st.global.u32 [%x1+" +
              std::to_string(4 * at++) + "], %r2;\n";
  const uint32_t words = static_cast<uint32_t>(at);
  Job job = job_of_text(program("mov.u32 %r3, 40; mov.u32 %r4, 1;\n" + body, words), words);
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  ASSERT_TRUE(want.ran) << want.error;
  constexpr uint32_t ones = ~0u;
  const uint32_t of_five[] = {ones, 0, ones, 0, ones, 0, 5, 5, 0, 0, 0, 0, 0, 0};
  for (uint32_t i = 0; i < words; ++i) EXPECT_EQ(want.out[5 * words + i], of_five[i]) << i;
  expect_every_version(job, want, 0);
}

}  // namespace
}  // namespace limen::test
