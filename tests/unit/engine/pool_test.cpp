// Pool: order, completeness, overlap, many submitters, tasks, floating-point environment.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "engine/machine.h"
#include "support.h"

namespace limen::engine::test {
namespace {

TEST(Pool, EveryBlockOfAGridRunsOnce) {
  Pool pool({.threads = 4});
  struct Data {
    std::atomic<uint32_t> seen[7 * 5 * 3];
  } data{};
  auto spec = make_spec(region_code([](BlockContext* context) {
                          parameter<Data>(context)->seen[linear_block(context)]++;
                        }),
                        7, 32, &data);
  spec->grid[1] = 5;
  spec->grid[2] = 3;
  EXPECT_EQ(run(pool, std::move(spec)).kind, Fault::none);
  for (auto& one : data.seen) EXPECT_EQ(one, 1u);
}

TEST(Pool, BlocksAreHandedOutInIncreasingOrder) {
  Pool pool({.threads = 3});
  // Each block waits for the one before it, as look-back scans do.
  struct Data {
    std::atomic<uint64_t> next{0};
  } data;
  constexpr uint32_t blocks = 20000;
  auto code = region_code([](BlockContext* context) {
    auto* data = parameter<Data>(context);
    const uint64_t mine = linear_block(context);
    while (data->next.load() != mine) std::this_thread::yield();
    data->next.store(mine + 1);
  });
  EXPECT_EQ(run(pool, make_spec(code, blocks, 32, &data)).kind, Fault::none);
  EXPECT_EQ(data.next, blocks);
}

TEST(Pool, ManySmallGridsFromManyThreads) {
  Pool pool({.threads = 4});
  std::atomic<uint64_t> count{0};
  auto code =
      region_code([](BlockContext* context) { (*parameter<std::atomic<uint64_t>>(context))++; });
  const int per_thread = under_tsan ? 300 : 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      Completion completion;
      for (int i = 0; i < per_thread; ++i) {
        auto spec = make_spec(code, static_cast<uint32_t>(1 + (i + t) % 5), 32, &count);
        spec->priority = i % 3 - 1;
        spec->done = completion.callback();
        pool.submit(std::move(spec));
      }
      completion.wait();
    });
  for (auto& thread : threads) thread.join();
  uint64_t expected = 0;
  for (int t = 0; t < 6; ++t)
    for (int i = 0; i < per_thread; ++i) expected += static_cast<uint64_t>(1 + (i + t) % 5);
  EXPECT_EQ(count, expected);
}

TEST(Pool, TwoGridsOverlap) {
  Pool pool({.threads = 2});
  std::atomic<int> here{0};
  auto code = region_code([](BlockContext* context) {
    auto* here = parameter<std::atomic<int>>(context);
    here->fetch_add(1);
    while (here->load() < 2) std::this_thread::yield();  // waits for the other grid's block
  });
  Completion completion;
  for (int i = 0; i < 2; ++i) {
    auto spec = make_spec(code, 1, 32, &here);
    spec->done = completion.callback();
    pool.submit(std::move(spec));
  }
  completion.wait();
  EXPECT_EQ(here, 2);
}

TEST(Pool, GridsSubmittedFromDoneKeepTheirOrder) {
  Pool pool({.threads = 2});
  std::atomic<int> value{0};
  auto code = region_code([](BlockContext* context) { (*parameter<std::atomic<int>>(context))++; });
  Completion completion;
  auto last = completion.callback();
  std::function<void(int)> submit = [&](int left) {
    auto spec = make_spec(code, 3, 32, &value);
    spec->done = [&, left](const FaultInfo& info) {
      if (left == 0)
        last(info);
      else
        submit(left - 1);
    };
    pool.submit(std::move(spec));
  };
  submit(999);
  completion.wait();
  EXPECT_EQ(value, 3000);
}

TEST(Pool, UrgentGridOvertakesALongOne) {
  Pool pool({.threads = 1});
  struct Data {
    std::atomic<int> order{0};
    int urgent_at = -1;
    std::atomic<bool> begun{false};
  } data;
  auto slow = region_code([](BlockContext* context) {
    auto* data = parameter<Data>(context);
    data->begun = true;
    data->order++;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  auto urgent = region_code([](BlockContext* context) {
    auto* data = parameter<Data>(context);
    data->urgent_at = data->order;
  });
  Completion completion;
  auto spec = make_spec(slow, 2000, 32, &data);
  spec->done = completion.callback();
  pool.submit(std::move(spec));
  while (!data.begun) std::this_thread::yield();
  spec = make_spec(urgent, 1, 32, &data);
  spec->priority = -1;
  spec->done = completion.callback();
  pool.submit(std::move(spec));
  completion.wait();
  EXPECT_GE(data.urgent_at, 1);
  EXPECT_LT(data.urgent_at, 1900);
}

TEST(Pool, ContextMemoryIsAlignedAndSized) {
  Pool pool({.threads = 2});
  auto code = region_code([](BlockContext* context) {
    auto* ok = parameter<std::atomic<int>>(context);
    const bool aligned = reinterpret_cast<uintptr_t>(context->shared) % 128 == 0 &&
                         reinterpret_cast<uintptr_t>(context->slots) % 64 == 0;
    std::memset(context->shared, 1, context->launch->shared_bytes);
    std::memset(context->local, 2, 24 * 112);
    std::memset(context->slots, 3, 192 * 7);
    if (aligned && context->launch->shared_bytes == 1000 + 5000 && context->launch->sm_count == 8)
      (*ok)++;
  });
  code->meta.static_shared_bytes = 1000;
  code->meta.local_frame_bytes = 24;
  code->meta.slot_bytes = 192;
  std::atomic<int> ok{0};
  auto spec = make_spec(code, 10, 100, &ok);
  spec->dynamic_shared_bytes = 5000;
  EXPECT_EQ(run(pool, std::move(spec)).kind, Fault::none);
  EXPECT_EQ(ok, 10);
}

TEST(Pool, TasksRunAlsoWhileAllWorkersCompute) {
  Pool pool({.threads = 1});
  std::atomic<bool> stop{false};
  auto code = region_code([](BlockContext* context) {
    while (!*parameter<std::atomic<bool>>(context)) std::this_thread::yield();
  });
  Completion grid;
  auto spec = make_spec(code, 1, 32, &stop);
  spec->done = grid.callback();
  pool.submit(std::move(spec));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic<int> tasks{0};
  Completion blocked_task;
  auto released = blocked_task.callback();
  pool.submit_task(
      [&] {
        released({});
        while (!stop) std::this_thread::yield();
        ++tasks;
      },
      true);
  blocked_task.wait();
  Completion copies;
  for (int i = 0; i < 10; ++i)
    pool.submit_task(
        [&, finished = copies.callback()] {
          ++tasks;
          finished({});
        },
        i % 2 == 0);
  copies.wait();
  EXPECT_GE(tasks, 10);
  stop = true;
  grid.wait();
}

TEST(Pool, TasksRunOnIdleWorkers) {
  Pool pool({.threads = 2});
  Completion tasks;
  std::atomic<int> count{0};
  for (int i = 0; i < 2000; ++i)
    pool.submit_task([&, finished = tasks.callback()] {
      ++count;
      finished({});
    });
  tasks.wait();
  EXPECT_EQ(count, 2000);
}

TEST(Pool, KernelsSeeTheDefaultFloatingPointControl) {
  Pool pool({.threads = 1});
  // The pool's threads were started by a thread with flush-to-zero set, as -ffast-math hosts have.
  const FloatControl before = read_float_control();
  write_float_control(before | float_control_flush | float_control_rounding[1]);
  Pool second({.threads = 1});
  std::atomic<FloatControl> seen{0};
  auto code = region_code([](BlockContext* context) {
    *parameter<std::atomic<FloatControl>>(context) = read_float_control();
  });
  run(second, make_spec(code, 1, 32, &seen));
  write_float_control(before);
  EXPECT_EQ(seen & float_control_modes, float_control_default);
  auto flushing = region_code([](BlockContext* context) {
    *parameter<std::atomic<FloatControl>>(context) = read_float_control();
  });
  flushing->meta.flush_denormals = 1;
  run(pool, make_spec(flushing, 1, 32, &seen));
  EXPECT_EQ(seen & float_control_modes, float_control_default | float_control_flush);
  auto fibers = fiber_code([](BlockContext* context, WarpContext*) {
    *parameter<std::atomic<FloatControl>>(context) = read_float_control();
  });
  fibers->meta.flush_denormals = 1;
  run(pool, make_spec(fibers, 1, 32, &seen));
  EXPECT_EQ(seen & float_control_modes, float_control_default | float_control_flush);
}

TEST(Pool, WorkersBlockAsynchronousSignals) {
  Pool pool({.threads = 1});
  std::atomic<int> blocked{0};
  auto code = region_code([](BlockContext* context) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    *parameter<std::atomic<int>>(context) =
        sigismember(&mask, SIGINT) && sigismember(&mask, SIGALRM) && !sigismember(&mask, SIGSEGV);
  });
  run(pool, make_spec(code, 1, 32, &blocked));
  EXPECT_EQ(blocked, 1);
}

TEST(Pool, EmptyGridIsDoneAtOnce) {
  Pool pool({.threads = 1});
  auto spec = make_spec(region_code([](BlockContext*) {}), 0, 32);
  EXPECT_EQ(run(pool, std::move(spec)).kind, Fault::none);
}

TEST(Pool, PinnedWorkersRun) {
  Pool pool({.threads = 3, .pin = true});
  EXPECT_EQ(pool.threads(), 3u);
  EXPECT_EQ(run(pool, make_spec(region_code([](BlockContext*) {}), 1000, 32)).kind, Fault::none);
}

TEST(Pool, DearerBlocksThanLastTimeAreSharedOut) {
  Pool pool({.threads = 4});
  struct Data {
    std::atomic<int> sleep_us{0};
    std::atomic<uint32_t> workers{0};
  } data;
  auto code = region_code([](BlockContext* context) {
    auto* data = parameter<Data>(context);
    if (data->sleep_us == 0) return;
    data->workers |= 1u << context->worker;
    std::this_thread::sleep_for(std::chrono::microseconds(data->sleep_us));
  });
  for (int i = 0; i < 50; ++i) run(pool, make_spec(code, 8, 32, &data));  // learns: cheap
  data.sleep_us = 20000;
  run(pool, make_spec(code, 8, 32, &data));
  EXPECT_GE(__builtin_popcount(data.workers), 3);
}

TEST(Pool, IdleWorkersGiveMemoryBackAndRunAgain) {
  Pool pool({.threads = 2});
  auto region = region_code(
      [](BlockContext* context) { std::memset(context->local, 1, size_t{64} * 1024 * 128); });
  region->meta.local_frame_bytes = 64 * 1024;
  auto fiber = fiber_code([](BlockContext* context, WarpContext* warp) {
    context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(pool, make_spec(region, 4, 128)).kind, Fault::none);
    EXPECT_EQ(run(pool, make_spec(fiber, 4, 512)).kind, Fault::none);
    if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
}

TEST(Pool, HugeGridsOfEmptyBlocksAreFast) {
  Pool pool({.threads = 2});
  auto code = region_code([](BlockContext*) {});
  EXPECT_EQ(run(pool, make_spec(code, under_tsan ? 1u << 16 : 1u << 24, 32)).kind, Fault::none);
}

}  // namespace
}  // namespace limen::engine::test
