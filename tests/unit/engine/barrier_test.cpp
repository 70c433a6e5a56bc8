// BarrierSet and WarpExchange alone, without fibers.
#include "engine/barrier.h"

#include <gtest/gtest.h>

#include "engine/exchange.h"

namespace limen::engine {
namespace {

TEST(BarrierSet, AllThreadsWithExits) {
  BarrierSet set;
  set.start(100);
  EXPECT_FALSE(set.arrive(0, 0, 0, 32, 1));
  EXPECT_FALSE(set.arrive(0, 0, 32, 32, 2));
  EXPECT_EQ(set.exit_threads(64, 32), 0u);
  EXPECT_TRUE(set.arrive(0, 0, 96, 32, 4));
  EXPECT_EQ(set.at(0).predicates, 7u);
  set.finish_phase(0);
  EXPECT_FALSE(set.arrive(0, 0, 0, 32, 0));
  EXPECT_FALSE(set.arrive(0, 0, 32, 32, 0));
  EXPECT_EQ(set.exit_threads(96, 32), 1u);
}

TEST(BarrierSet, ArriveThenExitCountsOnce) {
  BarrierSet set;
  set.start(96);
  EXPECT_FALSE(set.arrive(3, 0, 0, 32, 0));
  EXPECT_EQ(set.exit_threads(0, 32), 0u);
  EXPECT_FALSE(set.arrive(3, 0, 32, 32, 0));
  EXPECT_TRUE(set.arrive(3, 0, 64, 32, 0));
}

TEST(BarrierSet, PartialCountByWarps) {
  BarrierSet set;
  set.start(256);
  EXPECT_FALSE(set.arrive(1, 64, 128, 32, 0));
  EXPECT_TRUE(set.arrive(1, 64, 32, 32, 0));
}

TEST(BarrierSet, PartialLastWarpCountsAsWhole) {
  BarrierSet set;
  set.start(40);
  EXPECT_FALSE(set.arrive(1, 64, 0, 32, 0));
  EXPECT_TRUE(set.arrive(1, 64, 32, 32, 0));
}

TEST(BarrierSet, LanesOfAWarpWithExitsCountAsWhole) {
  BarrierSet set;
  set.start(64);
  EXPECT_FALSE(set.arrive(1, 64, 32, 32, 0));
  for (uint32_t lane = 0; lane < 30; ++lane) EXPECT_FALSE(set.arrive(1, 64, lane, 1, 0));
  EXPECT_EQ(set.exit_threads(30, 1), 0u);
  EXPECT_EQ(set.exit_threads(31, 1), 2u);
}

TEST(BarrierSet, RestartForgets) {
  BarrierSet set;
  set.start(1024);
  EXPECT_FALSE(set.arrive(5, 0, 992, 32, 9));
  set.start(64);
  EXPECT_FALSE(set.arrive(5, 0, 0, 32, 1));
  EXPECT_TRUE(set.arrive(5, 0, 32, 32, 1));
  EXPECT_EQ(set.at(5).predicates, 2u);
}

TEST(WarpExchange, DisjointGroupsAndExits) {
  WarpExchange warp;
  warp.start(~0u);
  EXPECT_EQ(warp.arrive(0, 0x3, 1, 10).snapshot, nullptr);
  EXPECT_EQ(warp.arrive(2, 0xc, 1, 12).snapshot, nullptr);
  const Rendezvous low = warp.arrive(1, 0x3, 1, 11);
  ASSERT_NE(low.snapshot, nullptr);
  EXPECT_EQ(low.snapshot->exchange.present, 0x3u);
  EXPECT_EQ(low.snapshot->exchange.values[1], 11u);
  EXPECT_EQ(low.snapshot->exchange.values[2], 0u);
  std::vector<Rendezvous> done;
  warp.exit_lane(3, done);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].arrived, 0x4u);
}

TEST(WarpExchange, SnapshotOutlivesNextExchange) {
  WarpExchange warp;
  warp.start(0x3);
  warp.arrive(0, 0x3, 1, 1);
  Snapshot* first = warp.arrive(1, 0x3, 1, 2).snapshot;
  warp.release(first);  // lane 1 goes on at once; lane 0 still reads
  EXPECT_EQ(warp.arrive(1, 0x3, 1, 99).snapshot, nullptr);
  EXPECT_EQ(first->exchange.values[1], 2u);
  warp.release(first);
  const Rendezvous second = warp.arrive(0, 0x3, 1, 98);
  EXPECT_EQ(second.snapshot->exchange.values[1], 99u);
}

}  // namespace
}  // namespace limen::engine
