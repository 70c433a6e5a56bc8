// Lanes that may wait for each other: which strategy such kernels get, and what happens where a
// warp operation waits for lanes that cannot come. Results of such kernels are tested by the
// programs independent_lanes and spin_lock_in_warp, and on random programs by the version of that
// name.
#include <gtest/gtest.h>

#include "runner.h"

namespace limen::test {
namespace {

std::string program(const std::string& body) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %x<8>;
  .shared .align 4 .b8 flags[256];
  ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %x3, %r1, 4; add.u64 %x2, %x2, %x3;
  mov.u32 %r2, flags; mad.lo.u32 %r2, %r1, 4, %r2;
  setp.eq.u32 %p1, %r1, 31;
  st.shared.u32 [%r2], 0; bar.sync 0;
)" + body +
         R"(
  ret;
})";
}

/// Lane 31 need not wait, the others wait for the lane above them.
const std::string chain = R"(
W: ld.volatile.shared.u32 %r4, [%r2+4];
  @%p1 mov.u32 %r4, 1;
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra W;
  add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r2], %r4;
)";

Outcome run_text(const std::string& body, int strategy = -1) {
  Job job;
  job.ptx = program(body);
  job.out_words = 32;
  job.in = {0};
  job.strategy = strategy;
  return run(job);
}

TEST(Independent, AChainOfLanesRunsAsAVector) {
  const std::string body = chain +
                           "shfl.sync.idx.b32 %r5, %r4, 0, 31, -1; add.u32 %r4, %r4, %r5;\n"
                           "st.global.u32 [%x2], %r4;";
  for (int strategy : {-1, 2}) {
    const Outcome got = run_text(body, strategy);
    ASSERT_TRUE(got.ran) << got.error;
    EXPECT_EQ(got.meta.strategy, strategy < 0 ? kernel::Strategy::fiber : kernel::Strategy::lane);
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got.out[lane], 33 - lane + 33) << lane;
  }
}

TEST(Independent, WhatIsSameInAllLanesStaysSoBehindTheBarrier) {
  // %r7 is computed between loop and barrier; a branch on it parts no lanes, so that the barriers
  // in its arms need no lanes of their own.
  const std::string body = chain + R"(
  ld.param.u32 %r6, [n]; add.u32 %r7, %r6, 3; setp.gt.u32 %p3, %r7, 1000;
  bar.sync 0;
  @%p3 bra FAR;
  bar.sync 0; mov.u32 %r8, 1; bra.uni END;
FAR: bar.sync 0; mov.u32 %r8, 2;
END: st.global.u32 [%x2], %r8;)";
  const Outcome got = run_text(body);
  ASSERT_TRUE(got.ran) << got.error;
  EXPECT_EQ(got.meta.strategy, kernel::Strategy::fiber);
  EXPECT_EQ(got.out, std::vector<uint32_t>(32, 1));
}

TEST(Independent, WaitsBesideABarrierInDivergentFlowRunLaneByLane) {
  const std::string body = R"(
  setp.lt.u32 %p4, %r1, 16;
  @%p4 bra LOW;
  barrier.sync 1, 32; bra.uni END;
LOW: )" + chain.substr(0, chain.find("W:")) +
                           R"(
W: ld.volatile.global.u32 %r4, [%x1];
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra W;
  barrier.sync 1, 32;
END: st.global.u32 [%x2], %r1;)";
  const Outcome got = run_text(body);
  ASSERT_TRUE(got.ran) << got.error;
  EXPECT_EQ(got.meta.strategy, kernel::Strategy::lane);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got.out[lane], lane);
}

TEST(Independent, APartnerThatCannotComeIsAFaultNotAValue) {
  // Lane 0 goes by and waits at the barrier; the others wait for it in the shuffle.
  const std::string body = chain + R"(
  setp.eq.u32 %p5, %r1, 0;
  @%p5 bra PAST;
  shfl.sync.idx.b32 %r5, %r4, 0, 31, -1;
PAST: bar.sync 0; st.global.u32 [%x2], %r5;)";
  const Outcome got = run_text(body);
  EXPECT_FALSE(got.ran);
  EXPECT_NE(got.error.find("line"), std::string::npos) << got.error;
}

TEST(Independent, LanesThatLeftAreNotWaitedFor) {
  const std::string body = chain + R"(
  setp.eq.u32 %p5, %r1, 0;
  @%p5 ret;
  shfl.sync.idx.b32 %r5, %r4, 5, 31, -1; st.global.u32 [%x2], %r5;)";
  const Outcome got = run_text(body);
  ASSERT_TRUE(got.ran) << got.error;
  EXPECT_EQ(got.meta.strategy, kernel::Strategy::fiber);
  for (uint32_t lane = 1; lane < 32; ++lane) EXPECT_EQ(got.out[lane], 28u) << lane;
}

}  // namespace
}  // namespace limen::test
