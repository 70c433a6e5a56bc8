// Fiber and lane strategies: barriers, exchanges, early exit, deadlock reports.
#include <gtest/gtest.h>

#include <atomic>

#include "support.h"

namespace limen::engine::test {
namespace {

TEST(Fibers, BarrierKeepsWarpsInStep) {
  Pool pool({.threads = 2});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    auto* bad = parameter<std::atomic<int>>(context);
    auto* value = reinterpret_cast<uint32_t*>(context->shared);
    const kernel::Runtime* runtime = context->launch->runtime;
    const uint32_t warps = context->launch->block[0] / 32;
    if (warp->warp == 0)
      for (uint32_t i = 0; i < warps; ++i) value[i] = 0;
    runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    for (uint32_t round = 1; round < 100; ++round) {
      value[warp->warp] = round;
      runtime->barrier(context, warp, 0, 0, 32, 0, 0);
      for (uint32_t i = 0; i < warps; ++i)
        if (value[i] != round) (*bad)++;
      runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    }
  });
  code->meta.static_shared_bytes = 128;
  std::atomic<int> bad{0};
  for (uint32_t threads : {32u, 64u, 256u, 1024u}) {
    if (under_tsan && threads > 256) continue;
    EXPECT_EQ(run(pool, make_spec(code, 9, threads, &bad)).kind, Fault::none);
    EXPECT_EQ(bad, 0);
  }
}

TEST(Fibers, EveryWarpOfEveryBlockRunsOnce) {
  Pool pool({.threads = 3});
  struct Data {
    std::atomic<int> seen[50][4];
  } data{};
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    parameter<Data>(context)->seen[linear_block(context)][warp->warp]++;
  });
  EXPECT_EQ(run(pool, make_spec(code, 50, 100, &data)).kind, Fault::none);
  for (auto& block : data.seen)
    for (auto& warp : block) EXPECT_EQ(warp, 1);
}

TEST(Fibers, ReductionAtABarrier) {
  Pool pool({.threads = 1});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    auto* sum = parameter<std::atomic<uint32_t>>(context);
    const kernel::Runtime* runtime = context->launch->runtime;
    for (int i = 0; i < 10; ++i)
      *sum += runtime->barrier(context, warp, 0, 0, 32, 0, warp->warp + 1);
  });
  std::atomic<uint32_t> sum{0};
  EXPECT_EQ(run(pool, make_spec(code, 1, 128, &sum)).kind, Fault::none);
  EXPECT_EQ(sum, 10u * 4 * (1 + 2 + 3 + 4));
}

TEST(Fibers, NamedBarriersProducerConsumer) {
  Pool pool({.threads = 1});
  // Warp 0 produces: sync on "empty" (1), arrive on "full" (2); warp 1 the other way round.
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    auto* out = parameter<std::vector<int>>(context);
    auto* cell = reinterpret_cast<volatile int*>(context->shared);
    const kernel::Runtime* runtime = context->launch->runtime;
    if (warp->warp == 0) {
      for (int i = 0; i < 50; ++i) {
        runtime->barrier(context, warp, 1, 64, 32, 0, 0);
        *cell = i;
        runtime->barrier(context, warp, 2, 64, 32, 1, 0);
      }
    } else if (warp->warp == 1) {
      for (int i = 0; i < 50; ++i) {
        runtime->barrier(context, warp, 1, 64, 32, 1, 0);
        runtime->barrier(context, warp, 2, 64, 32, 0, 0);
        out->push_back(static_cast<int>(*cell));
      }
    }
  });
  code->meta.static_shared_bytes = 128;
  std::vector<int> out;
  EXPECT_EQ(run(pool, make_spec(code, 1, 96, &out)).kind, Fault::none);
  ASSERT_EQ(out.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i);
}

TEST(Fibers, EarlyExitBeforeBarrier) {
  Pool pool({.threads = 1});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    if (warp->warp % 2 == 1) return;
    context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    (*parameter<std::atomic<int>>(context))++;
  });
  std::atomic<int> passed{0};
  EXPECT_EQ(run(pool, make_spec(code, 3, 250, &passed)).kind, Fault::none);
  EXPECT_EQ(passed, 12);
}

TEST(Fibers, LaneBarrierWithEarlyExits) {
  Pool pool({.threads = 1});
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    const uint32_t thread = warp->warp * 32 + warp->lane;
    if (thread >= 70) return;
    context->launch->runtime->barrier(context, warp, 0, 0, 1, 0, 0);
    (*parameter<std::atomic<int>>(context))++;
    if (thread >= 40) return;
    context->launch->runtime->barrier(context, warp, 1, 64, 1, 0, 0);
    (*parameter<std::atomic<int>>(context))++;
  });
  std::atomic<int> passed{0};
  EXPECT_EQ(run(pool, make_spec(code, 2, 100, &passed)).kind, Fault::none);
  EXPECT_EQ(passed, 2 * (70 + 40));
}

TEST(Fibers, ExchangeFromTwoArms) {
  Pool pool({.threads = 1});
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    auto* bad = parameter<std::atomic<int>>(context);
    const kernel::Runtime* runtime = context->launch->runtime;
    for (uint64_t round = 0; round < 20; ++round) {
      const kernel::Exchange* seen;
      if (warp->lane % 2 == 0) {
        seen = runtime->exchange(context, warp, ~0u, 7, 1000 * round + warp->lane);
      } else {
        for (uint32_t i = 0; i < warp->lane; ++i) runtime->yield(context, warp);
        seen = runtime->exchange(context, warp, ~0u, 7, 1000 * round + warp->lane);
      }
      if (seen->present != ~0u) (*bad)++;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if (seen->values[lane] != 1000 * round + lane) (*bad)++;
        if (lane % 8 == warp->lane % 8) runtime->yield(context, warp);  // slow readers
      }
    }
  });
  std::atomic<int> bad{0};
  EXPECT_EQ(run(pool, make_spec(code, 2, 128, &bad)).kind, Fault::none);
  EXPECT_EQ(bad, 0);
}

TEST(Fibers, ExitingLanesCompleteExchanges) {
  Pool pool({.threads = 1});
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    auto* bad = parameter<std::atomic<int>>(context);
    const kernel::Runtime* runtime = context->launch->runtime;
    if (warp->lane >= 20) {
      for (int i = 0; i < 5; ++i) runtime->yield(context, warp);
      return;
    }
    const kernel::Exchange* seen = runtime->exchange(context, warp, ~0u, 1, warp->lane + 1);
    if (seen->present != (1u << 20) - 1) (*bad)++;
    if (seen->values[3] != 4 || seen->values[25] != 0) (*bad)++;
  });
  std::atomic<int> bad{0};
  EXPECT_EQ(run(pool, make_spec(code, 3, 64, &bad)).kind, Fault::none);
  EXPECT_EQ(bad, 0);
}

TEST(Fibers, LanesMayWaitForEachOther) {
  Pool pool({.threads = 2});
  // A spin lock taken lane by lane: the textbook case that hangs in lock step.
  struct Data {
    std::atomic<int> lock{0};
    int count = 0;
  } data;
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    auto* data = parameter<Data>(context);
    int free = 0;
    while (!data->lock.compare_exchange_weak(free, 1)) {
      free = 0;
      context->launch->runtime->yield(context, warp);
    }
    const int seen = data->count;
    context->launch->runtime->yield(context, warp);
    data->count = seen + 1;
    data->lock = 0;
  });
  EXPECT_EQ(run(pool, make_spec(code, 4, 64, &data)).kind, Fault::none);
  EXPECT_EQ(data.count, 256);
}

TEST(Fibers, NanosleepWakes) {
  Pool pool({.threads = 1});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    for (uint32_t i = 0; i < 5; ++i)
      context->launch->runtime->nanosleep(context, warp, 100000 * (warp->warp + 1));
    (*parameter<std::atomic<int>>(context))++;
  });
  std::atomic<int> passed{0};
  EXPECT_EQ(run(pool, make_spec(code, 2, 128, &passed)).kind, Fault::none);
  EXPECT_EQ(passed, 8);
}

TEST(Fibers, DeadlockAtBarriersIsReported) {
  Pool pool({.threads = 1});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->barrier(context, warp, warp->warp < 2 ? 1 : 2, 128, 32, 0, 0);
  });
  for (int i = 0; i < 5; ++i) {
    const FaultInfo info = run(pool, make_spec(code, 3, 128));
    EXPECT_EQ(info.kind, Fault::deadlock);
    EXPECT_NE(info.message.find("warps 0-1 wait at barrier 1 (64 of 128 threads); warps 2-3 wait "
                                "at barrier 2 (64 of 128 threads)"),
              std::string::npos)
        << info.message;
  }
}

TEST(Fibers, DeadlockAtAnExchangeIsReported) {
  Pool pool({.threads = 1});
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->exchange(context, warp, ~0u, warp->lane < 16 ? 1 : 2, 0);
  });
  const FaultInfo info = run(pool, make_spec(code, 1, 32));
  EXPECT_EQ(info.kind, Fault::deadlock);
  EXPECT_NE(info.message.find("threads 0-15 wait in a warp-wide operation (kind 1"),
            std::string::npos)
      << info.message;
}

TEST(Fibers, WrongServiceUseIsAFault) {
  if (under_tsan) GTEST_SKIP() << "the shadow stack of TSan does not survive recovery from a fault";
  Pool pool({.threads = 1});
  auto region = region_code([](BlockContext* context) {
    context->launch->runtime->barrier(context, nullptr, 0, 0, 32, 0, 0);
  });
  EXPECT_EQ(run(pool, make_spec(region, 1, 32)).kind, Fault::lanes_apart);
  auto number = fiber_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->barrier(context, warp, 16, 0, 32, 0, 0);
  });
  EXPECT_EQ(run(pool, make_spec(number, 1, 32)).kind, Fault::illegal_instruction);
  auto member = lane_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->exchange(context, warp, 1, 0, 0);
  });
  EXPECT_EQ(run(pool, make_spec(member, 1, 32)).kind, Fault::lanes_apart);
}

TEST(Fibers, LocalMemoryIsPerLane) {
  Pool pool({.threads = 1});
  auto code = lane_code([](BlockContext* context, WarpContext* warp) {
    const uint32_t thread = warp->warp * 32 + warp->lane;
    auto* frame = reinterpret_cast<uint32_t*>(context->local + thread * 40);
    for (uint32_t i = 0; i < 10; ++i) frame[i] = thread;
    context->launch->runtime->barrier(context, warp, 0, 0, 1, 0, 0);
    for (uint32_t i = 0; i < 10; ++i)
      if (frame[i] != thread) (*parameter<std::atomic<int>>(context))++;
  });
  code->meta.local_frame_bytes = 40;
  std::atomic<int> bad{0};
  EXPECT_EQ(run(pool, make_spec(code, 3, under_tsan ? 96 : 1024, &bad)).kind, Fault::none);
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace limen::engine::test
