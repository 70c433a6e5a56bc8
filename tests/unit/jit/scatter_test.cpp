// Vector loads and stores of words whose addresses are only known at run time: rows are whole
// vectors, all else a piece a lane; of lanes that store to one place the device's last has the
// word.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "agree.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64, places = 64;

struct Form {
  uint32_t words, bytes;
  bool shared;
};
constexpr Form forms[] = {{2, 4, true},  {4, 4, true},  {2, 8, true},
                          {2, 4, false}, {4, 4, false}, {2, 8, false}};

/// Thread t computes a place `p` from t and %n, stores its words there, and reads them back into
/// the output. `guard`: before the instructions.
Job job_for(const Form& f, const std::string& place, const std::string& guard) {
  const uint32_t lane_bytes = f.words * f.bytes;
  const char* space = f.shared ? "shared" : "global";
  const char kind = f.bytes == 4 ? 'd' : 'c';
  std::string names, other;
  for (uint32_t i = 0; i < f.words; ++i) {
    names += fmt::format("{}%{}{}", i ? ", " : "", kind, i);
    other += fmt::format("{}%{}{}", i ? ", " : "", kind, i + 4);
  }
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = size_t{2} * 8 * threads + size_t{8} * places;
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %in, %to, %own, %at, %c<8>;\n.reg .u32 %t, %n, %p, %x, %sh, %d<8>;\n"
      ".reg .pred %q;\n.shared .align 32 .b8 room[4096];\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %to, [out];\nld.param.u32 %n, [n];\n"
      "mov.u32 %t, %tid.x;\nmov.u32 %sh, room;\nsetp.lt.u32 %q, %t, 37;\n";
  for (uint32_t i = 0; i < 8; ++i)
    text += fmt::format("mad.lo.u32 %d{0}, %t, 8, {0};\ncvt.u64.u32 %c{0}, %d{0};\n", i);
  text += place + "\n";
  text += fmt::format("mad.wide.u32 %own, %t, 64, %to;\nadd.u64 %to, %to, {};\n", 64 * threads);
  if (f.shared)
    text += fmt::format("mad.lo.u32 %x, %p, {}, %sh;\n", lane_bytes);
  else
    text += fmt::format("mad.wide.u32 %at, %p, {}, %to;\n", lane_bytes);
  const char* at = f.shared ? "%x" : "%at";
  const std::string form = fmt::format("{}.v{}.u{}", space, f.words, 8 * f.bytes);
  text += fmt::format("{}st.{} [{}], {{{}}};\n", guard, form, at, names);
  text += fmt::format("bar.sync 0;\n{}ld.{} {{{}}}, [{}];\n", guard, form, other, at);
  for (uint32_t i = 0; i < f.words; ++i)
    text += fmt::format("st.global.u{} [%own+{}], %{}{};\n", 8 * f.bytes, i * f.bytes, kind, i + 4);
  job.ptx = text + "ret;\n}\n";
  return job;
}

constexpr const char* rows = "and.b32 %p, %n, 1;\nmul.lo.u32 %p, %p, 0;\nadd.u32 %p, %p, %t;";
constexpr const char* steps =
    "or.b32 %x, %n, 7;\nand.b32 %x, %x, 7;\nmul.lo.u32 %p, %t, %x;\nand.b32 %p, %p, 63;";
constexpr const char* alike = "or.b32 %x, %n, 12;\nand.b32 %x, %x, 12;\nand.b32 %p, %t, %x;";

TEST(Scatter, EveryVersionAgreesWhereLanesAreApart) {
  for (const Form& f : forms)
    for (const char* guard : {"", "@%q ", "@!%q "})
      for (const char* place : {rows, steps,
                                // A row in which the lanes of a warp are turned.
                                "or.b32 %x, %n, 5;\nand.b32 %x, %x, 5;\nadd.u32 %p, %t, %x;\n"
                                "and.b32 %p, %p, 63;"}) {
        if (f.words == 4 && *guard == 0) continue;
        Job job = job_for(f, place, guard);
        job.strategy = oracle_strategy;
        const Outcome want = run(job);
        ASSERT_TRUE(want.ran) << want.error << job.ptx;
        ASSERT_NO_FATAL_FAILURE(expect_every_version(job, want, 0));
      }
}

TEST(Scatter, OfLanesThatStoreToOnePlaceTheDevicesLastStays) {
  for (const Form& f : forms)
    for (uint32_t width : {16u, 32u})
      for (const char* guard : {"", "@%q "}) {
        Job job = job_for(f, alike, guard);
        job.strategy = 0;
        job.width = width;
        const Outcome got = run(job);
        ASSERT_TRUE(got.ran) << got.error;
        const uint32_t storing = *guard ? 37 : threads;
        // Measured on an H200: of lanes served together the lowest, of such groups the last.
        const uint32_t group = std::min(width, f.words * f.bytes <= 8 ? 16u : 8u);
        for (uint32_t t = 0; t < storing; ++t) {
          uint32_t stays = t;
          for (uint32_t other = storing; other-- > 0;)
            if ((other & 12) == (t & 12) && other / group >= stays / group) stays = other;
          EXPECT_EQ(got.out[16 * t], 8 * stays)
              << "thread " << t << ", " << f.words << " words of " << f.bytes << ", width " << width
              << " " << guard << job.ptx;
        }
      }
}

TEST(Scatter, RowsFoundAtRunTimeAreWholeVectors) {
  Job job = job_for({2, 4, true}, "sub.u32 %x, %n, 1;\nand.b32 %p, %t, %x;", "");
  job.strategy = 0;
  job.width = 16;
  const std::string code = code_of(job);
  EXPECT_NE(code.find("store <16 x i32>"), std::string::npos) << code;
  EXPECT_NE(code.find("store <2 x i32>"), std::string::npos) << code;
  EXPECT_EQ(code.find("masked.scatter"), std::string::npos) << code;
}

TEST(Scatter, LinesOfLockedInstructionsAreAskedForAllAtOnce) {
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = 4096;
  job.strategy = 0;
  job.width = 16;
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %in, %to;\n.reg .u32 %t, %x;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %to, [out];\nmov.u32 %t, %tid.x;\n"
      "mad.wide.u32 %in, %t, 4, %in;\nld.global.u32 %x, [%in];\nand.b32 %x, %x, 1023;\n"
      "mad.wide.u32 %to, %x, 4, %to;\nred.global.add.u32 [%to], 3;\nret;\n}\n";
  const std::string code = code_of(job);
  size_t asked = 0;
  for (size_t at = 0; (at = code.find("call void @llvm.prefetch", at)) != std::string::npos; ++at)
    ++asked;
  EXPECT_EQ(asked, 16u) << code;
  Job oracle = job;
  oracle.strategy = oracle_strategy;
  EXPECT_EQ(run(job).out, run(oracle).out);
}

}  // namespace
}  // namespace limen::test
