// Lanes' places: what is known of them when the kernel is compiled (shape.cpp), what is computed
// again behind a barrier (constants.cpp), and addresses whose 32-bit indices AVX2 gathers by
// (lower_gather.cpp). Every version must agree with the evaluator; the IR shows that it was done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "agree.h"
#include "processor.h"

namespace limen::test {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

/// A kernel around `body`, which leaves %x (u32) for each thread: %me is its number in the block.
Job kernel(const std::string& body, uint32_t block_x, uint32_t block_y, uint64_t seed = 1) {
  Job job = job_of(seed, block_x, block_y);
  job.grid[0] = 1;
  job.out_words = size_t{block_x} * block_y;
  job.ptx = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".shared .align 16 .b8 room[4096];\n"
      ".reg .u64 %in, %base, %own, %to, %at, %from, %wide;\n.reg .u32 %tx, %ty, %me, %x, %y, %z, "
      "%i, %s, %v, "
      "%rows, %grow;\n"
      ".reg .u16 %h, %g;\n.reg .s64 %d;\n.reg .pred %p, %q;\n.reg .f32 %f;\n"
      "mov.u32 %tx, %tid.x;\nmov.u32 %ty, %tid.y;\nmad.lo.u32 %me, %ty, {}, %tx;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %base, [out];\nmul.wide.u32 %own, %me, 4;\n"
      "add.u64 %to, %base, %own;\nmov.u32 %x, 0;\n{}"
      "L_end:\nst.global.u32 [%to], %x;\nret;\n}}\n",
      block_x, body);
  job.width = 16;
  job.strategy = 0;
  return job;
}

void expect_agreement(Job job, uint64_t seed) {
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  ASSERT_TRUE(want.ran) << "seed " << seed << ": " << want.error << "\n" << job.ptx;
  expect_every_version(job, want, seed);
}

TEST(Places, AnAddressThatFallsWithTheLaneIsOneLoad) {
  for (const char* opposite : {"neg.s32 %i, %tx;\n", "not.b32 %i, %tx;\n"}) {
    const Job job = kernel(std::string(opposite) +
                               "cvt.s64.s32 %d, %i;\nadd.s64 %from, %in, %d;\n"
                               "ld.global.u8 %h, [%from+64];\ncvt.u32.u16 %x, %h;\n",
                           64, 1);
    const std::string code = code_of(job);
    ASSERT_FALSE(code.empty());
    EXPECT_EQ(count(code, "load <16 x i8>"), 1u) << code;
    EXPECT_EQ(count(code, "load i8"), 0u) << code;
    expect_agreement(job, 1);
  }
}

TEST(Places, WhatThePlaceDecidesIsNotKeptAcrossBarriers) {
  // %tx, %me, %wide, %to, -tid and a predicate live across; the counter alone must be kept.
  const Job job = kernel(
      "setp.ne.u32 %p, %tx, 0;\nneg.s32 %y, %tx;\nshl.b32 %s, %tx, 2;\nmov.u32 %i, 3;\n"
      "L_turn:\nst.shared.u32 [%s], %i;\nbar.sync 0;\nadd.u32 %i, %i, 5;\n"
      "@%p st.shared.u32 [%s], %y;\nbar.sync 0;\nsetp.lt.u32 %q, %i, 40;\n@%q bra L_turn;\n"
      "mov.u32 %z, room;\nsub.u32 %z, %z, %s;\nld.shared.u32 %x, [%z+252];\n",
      64, 1);
  Job once = job;
  const Outcome got = run(once);
  ASSERT_TRUE(got.ran) << got.error;
  EXPECT_EQ(got.meta.slot_bytes, 128u) << "a header of 64 bytes, and the counter";
  const std::string code = code_of(job);
  EXPECT_EQ(count(code, "\npart:"), 0u) << "no lane leaves before the end\n" << code;
  expect_agreement(job, 1);
}

TEST(Places, AnExitBeforeABarrierIsSeenBehindIt) {
  // Some lanes of each warp leave; the others go on through barriers, and some leave later.
  for (uint32_t first : {1u, 7u, 40u, 63u}) {
    const Job job =
        kernel(fmt::format(
                   "mov.u32 %x, 9;\nsetp.ge.u32 %p, %tx, {};\n@%p bra L_end;\nshl.b32 %s, %tx, 2;\n"
                   "st.shared.u32 [%s], %tx;\nbar.sync 0;\nld.shared.u32 %x, [room];\n"
                   "setp.lt.u32 %q, %tx, 2;\n@%q bra L_end;\nadd.u32 %x, %x, 7;\nbar.sync 0;\n"
                   "ld.shared.u32 %y, [%s];\nadd.u32 %x, %x, %y;\n",
                   first),
               64, 1);
    expect_agreement(job, first);
  }
}

TEST(Places, WhatIsKnownOfAllLanesIsComputedBefore) {
  const Job job = kernel(
      "max.s32 %i, %tx, 6;\nadd.s32 %i, %i, 15;\nsub.s32 %i, %i, %tx;\nshr.u32 %i, %i, 4;\n"
      "mov.u32 %x, %i;\nsetp.gt.u32 %p, %i, 4;\n@%p bra L_end;\n"
      "mul.wide.u32 %wide, %me, 4;\nadd.u64 %from, %in, %wide;\nld.global.u32 %y, [%from];\n"
      "add.u32 %x, %i, %y;\n",
      16, 4);
  const std::string code = code_of(job);
  ASSERT_FALSE(code.empty());
  EXPECT_EQ(count(code, "<16 x i1>"), 0u) << "the branch is the same in all lanes, and known\n"
                                          << code;
  EXPECT_EQ(count(code, "<i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0"), 1u) << code;
  expect_agreement(job, 1);
}

TEST(Places, LaneByLaneAgreesWithTheEvaluator) {
  static const char* const ops[] = {"min", "max", "shl", "shr", "and", "or", "xor", "div", "rem"};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::string body = "mov.u32 %i, %tx;\n";
    for (int k = 0; k < 6; ++k) {
      const std::string op = ops[below(std::size(ops))];
      const bool bits = op == "shl" || op == "and" || op == "or" || op == "xor";
      const std::string type = bits ? "b32" : below(2) ? "s32" : "u32";
      const bool divides = op == "div" || op == "rem";
      const std::string other = below(4) == 0 && !divides
                                    ? "%tx"
                                    : std::to_string(divides                      ? 1 + below(9)
                                                     : op == "shl" || op == "shr" ? below(40)
                                                     : below(2)                   ? below(64)
                                                                : below(1u << 31));
      body += fmt::format("{}.{} %i, %i, {};\n", op, type, other);
      if (below(3) == 0) body += fmt::format("add.u32 %i, %i, {};\n", below(100));
      if (below(3) == 0) body += "neg.s32 %i, %i;\n";
      static const char* const orders[] = {"lt", "le", "gt", "ge", "eq", "ne"};
      body += fmt::format("setp.{}.{} %p, %i, {};\n@%p add.u32 %x, %x, {};\n", orders[below(6)],
                          below(2) ? "s32" : "u32", below(32), 1 + below(1000));
    }
    body += "add.u32 %x, %x, %i;\n";
    expect_agreement(kernel(body, below(2) ? 16 : 4, 4, seed), seed);
  }
}

TEST(Places, SignsOfJoinedPlacesAreAskedOfTheOutermostLanes) {
  // Inside of a border: x - 2 and y - 1 are not negative, nor (x | y) - n.
  const Job job = kernel(
      "add.s32 %i, %tx, -2;\nadd.s32 %s, %ty, -1;\nor.b32 %z, %i, %s;\nsetp.lt.s32 %p, %z, 0;\n"
      "setp.ge.s32 %q, %i, 60;\nor.pred %p, %p, %q;\nmov.u32 %x, 77;\n@%p bra L_end;\n"
      "mul.wide.s32 %d, %me, 4;\nadd.s64 %from, %in, %d;\nld.global.u32 %x, [%from];\n"
      "st.global.u32 [%to], %tx;\n",
      64, 4);
  const std::string code = code_of(job);
  ASSERT_FALSE(code.empty());
  EXPECT_GE(count(code, "store <16 x i32>"), 2u) << "a whole version's store\n" << code;
  for (const char* op : {"or.b32", "and.b32"})
    for (const char* test : {"lt", "ge"})
      for (uint32_t low : {0u, 2u, 16u, 40u, 70u}) {
        const Job other =
            kernel(fmt::format("add.s32 %i, %tx, -{};\nadd.s32 %s, %ty, -1;\n{} %z, %i, %s;\n"
                               "setp.{}.s32 %p, %z, 0;\nmov.u32 %x, 77;\n@%p bra L_end;\n"
                               "mul.wide.s32 %d, %me, 4;\nadd.s64 %from, %in, %d;\n"
                               "ld.global.u32 %x, [%from];\n",
                               low, op, test),
                   64, 4);
        expect_agreement(other, low);
      }
}

/// Each lane reads where a number out of memory says, some lanes only.
Job indexed(const std::string& address, const std::string& load) {
  return kernel(
      "shl.b32 %s, %me, 2;\nst.shared.u32 [%s], %me;\nbar.sync 0;\n"
      "mul.wide.u32 %wide, %me, 4;\nadd.u64 %from, %in, %wide;\n"
      "ld.global.u32 %i, [%from];\nand.b32 %i, %i, 63;\nsetp.gt.u32 %p, %i, 40;\n" +
          std::string("mov.u32 %x, 5;\n@%p bra L_end;\n") + address + load,
      64, 1);
}

TEST(Places, ScatteredReadsOfAVectorAreOneGather) {
  struct Case {
    const char *address, *load;
  };
  const Case cases[] = {
      {"mul.wide.s32 %d, %i, 4;\nadd.s64 %at, %in, %d;\n", "ld.global.u32 %x, [%at+8];\n"},
      {"mul.wide.u32 %d, %i, 4;\nadd.s64 %at, %d, %in;\n", "ld.global.u32 %x, [%at];\n"},
      {"sub.s32 %i, %i, 40;\nmul.wide.s32 %d, %i, 4;\nadd.s64 %at, %in, %d;\n",
       "ld.global.u32 %x, [%at+160];\n"},
      {"cvt.u64.u32 %d, %i;\nshl.b64 %d, %d, 3;\nadd.s64 %at, %in, %d;\n",
       "ld.global.u64 %wide, [%at];\ncvt.u32.u64 %x, %wide;\n"},
      {"mul.wide.s32 %d, %i, 4;\nadd.s64 %at, %in, %d;\n",
       "ld.global.f32 %f, [%at];\nmov.b32 %x, %f;\n"},
      {"shl.b32 %s, %i, 2;\n", "ld.shared.u32 %x, [%s];\n"},
  };
  for (const Case& c : cases) {
    const Job job = indexed(c.address, c.load);
    if (is_x86_64 && !has_avx512()) {
      const std::string code = code_of(job);
      EXPECT_GE(count(code, "call <8 x float> @llvm.x86.avx2.gather.d.ps") +
                    count(code, "call <4 x double> @llvm.x86.avx2.gather.d.pd"),
                2u)
          << job.ptx << code;
    }
    expect_agreement(job, 1);
  }
}

TEST(Places, AnIndexThatIsWidenedWithAClampIsNoIndex) {
  expect_agreement(indexed("sub.s32 %i, %i, 40;\ncvt.sat.u64.s32 %d, %i;\nshl.b64 %d, %d, 2;\n"
                           "add.s64 %at, %in, %d;\n",
                           "ld.global.u32 %x, [%at];\n"),
                   1);
}

TEST(Places, DivisorsKnownLaneByLane) {
  for (const char* op : {"div.s32", "rem.s32", "div.u32", "rem.u32"})
    expect_agreement(kernel(fmt::format("ld.global.u32 %v, [%in];\nadd.u32 %i, %tx, 1;\n"
                                        "{} %x, %v, %i;\n",
                                        op),
                            16, 16),
                     1);
}

TEST(Places, AnIndexWrittenAfterItsProductIsNotReadAgain) {
  const Job job = indexed("mul.wide.s32 %d, %i, 4;\nadd.s64 %at, %in, %d;\nadd.s32 %i, %i, 3;\n",
                          "ld.global.u32 %x, [%at];\nadd.u32 %x, %x, %i;\n");
  expect_agreement(job, 1);
}

TEST(Places, AnIndexWithoutASignIsNotExtendedByOne) {
  // 2^31 elements of one byte further on: the base is so much lower.
  const Job job = indexed(
      "or.b32 %i, %i, 0x80000000;\ncvt.u64.u32 %d, %i;\nmov.u64 %wide, 0x80000000;\n"
      "sub.u64 %from, %in, %wide;\nadd.s64 %at, %from, %d;\nand.b64 %at, %at, -4;\n"
      "mul.wide.u32 %d, %i, 4;\nmov.u64 %wide, 0x200000000;\nsub.u64 %from, %in, %wide;\n"
      "add.s64 %at, %from, %d;\n",
      "ld.global.u32 %x, [%at];\n");
  expect_agreement(job, 1);
}

/// Tiles of a matrix, 64 x %n rows of it behind each other, through shared memory.
Job tiles(uint32_t rows) {
  return kernel(
      fmt::format(
          "ld.param.u32 %rows, [n];\nshl.b32 %grow, %rows, {};\nmov.u32 %i, %me;\nmov.u32 %z, 0;\n"
          "shl.b32 %s, %me, 2;\n"
          "L_turn:\nmul.wide.u32 %wide, %i, 4;\nadd.u64 %from, %in, %wide;\n"
          "ld.global.u32 %v, [%from];\nst.shared.u32 [%s], %v;\nbar.sync 0;\n"
          "ld.shared.u32 %y, [room+20];\nadd.u32 %x, %x, %y;\nbar.sync 0;\n"
          "add.u32 %i, %i, %grow;\nadd.u32 %z, %z, 1;\nsetp.lt.u32 %p, %z, 5;\n"
          "@%p bra L_turn;\n",
          rows),
      64, 1);
}

TEST(Places, TheNextTileIsAskedForBeforeTheBarrier) {
  const Job job = tiles(3);
  const std::string code = code_of(job);
  ASSERT_FALSE(code.empty());
  // A line of 16 lanes, in the region that begins at the entry and in the one behind the barrier.
  EXPECT_EQ(count(code, "call void @llvm.prefetch"), 2u) << code;
  expect_agreement(job, 1);
}

TEST(Places, BlocksOfShortRowsAskForTheNextBlocks) {
  const char* body =
      "mul.wide.u32 %wide, %me, 4;\nadd.u64 %from, %in, %wide;\nld.global.u32 %x, [%from];\n";
  const Job rows = kernel(body, 32, 2), row = kernel(body, 64, 1);
  EXPECT_NE(count(code_of(rows), "call void @llvm.prefetch"), 0u);
  EXPECT_EQ(count(code_of(row), "call void @llvm.prefetch"), 0u);
  expect_agreement(rows, 1);
}

}  // namespace
}  // namespace limen::test
