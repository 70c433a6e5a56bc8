// What the analysis knows of values that differ by lane: ranges that settle min, max, shifts and
// comparisons, and shifts that are a widening. The code must show it, and every version agree.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agree.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 256;

/// Thread t: %t is its number, %to and %from its words of the buffers.
Job job_with(const std::string& body) {
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = size_t{16} * threads;
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %out, %to, %from, %x, %y, %i, %in, %step;\n.reg .u32 %t, %a, %b, %c, %d, %n;\n"
      ".reg .pred %p, %q;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
      "mov.u32 %t, %tid.x;\nmad.wide.u32 %from, %t, 4, %in;\nmad.wide.u32 %to, %t, 4, %out;\n" +
      body + "\nL_end:\nret;\n}\n";
  return job;
}

void expect_agreement(const Job& job) {
  Job oracle = job;
  oracle.strategy = oracle_strategy;
  const Outcome want = run(oracle);
  ASSERT_TRUE(want.ran) << want.error << job.ptx;
  expect_every_version(job, want, 0);
}

std::string code_for_16_lanes(Job job) {
  job.strategy = 0;
  job.width = 16;
  return code_of(job);
}

// for (i = tid; i < 2048; i += 256), unrolled by four as nvcc does it: the number of turns is one.
TEST(Ranges, TheNumberOfTurnsIsTheSameInAllLanes) {
  const Job job = job_with(
      "max.s32 %n, %t, 1792;\nadd.s32 %a, %n, 255;\nsub.s32 %b, %a, %t;\nshr.u32 %c, %b, 8;\n"
      "add.s32 %d, %c, 1;\nst.global.u32 [%to], %d;\nsetp.lt.u32 %p, %b, 768;\n@%p bra L_end;\n"
      "setp.gt.s32 %q, %t, 2047;\n@%q bra L_end;\nst.global.u32 [%to+1024], %b;");
  ASSERT_NO_FATAL_FAILURE(expect_agreement(job));
  const std::string code = code_for_16_lanes(job);
  EXPECT_EQ(code.find("smax"), std::string::npos) << code;
  EXPECT_EQ(code.find("x i1>"), std::string::npos) << code;
  EXPECT_NE(code.find("store <16 x i32> <i32 8,"), std::string::npos) << code;
}

TEST(Ranges, MinAndMaxOfEveryOrderAgree) {
  for (const char* type : {"s32", "u32"})
    for (const char* op : {"min", "max"})
      for (int bound : {-1, 0, 1, 100, 255, 256, 1000}) {
        const Job job = job_with(fmt::format(
            "{0}.{1} %a, %t, {2};\n{0}.{1} %b, {2}, %t;\nshr.{1} %c, %a, 8;\n"
            "setp.lt.{1} %p, %a, {2};\nselp.u32 %d, 1, 2, %p;\nsetp.ge.{1} %p, %t, {2};\n"
            "selp.u32 %n, 3, 4, %p;\nst.global.u32 [%to], %a;\nst.global.u32 [%to+1024], %b;\n"
            "st.global.u32 [%to+2048], %c;\nst.global.u32 [%to+3072], %d;\n"
            "st.global.u32 [%to+4096], %n;",
            op, type, bound));
        ASSERT_NO_FATAL_FAILURE(expect_agreement(job));
      }
}

TEST(Ranges, ComparisonsOfEveryKindAgreeAtTheRangesEnds) {
  for (const char* type : {"s32", "u32"})
    for (const char* op : {"lt", "le", "gt", "ge", "eq", "ne"})
      for (int bound : {-1, 0, 10, 265, 266}) {
        const Job job = job_with(fmt::format(
            "add.s32 %a, %t, 10;\nmov.u32 %b, 0;\nsetp.{0}.{1} %p, %a, {2};\n@%p mov.u32 %b, 1;\n"
            "setp.{0}.{1} %q, {2}, %a;\n@%q add.u32 %b, %b, 2;\nst.global.u32 [%to], %b;",
            op, type, bound));
        ASSERT_NO_FATAL_FAILURE(expect_agreement(job));
      }
}

/// p[i] with the low half of a 64-bit i as an int (`s`) or unsigned: the way of cooperative groups'
/// thread_rank(). %i starts where `start` says and steps by 256.
Job low_half(char sign, const std::string& start) {
  return job_with(fmt::format(
      "cvt.u64.u32 %x, %t;\n{}\nadd.u64 %i, %i, %x;\nmov.u32 %a, 0;\nmov.u32 %b, 0;\nL_turn:\n"
      "shl.b64 %x, %i, 32;\nshr.{}64 %y, %x, 30;\nadd.u64 %y, %in, %y;\nld.global.u32 %c, [%y];\n"
      "add.u32 %b, %b, %c;\nadd.u64 %i, %i, 256;\nadd.u32 %a, %a, 1;\nsetp.lt.u32 %p, %a, 4;\n"
      "@%p bra L_turn;\nst.global.u32 [%to], %b;",
      start, sign));
}

TEST(Ranges, ShiftsThatWidenKeepLanesSideBySide) {
  for (char sign : {'s', 'u'}) {
    const Job job =
        low_half(sign, "ld.param.u32 %n, [n];\ncvt.u64.u32 %i, %n;\nand.b64 %i, %i, 1024;");
    ASSERT_NO_FATAL_FAILURE(expect_agreement(job));
    const std::string code = code_for_16_lanes(job);
    EXPECT_NE(code.find("load <16 x i32>, ptr"), std::string::npos) << code;
  }
}

TEST(Ranges, ShiftsThatWidenCutWhatIsAboveTheLowHalf) {
  // Beyond 2^32 the index begins again; a negative one lies before the first word.
  ASSERT_NO_FATAL_FAILURE(expect_agreement(low_half('u', "mov.u64 %i, 38654705664;")));
  ASSERT_NO_FATAL_FAILURE(expect_agreement(low_half('s',
                                                    "mov.u64 %i, 4294967040;\n"
                                                    "add.u64 %in, %in, 1024;")));
  ASSERT_NO_FATAL_FAILURE(expect_agreement(low_half('s', "mov.u64 %i, 38654705664;")));
}

TEST(Ranges, ShiftsReadByOthersStayShifts) {
  for (const char* other :
       {"add.u64 %step, %x, 1;", "shr.u64 %step, %x, 31;", "shr.s64 %step, %x, 33;",
        "shr.s64 %step, %x, 32;", "@%p shl.b64 %x, %i, 31;\nmov.u64 %step, %x;"}) {
    ASSERT_NO_FATAL_FAILURE(expect_agreement(job_with(fmt::format(
        "ld.global.u32 %c, [%from];\ncvt.u64.u32 %i, %c;\nmul.lo.u64 %i, %i, 6148914691236517205;\n"
        "setp.lt.u32 %p, %t, 9;\nshl.b64 %x, %i, 32;\n{}\nshr.s64 %y, %x, 30;\n"
        "mad.wide.u32 %to, %t, 16, %out;\nst.global.u64 [%to], %y;\nst.global.u64 [%to+8], %step;",
        other))));
  }
}

}  // namespace
}  // namespace limen::test
