// Forward progress beyond the block: grid barriers, persistent kernels, mixed grids on few workers.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "engine/stacks.h"
#include "support.h"

namespace limen::engine::test {
namespace {

struct GridBarrier {
  std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> bad{0};
  uint32_t rounds = 5;
};

void meet_all_blocks(BlockContext* context, WarpContext* warp) {
  auto* data = parameter<GridBarrier>(context);
  const kernel::Runtime* runtime = context->launch->runtime;
  const uint32_t blocks = context->launch->grid[0];
  for (uint32_t round = 1; round <= data->rounds; ++round) {
    runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    if (warp->warp == 0) {
      data->arrived++;
      while (data->arrived.load() < round * blocks) runtime->yield(context, warp);
    }
    runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    if (data->arrived.load() < round * blocks) data->bad++;
  }
}

TEST(Progress, HandWrittenGridBarrier) {
  for (uint32_t workers : {1u, 3u}) {
    Pool pool({.threads = workers});
    for (uint32_t blocks : {2u, 16u, 64u}) {
      if (under_tsan && blocks > 8) continue;  // its fiber switches cost microseconds
      GridBarrier data;
      auto spec = make_spec(fiber_code(meet_all_blocks), blocks, 256, &data);
      spec->sm_count = 8;  // 8 x 2048/256 = 64 blocks resident
      EXPECT_EQ(run(pool, std::move(spec)).kind, Fault::none);
      EXPECT_EQ(data.bad, 0u);
    }
  }
}

TEST(Progress, CooperativeGridIsResidentWhole) {
  Pool pool({.threads = 2});
  GridBarrier data;
  auto spec = make_spec(fiber_code(meet_all_blocks), under_tsan ? 12 : 100, 64, &data);
  spec->sm_count = 1;
  spec->cooperative = true;
  EXPECT_EQ(run(pool, std::move(spec)).kind, Fault::none);
  EXPECT_EQ(data.bad, 0u);
}

TEST(Progress, LaneGridBarrier) {
  Pool pool({.threads = 2});
  GridBarrier data;
  data.rounds = 2;
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    auto* data = parameter<GridBarrier>(context);
    const uint32_t all = context->launch->grid[0] * context->launch->block[0] * 2;
    data->arrived++;
    while (data->arrived.load() < all / 2) context->launch->runtime->yield(context, warp);
    data->arrived++;
    while (data->arrived.load() < all) context->launch->runtime->yield(context, warp);
  });
  EXPECT_EQ(run(pool, make_spec(code, under_tsan ? 3 : 12, under_tsan ? 32 : 64, &data)).kind,
            Fault::none);
}

TEST(Progress, CooperativeGridBeyondTheLimitIsRefused) {
  Pool pool({.threads = 1});
  const auto code = lane_code([](BlockContext*, WarpContext*) {});
  const uint64_t most = most_resident_blocks(code->meta, 1024);
  EXPECT_GE(most, under_tsan ? 2u : 4u);
  EXPECT_EQ(most_resident_blocks(region_code(nullptr)->meta, 1024), UINT64_MAX);
  auto spec = make_spec(code, static_cast<uint32_t>(most + 1), 1024);
  spec->cooperative = true;
  const FaultInfo info = run(pool, std::move(spec));
  EXPECT_EQ(info.kind, Fault::out_of_resources);
  EXPECT_NE(info.message.find("cooperative"), std::string::npos) << info.message;
}

// Fewer stacks than the workers could use: grids wait for stacks instead of failing, and a block that
// can never have enough is a fault.
TEST(Progress, ScarceStacksMoveBetweenWorkers) {
  // Its own stack size, so that no stacks made before count.
  static size_t stack_bytes = 40 * 1024;
  stack_bytes += 4096;
  Pool pool({.threads = 4, .fiber_stack_bytes = stack_bytes});
  StackStore::set_limit(StackStore::made() + 300);
  auto lane = lane_code([](BlockContext* context, WarpContext* warp) {
    for (int i = 0; i < 3; ++i) context->launch->runtime->barrier(context, warp, 0, 0, 1, 0, 0);
    (*parameter<std::atomic<uint64_t>>(context))++;
  });
  std::atomic<uint64_t> count{0};
  std::atomic<int> wrong{0};
  Completion completion;
  uint64_t expected = 0;
  for (int i = 0; i < 60; ++i) {
    const uint32_t threads = 32u + 32u * static_cast<uint32_t>(i % 8), blocks = 5;
    auto spec = make_spec(lane, blocks, threads, &count);
    spec->done = [&wrong, finished = completion.callback()](const FaultInfo& info) {
      if (info.kind != Fault::none) ++wrong;
      finished({});
    };
    expected += uint64_t{threads} * blocks;
    pool.submit(std::move(spec));
  }
  completion.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(count, expected);
  EXPECT_EQ(run(pool, make_spec(lane, 1, 512, &count)).kind, Fault::out_of_resources);
  StackStore::set_limit(0);
}

struct Mailbox {
  std::atomic<uint32_t> request{0};
  std::atomic<uint32_t> reply{0};
  std::atomic<bool> stop{false};
};

void serve_host(BlockContext* context, WarpContext* warp) {
  auto* box = parameter<Mailbox>(context);
  const kernel::Runtime* runtime = context->launch->runtime;
  while (!box->stop) {
    if (warp->warp == 0 && linear_block(context) == 0) {
      const uint32_t request = box->request;
      if (request != box->reply) box->reply = request;
    }
    runtime->yield(context, warp);
  }
}

class Persistent : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Persistent, KernelFedByTheHostLetsOthersRun) {
  Pool pool({.threads = GetParam()});
  Mailbox box;
  Completion persistent;
  auto spec = make_spec(fiber_code(serve_host), 4, 64, &box);
  spec->done = persistent.callback();
  pool.submit(std::move(spec));
  for (uint32_t i = 1; i <= 20; ++i) {
    box.request = i;
    while (box.reply != i) std::this_thread::yield();
    // Other streams: a region grid, a fiber grid with barriers, a copy.
    std::atomic<uint64_t> count{0};
    auto region =
        region_code([](BlockContext* context) { (*parameter<std::atomic<uint64_t>>(context))++; });
    EXPECT_EQ(run(pool, make_spec(region, 500, 32, &count)).kind, Fault::none);
    auto fiber = fiber_code([](BlockContext* context, WarpContext* warp) {
      context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
      (*parameter<std::atomic<uint64_t>>(context))++;
    });
    EXPECT_EQ(run(pool, make_spec(fiber, 10, 128, &count)).kind, Fault::none);
    EXPECT_EQ(count, 540u);
    Completion copy;
    pool.submit_task([finished = copy.callback()] { finished({}); });
    copy.wait();
  }
  EXPECT_EQ(persistent.arrived(), 0);
  box.stop = true;
  EXPECT_EQ(persistent.wait().kind, Fault::none);
}

INSTANTIATE_TEST_SUITE_P(Workers, Persistent, ::testing::Values(1u, 2u, 4u));

TEST(Progress, PersistentKernelWithBarriersInItsLoop) {
  Pool pool({.threads = 1});
  Mailbox box;
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    auto* box = parameter<Mailbox>(context);
    auto* stop = reinterpret_cast<volatile int*>(context->shared);
    const kernel::Runtime* runtime = context->launch->runtime;
    for (;;) {
      if (warp->warp == 0) *stop = box->stop;
      runtime->barrier(context, warp, 0, 0, 32, 0, 0);
      if (*stop) return;
      runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    }
  });
  code->meta.static_shared_bytes = 128;
  Completion persistent;
  auto spec = make_spec(code, 2, 128, &box);
  spec->done = persistent.callback();
  pool.submit(std::move(spec));
  std::atomic<uint64_t> count{0};
  auto region =
      region_code([](BlockContext* context) { (*parameter<std::atomic<uint64_t>>(context))++; });
  for (int i = 0; i < 20; ++i) run(pool, make_spec(region, 10, 32, &count));
  EXPECT_EQ(count, 200u);
  box.stop = true;
  persistent.wait();
}

TEST(Progress, KernelWaitsForALaterKernel) {
  Pool pool({.threads = 1});
  std::atomic<int> flag{0};
  auto waits = fiber_code([](BlockContext* context, WarpContext* warp) {
    while (parameter<std::atomic<int>>(context)->load() == 0)
      context->launch->runtime->nanosleep(context, warp, 20000);
  });
  auto sets = region_code([](BlockContext* context) { *parameter<std::atomic<int>>(context) = 1; });
  Completion completion;
  auto spec = make_spec(waits, 2, 64, &flag);
  spec->done = completion.callback();
  pool.submit(std::move(spec));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  spec = make_spec(sets, 1, 32, &flag);
  spec->done = completion.callback();
  pool.submit(std::move(spec));
  EXPECT_EQ(completion.wait().kind, Fault::none);
}

TEST(Progress, FaultCancelsSpinningBlocksElsewhere) {
  if (under_tsan) GTEST_SKIP() << "the shadow stack of TSan does not survive recovery from a fault";
  Pool pool({.threads = 3});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    const kernel::Runtime* runtime = context->launch->runtime;
    if (linear_block(context) == 5) {
      for (int i = 0; i < 1000; ++i) runtime->yield(context, warp);
      runtime->fault(context, static_cast<uint32_t>(Fault::trap), 0, 0, 9, 0);
    }
    for (;;) {
      if (warp->warp == 1) runtime->nanosleep(context, warp, 100000);
      if (warp->warp == 2) runtime->barrier(context, warp, 3, 128, 32, 0, 0);
      runtime->yield(context, warp);
    }
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run(pool, make_spec(code, 8, 128)).kind, Fault::trap);
  EXPECT_EQ(run(pool, make_spec(region_code([](BlockContext*) {}), 8, 32)).kind, Fault::none);
}

// Grids of all strategies, priorities and fates at once; every one must end exactly once and as
// planned. The seed is in the failure message.
TEST(Progress, RandomMixOfGrids) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  auto region =
      region_code([](BlockContext* context) { (*parameter<std::atomic<uint64_t>>(context))++; });
  auto fiber = fiber_code([](BlockContext* context, WarpContext* warp) {
    const kernel::Runtime* runtime = context->launch->runtime;
    for (int i = 0; i < 3; ++i) runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    if (warp->warp == 0) runtime->nanosleep(context, warp, 3000);
    runtime->yield(context, warp);
    (*parameter<std::atomic<uint64_t>>(context))++;
  });
  auto lane = lane_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->exchange(context, warp, ~0u, 1, 1);
    if (warp->lane == 31) (*parameter<std::atomic<uint64_t>>(context))++;
  });
  auto faulty_region = region_code([](BlockContext* context) {
    if (linear_block(context) == 2)
      context->launch->runtime->fault(context, static_cast<uint32_t>(Fault::trap), 0, 0, 1, 0);
  });
  auto faulty_fiber = fiber_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    if (linear_block(context) == 1 && warp->warp == 1)
      context->launch->runtime->fault(context, static_cast<uint32_t>(Fault::trap), 0, 0, 1, 0);
    context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
  });
  Pool pool({.threads = 4});
  std::atomic<uint64_t> count{0};
  std::atomic<int> wrong{0};
  uint64_t expected = 0;
  Completion completion;
  const int grids = under_tsan ? 200 : 3000;
  for (int i = 0; i < grids; ++i) {
    const uint32_t kind = pick(under_tsan ? 3 : 5);
    const uint32_t blocks = 3 + pick(30), warps = 2 + pick(3);
    const auto& code = kind == 0   ? region
                       : kind == 1 ? fiber
                       : kind == 2 ? lane
                       : kind == 3 ? faulty_region
                                   : faulty_fiber;
    expected += kind == 0 ? blocks : kind <= 2 ? uint64_t{blocks} * warps : 0;
    auto spec = make_spec(code, blocks, warps * 32, &count);
    spec->priority = static_cast<int>(pick(3)) - 1;
    spec->done = [&wrong, kind, finished = completion.callback()](const FaultInfo& info) {
      if (info.kind != (kind >= 3 ? Fault::trap : Fault::none)) ++wrong;
      finished({});
    };
    pool.submit(std::move(spec));
    if (pick(50) == 0) std::this_thread::sleep_for(std::chrono::microseconds(pick(300)));
  }
  completion.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(count, expected);
  EXPECT_EQ(completion.arrived(), grids);
}

}  // namespace
}  // namespace limen::engine::test
