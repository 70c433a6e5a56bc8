// Loops that are split by sums (split_accumulators.cpp): short loops that carry more vectors than
// there are registers. Every version must agree with the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "agree.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64;

/// `sums` sums over `turns` turns: each adds products of loaded words, some of them in two steps,
/// the turn's number, or another loop's value; `coupled`: one reads another, which forbids
/// splitting.
std::string program(uint64_t seed, uint32_t sums, uint32_t turns, bool coupled) {
  std::mt19937_64 random(seed);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const bool floats = seed % 2;
  const std::string type = floats ? "f32" : "u32";
  const std::string multiply = floats ? "fma.rn.f32" : "mad.lo.u32";
  std::string text = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".reg .u64 %in, %to, %at;\n.reg .u32 %me, %own, %all, %turn, %w<8>, %fill, %x, %y;\n"
      ".shared .align 16 .b8 room[8192];\n"
      ".reg .{0} %s<{1}>, %a<4>, %b<4>;\n.reg .pred %p, %q;\n"
      "mov.u32 %me, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %to, [out];\n"
      "mad.wide.u32 %to, %me, {2}, %to;\nmov.u32 %all, room;\nmov.u32 %fill, %me;\nL_fill:\n"
      "mad.wide.u32 %at, %fill, 4, %in;\nld.global.u32 %y, [%at];\nmad.lo.u32 %x, %fill, 4, "
      "%all;\n"
      "st.shared.u32 [%x], %y;\nadd.u32 %fill, %fill, 64;\nsetp.lt.u32 %q, %fill, 2048;\n"
      "@%q bra L_fill;\nbar.sync 0;\n"
      "mov.u32 %turn, 0;\n",
      type, sums, sums * 4);
  for (uint32_t i = 0; i < sums; ++i)
    text += fmt::format("{} %s{}, {};\n", floats ? "cvt.rn.f32.u32" : "add.u32", i,
                        floats ? "%me" : fmt::format("%me, {}", i));
  // Addresses are made within the loop, where their alignment can be seen: tests would split its
  // block.
  text +=
      "L_turn:\nshl.b32 %own, %turn, 4;\nshl.b32 %x, %me, 2;\nadd.u32 %own, %own, %x;\n"
      "shl.b32 %all, %turn, 5;\nmov.u32 %x, room;\nadd.u32 %own, %own, %x;\nadd.u32 %all, %all, "
      "%x;\n";
  for (int i = 0; i < 4; ++i) {
    // Small numbers, so that sums of floats are exact and comparable.
    text +=
        fmt::format("ld.shared.u32 %w{}, [%own+{}];\nand.b32 %w{}, %w{}, 3;\n", i, i * 256, i, i);
    text += fmt::format("ld.shared.u32 %w{}, [%all+{}];\nand.b32 %w{}, %w{}, 3;\n", i + 4, i * 4,
                        i + 4, i + 4);
    const char* convert = floats ? "cvt.rn.f32.u32" : "mov.u32";
    text += fmt::format("{0} %a{1}, %w{1};\n{0} %b{1}, %w{2};\n", convert, i, i + 4);
  }
  for (uint32_t i = 0; i < sums; ++i) {
    const char left = below(2) ? 'a' : 'b';
    text += fmt::format("{} %s{}, %{}{}, %b{}, %s{};\n", multiply, i, left, below(4), below(4), i);
    if (below(4) == 0) text += fmt::format("add.{} %s{}, %s{}, %a{};\n", type, i, i, below(4));
    if (below(8) == 0 && !floats) text += fmt::format("xor.b32 %s{}, %s{}, %turn;\n", i, i);
    if (coupled && i == sums / 2) text += fmt::format("add.{} %s{}, %s{}, %s0;\n", type, i, i);
  }
  text += fmt::format(
      "add.u32 %turn, %turn, 1;\n"
      "setp.ne.u32 %p, %turn, {};\n@%p bra L_turn;\n",
      turns);
  for (uint32_t i = 0; i < sums; ++i)
    text += fmt::format("st.global.{} [%to+{}], %s{};\n", type, i * 4, i);
  return text + "ret;\n}\n";
}

TEST(Sums, LoopsSplitBySumsGiveEverySumItsOwnOrder) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const uint32_t sums = 20 + seed % 5 * 9, turns = 4 + seed % 13;
    Job job = job_of(seed, threads, 1);
    job.grid[0] = 1;
    job.ptx = program(seed, sums, turns, seed % 5 == 0);
    job.out_words = threads * sums;
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    ASSERT_TRUE(want.ran) << "seed " << seed << ": " << want.error << "\n" << job.ptx;
    ASSERT_NO_FATAL_FAILURE(expect_every_version(job, want, seed));
  }
}

}  // namespace
}  // namespace limen::test
