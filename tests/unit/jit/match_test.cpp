// match.any where values fit into bytes, agree above them or do not, and shuffles from lanes known
// at run time, against what they should give; the code has a comparison of bytes and permutations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "processor.h"
#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64;

Job job_with(const std::string& body) {
  Job job;
  job.block[0] = threads;
  job.out_words = threads;
  job.in.resize(size_t{2} * threads);
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %in, %to, %w;\n.reg .u32 %t, %v, %x, %r;\n.reg .pred %p;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %to, [out];\nmov.u32 %t, %tid.x;\n"
      "mad.wide.u32 %in, %t, 8, %in;\nmad.wide.u32 %to, %t, 4, %to;\nmov.u32 %r, 0;\n"
      "ld.global.u32 %v, [%in];\nld.global.u32 %x, [%in+4];\n" +
      body + "\nst.global.u32 [%to], %r;\nret;\n}\n";
  return job;
}

TEST(Match, LanesWithTheSameValueFindEachOther) {
  std::mt19937 random(7);
  for (const char* type : {"b32", "b64"})
    for (uint32_t most : {1u, 2u, 200u, 255u, 256u, 70000u})
      for (uint32_t above : {0u, 0x12345600u})
        for (uint32_t there : {0xffffffffu, 0x7ff1f00fu}) {
          const bool wide = std::string(type) == "b64";
          Job job = job_with(
              fmt::format("mov.b64 %w, {{%x, %v}};\nand.b32 %x, %t, 31;\nshr.u32 %x, {0}, %x;\n"
                          "and.b32 %x, %x, 1;\nsetp.ne.u32 %p, %x, 0;\n@!%p bra L_out;\n"
                          "match.any.sync.{1} %r, {2}, {0};\nL_out:",
                          there, type, wide ? "%w" : "%v"));
          for (uint32_t& w : job.in) w = random() % most + above;
          if (wide)  // only the upper words differ, which no byte shows
            for (uint32_t t = 0; t < threads; ++t) job.in[2 * t + 1] = 5;
          const Outcome got = run(job);
          ASSERT_TRUE(got.ran) << got.error;
          for (uint32_t t = 0; t < threads; ++t) {
            uint32_t want = 0;
            for (uint32_t lane = 0; lane < 32; ++lane)
              if (job.in[2 * (t / 32 * 32 + lane)] == job.in[2 * t]) want |= 1u << lane;
            EXPECT_EQ(got.out[t], there >> (t % 32) & 1 ? want & there : 0)
                << "thread " << t << " " << type << " below " << most << " above " << above;
          }
        }
}

TEST(Match, BytesAreComparedAsBytes) {
  const std::string code = code_of(job_with("match.any.sync.b32 %r, %v, -1;"));
  if (!is_x86_64) GTEST_SKIP() << "done with AVX2 only";
  EXPECT_NE(code.find("vpbroadcastb"), std::string::npos) << code;
  EXPECT_NE(code.find("icmp eq <32 x i8>"), std::string::npos) << code;
}

TEST(Match, AShuffleFromLanesKnownAtRunTimeIsAPermutation) {
  const Job job = job_with("shfl.sync.idx.b32 %r, %v, %x, 31, -1;");
  const std::string code = code_of(job);
  EXPECT_TRUE(!is_x86_64 || code.find("llvm.x86.avx2.permd") != std::string::npos ||
              code.find("llvm.x86.avx512.vpermi2var") != std::string::npos)
      << code;
  std::mt19937 random(8);
  Job filled = job;
  for (uint32_t& w : filled.in) w = static_cast<uint32_t>(random());
  const Outcome got = run(filled);
  ASSERT_TRUE(got.ran) << got.error;
  for (uint32_t t = 0; t < threads; ++t)
    EXPECT_EQ(got.out[t], filled.in[2 * (t / 32 * 32 + filled.in[2 * t + 1] % 32)]) << t;
}

}  // namespace
}  // namespace limen::test
