// Loads of warps of which some lanes are missing: they read whole vectors where all lanes' elements
// lie in one page (lower_words.cpp), and no lane's element beyond the last page. And branches of
// whole versions to code that runs under masks. Every version must agree with the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "processor.h"
#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64;

/// Each of the last or of some `lanes` threads reads `words` elements of `bytes` bytes, the input's
/// last ones, behind a branch or a guard; `stride` elements lie between two threads' first.
std::string program(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t bytes = 1u << below(4);
  const uint32_t most = bytes >= 4 ? 16 / bytes : 1;  // of a vector
  const uint32_t vector = below(2) ? 1 : most;
  // One load, or several behind each other (members of a record), which may be done together.
  const uint32_t loads = bytes >= 4 ? 1 + below(3) : 1;
  const uint32_t record = bytes * vector * loads;
  const uint32_t lanes = 1 + below(threads - 1);
  const bool guarded = below(2);
  const uint32_t end = 4096 * 4;
  // Lanes beyond `lanes` would read behind the end, or, in some programs, before it.
  const uint32_t room = end - record * lanes;
  const uint32_t begin = below(4) ? room : room - std::min(room, record * below(100));
  const std::string type = bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
  const std::string wide = bytes <= 4 ? "u32" : "u64";
  std::string text = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".reg .u64 %in, %to, %at, %sum, %x;\n.reg .u32 %me;\n.reg .{} %v<12>;\n.reg .pred %p;\n"
      "mov.u32 %me, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %to, [out];\n"
      "mad.wide.u32 %to, %me, 8, %to;\nmov.u64 %sum, 5;\n"
      "mad.wide.u32 %at, %me, {}, %in;\nsetp.ge.u32 %p, %me, {};\n",
      wide, record, lanes);
  for (uint32_t i = 0; i < loads * vector; ++i) text += fmt::format("mov.{} %v{}, 3;\n", wide, i);
  if (!guarded) text += "@%p bra L_end;\n";
  for (uint32_t i = 0; i < loads; ++i) {
    std::string to = fmt::format("%v{}", i * vector);
    if (vector > 1) {
      for (uint32_t j = 1; j < vector; ++j) to += fmt::format(", %v{}", i * vector + j);
      to = "{" + to + "}";
    }
    text += fmt::format("{}ld.global.{}{} {}, [%at+{}];\n", guarded ? "@!%p " : "",
                        vector > 1 ? fmt::format("v{}.", vector) : "", type, to,
                        begin + i * vector * bytes);
  }
  for (uint32_t i = 0; i < loads * vector; ++i)
    text += fmt::format("{} %x, %v{};\nmad.lo.u64 %sum, %sum, 3, %x;\n",
                        bytes <= 4 ? "cvt.u64.u32" : "mov.u64", i);
  return text + "L_end:\nst.global.u64 [%to], %sum;\nret;\n}\n";
}

TEST(Partial, LanesThatAreMissingReadNothingBehindTheLastPage) {
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    Job job = job_of(seed, threads, 1);
    job.grid[0] = 1;
    job.ptx = program(seed);
    job.out_words = threads * 2;
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    ASSERT_TRUE(want.ran) << "seed " << seed << ": " << want.error << "\n" << job.ptx;
    for (const Version& v : versions(Family::plain)) {
      if (v.strategy == 2) continue;  // lane by lane
      job.strategy = v.strategy;
      job.width = v.width;
      job.specialize = v.specialize;
      const Outcome got = run(job);
      ASSERT_TRUE(got.ran) << "seed " << seed << " strategy " << v.strategy << " width " << v.width
                           << ": " << got.error << "\n"
                           << job.ptx;
      ASSERT_EQ(got.out, want.out)
          << "seed " << seed << " strategy " << v.strategy << " width " << v.width << "\n"
          << job.ptx;
    }
  }
}

/// Rows of different lengths, a warp a row, lanes side by side, and a loop whose lanes part by what
/// they read: that has no whole version, the code around it has (spmv_csr).
Job rows() {
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = threads;
  job.strategy = 0;
  job.width = 16;
  for (uint32_t i = 0; i < job.in.size(); ++i) job.in[i] = i < 64 ? 64 + i * 23 : i;
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %in, %to, %at, %row, %own;\n.reg .u32 %me, %lane, %r, %i<3>, %end, %n, %s<3>, "
      "%x;\n"
      ".reg .pred %p, %q, %z, %e;\n"
      "mov.u32 %me, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %to, [out];\n"
      "ld.param.u32 %n, [n];\nand.b32 %lane, %me, 15;\nshr.u32 %r, %me, 4;\n"
      "setp.ge.s32 %e, %me, %n;\n@%e bra L_out;\n"
      "mul.wide.u32 %row, %r, 4;\nadd.u64 %row, %in, %row;\nld.global.u32 %i0, [%row];\n"
      "ld.global.u32 %end, [%row+4];\nadd.u32 %i1, %i0, %lane;\nmov.u32 %s1, 0;\n"
      "setp.ge.s32 %p, %i1, %end;\n@%p bra L_done;\n"
      "L_turn:\nmul.wide.s32 %at, %i1, 4;\nadd.u64 %at, %in, %at;\nld.global.u32 %x, [%at];\n"
      "add.u32 %s1, %s1, %x;\nadd.u32 %i1, %i1, 16;\nsetp.lt.s32 %z, %i1, %end;\n"
      "setp.ne.u32 %q, %x, 100000;\nand.pred %q, %q, %z;\n@%q bra L_turn;\n"
      "L_done:\nmul.wide.u32 %own, %me, 4;\nadd.u64 %own, %to, %own;\nst.global.u32 [%own], %s1;\n"
      "L_out:\nret;\n}\n";
  return job;
}

TEST(Partial, SomeLanesOfAWarpReadWithoutAMask) {
  if (has_avx512()) GTEST_SKIP() << "masks cost nothing there";
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = threads * 2;
  job.strategy = 0;
  job.width = 16;
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %in, %to, %at, %from, %own;\n.reg .u32 %me, %x, %y;\n.reg .pred %p;\n"
      "mov.u32 %me, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %to, [out];\n"
      "mul.wide.u32 %at, %me, 4;\nadd.u64 %from, %in, %at;\nadd.u64 %own, %to, %at;\n"
      "ld.global.u32 %x, [%from];\nsetp.eq.u32 %p, %x, 7;\n@%p bra L_end;\n"
      "ld.global.u32 %y, [%from+1024];\nst.global.u32 [%own], %y;\nL_end:\nret;\n}\n";
  const std::string code = code_of(job);
  size_t loads = 0;
  for (size_t at = 0; (at = code.find("= load <16 x i32>", at)) != std::string::npos; ++at) ++loads;
  EXPECT_GE(loads, 2u) << code;
  EXPECT_EQ(code.find("@llvm.masked.load"), std::string::npos) << code;
}

TEST(Partial, ABranchToMaskedCodeDoesNotAskWhetherAllLanesTakeIt) {
  Job job = rows();
  const std::string code = code_of(job);
  ASSERT_FALSE(code.empty());
  // Where it asks, the mask comes in from there as a constant.
  std::istringstream lines(code);
  bool masks = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("%mask") == std::string::npos || line.find("= phi") == std::string::npos)
      continue;
    masks = true;
    EXPECT_EQ(line.find("<i1 true"), std::string::npos) << line << "\n" << code;
  }
  EXPECT_TRUE(masks) << code;
  const Outcome got = run(job);
  job.strategy = oracle_strategy;
  EXPECT_EQ(got.out, run(job).out);
}

}  // namespace
}  // namespace limen::test
