// Threads of the evaluator: meetings of lanes, barriers, spins, calls and branches.
#include "support.h"

namespace limen::test {
namespace {

TEST(OracleThreads, ShufflesReadTheLaneThatTheManualNames) {
  const Ran up =
      run("shfl.sync.up.b32 %r0|%p0, %r10, 1, 0, -1; selp.b32 %r1, 100, 0, %p0;"
          "add.u32 %r0, %r0, %r1; cvt.u64.u32 %d0, %r0; st.global.u64 [%d9], %d0;",
          32);
  ASSERT_EQ(up.outcome.error, "");
  EXPECT_EQ(up.out[0], 0u);
  EXPECT_EQ(up.out[5], 104u);
  // Segments of 8: lane 13 + 4 leaves its segment.
  const Ran down =
      run("shfl.sync.down.b32 %r0|%p0, %r10, 4, 0x181f, -1;"
          "cvt.u64.u32 %d0, %r0; st.global.u64 [%d9], %d0;",
          32);
  EXPECT_EQ(down.out[9], 13u);
  EXPECT_EQ(down.out[13], 13u);
}

TEST(OracleThreads, LanesMeetAcrossProgramCounters) {
  const Ran r =
      run("and.b32 %r0, %r10, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra E;"
          "vote.sync.ballot.b32 %r1, %p0, -1; bra D;"
          "E: vote.sync.ballot.b32 %r1, %p0, -1;"
          "D: cvt.u64.u32 %d0, %r1; st.global.u64 [%d9], %d0;",
          32);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[3], 0x55555555u);
}

TEST(OracleThreads, ExitedLanesAreNotWaitedFor) {
  const Ran r =
      run("setp.ge.u32 %p0, %r10, 20; @%p0 exit; redux.sync.add.u32 %r0, %r10, -1;"
          "bar.sync 0; cvt.u64.u32 %d0, %r0; st.global.u64 [%d9], %d0;",
          40);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[0], 190u);
  EXPECT_EQ(r.out[30], 0u);
}

TEST(OracleThreads, MatchAndReduxSeeTheMembersOnly) {
  const Ran r =
      run("and.b32 %r0, %r10, 3; setp.lt.u32 %p0, %r10, 16; @!%p0 bra D;"
          "match.any.sync.b32 %r1, %r0, 0xffff; redux.sync.max.s32 %r2, %r10, 0xffff;"
          "mov.b64 %d0, {%r1, %r2}; st.global.u64 [%d9], %d0; D:",
          32);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[2], 0xf00004444u);
}

TEST(OracleThreads, ActiveMaskIsWhoComes) {
  const Ran r =
      run("setp.lt.u32 %p0, %r10, 4; @!%p0 bra D; activemask.b32 %r0;"
          "cvt.u64.u32 %d0, %r0; st.global.u64 [%d9], %d0; D:",
          32);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[3], 0xfu);
}

TEST(OracleThreads, BarriersReduceAndCount) {
  const Ran r =
      run("setp.lt.u32 %p0, %r10, 40; bar.red.popc.u32 %r0, 0, %p0;"
          "bar.red.and.pred %p1, 1, %p0; bar.red.or.pred %p2, 2, %p0;"
          "selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 2, 0, %p2; add.u32 %r1, %r1, %r2;"
          "mov.b64 %d0, {%r0, %r1}; st.global.u64 [%d9], %d0;",
          64);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[63], 0x200000028u);
}

TEST(OracleThreads, ProducersArriveAndConsumersWait) {
  const Ran r =
      run("setp.lt.u32 %p0, %r10, 32; @%p0 bra P;"
          "bar.sync 3, 64; ld.shared.u32 %r0, [s]; cvt.u64.u32 %d0, %r0;"
          "st.global.u64 [%d9], %d0; ret;"
          "P: st.shared.u32 [s], 77; bar.arrive 3, 64;",
          96 - 32, 1, ".shared .align 4 .b32 s;");
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[40], 77u);
}

TEST(OracleThreads, SpinsEnd) {
  // Lane 0 waits for lane 1, and block 0 for block 1.
  const Ran r =
      run("setp.ne.u32 %p0, %r10, 0; @%p0 bra W;"
          "L: ld.volatile.global.u64 %d0, [%d8+16]; setp.eq.u64 %p1, %d0, 0; @%p1 bra L;"
          "st.global.u64 [%d9], 9; ret; W: setp.ne.u32 %p2, %r11, 1; @%p2 ret;"
          "st.volatile.global.u64 [%d8+16], 5;",
          2, 2);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[0], 9u);
}

TEST(OracleThreads, AWaitForNobodyIsNamed) {
  const Ran r = run("setp.ne.u32 %p0, %r10, 0; @%p0 bra W; bar.sync 0; ret; W: bar.sync 1;", 64);
  EXPECT_NE(r.outcome.error.find("do not come"), std::string::npos) << r.outcome.error;
  EXPECT_NE(run("L: bra L;").outcome.error.find("has not ended"), std::string::npos);
}

const char* const factorial =
    ".func (.param .b64 r) fact(.param .b32 n) { .reg .b32 %a<3>; .reg .b64 %b<3>; .reg .pred %p;\n"
    "ld.param.u32 %a0, [n]; mov.b64 %b0, 1; setp.le.u32 %p, %a0, 1; @%p bra D;\n"
    "{ .param .b32 x; .param .b64 y; sub.u32 %a1, %a0, 1; st.param.b32 [x], %a1;\n"
    "call (y), fact, (x); ld.param.b64 %b0, [y]; }\n"
    "cvt.u64.u32 %b1, %a0; mul.lo.u64 %b0, %b0, %b1; D: st.param.b64 [r], %b0; ret; }\n";

TEST(OracleThreads, FunctionsCallThemselves) {
  const Ran r =
      run("{ .param .b32 x; .param .b64 y; st.param.b32 [x], 10;"
          "mov.u64 %d1, fact; P: .callprototype (.param .b64 _) _ (.param .b32 _);"
          "call (y), %d1, (x), P; ld.param.b64 %d0, [y]; } st.global.u64 [%d9], %d0;",
          1, 1, factorial);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[0], 3628800u);
}

TEST(OracleThreads, IndexedBranchesAndLocalArrays) {
  const Ran r =
      run(".local .align 8 .b8 a[16]; mov.u64 %d1, a; cvta.local.u64 %d2, %d1;"
          "st.local.u64 [%d1+8], 0x1122334455667788; ld.u8 %r0, [%d2+9];"
          "T: .branchtargets A, B; brx.idx %r10, T; A: add.u32 %r0, %r0, 1;"
          "B: cvt.u64.u32 %d0, %r0; st.global.u64 [%d9], %d0;",
          2);
  ASSERT_EQ(r.outcome.error, "");
  EXPECT_EQ(r.out[0], 0x78u);
  EXPECT_EQ(r.out[1], 0x77u);
}

TEST(OracleThreads, TurnsOfAnyLengthGiveTheSame) {
  const std::string body =
      "atom.global.add.u64 %d0, [%d8], 1; bar.sync 0; ld.global.u64 %d1, [%d8];"
      "st.global.u64 [%d9+64], %d1;";
  for (uint32_t slice : {1u, 3u, 1000u}) {
    const Ran r = run(body, 32, 1, "", slice);
    ASSERT_EQ(r.outcome.error, "");
    EXPECT_EQ(r.out[20], 32u);
  }
}

}  // namespace
}  // namespace limen::test
