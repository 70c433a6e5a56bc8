// Engine costs: submit, launch to done, blocks a second, fiber switches. Prints one line each.
// Usage: engine_bench [threads]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/machine.h"
#include "support.h"

namespace limen::engine::test {
namespace {

using Clock = std::chrono::steady_clock;
double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

std::shared_ptr<KernelCode> empty_code() {
  return region_code([](BlockContext*) {});
}

void launch_latency(Pool& pool, int pause_us) {
  auto code = empty_code();
  std::vector<double> submits, ends;
  for (int i = 0; i < 5000; ++i) {
    std::atomic<bool> done{false};
    auto spec = make_spec(code, 1, 32);
    spec->done = [&](const FaultInfo&) { done.store(true, std::memory_order_release); };
    if (pause_us != 0) {
      if (i >= 500) break;
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
    const auto start = Clock::now();
    pool.submit(std::move(spec));
    submits.push_back(ns_since(start));
    while (!done.load(std::memory_order_acquire)) cpu_pause();
    ends.push_back(ns_since(start));
  }
  std::sort(submits.begin(), submits.end());
  std::sort(ends.begin(), ends.end());
  std::printf(
      "empty kernel, %4d us apart: submit %6.0f ns, submit to done %6.0f ns (medians; "
      "90%%: %.0f, %.0f)\n",
      pause_us, submits[submits.size() / 2], ends[ends.size() / 2],
      submits[submits.size() * 9 / 10], ends[ends.size() * 9 / 10]);
}

void block_rate(Pool& pool) {
  constexpr uint32_t blocks = 1u << 25;
  const auto start = Clock::now();
  const auto cpu = std::clock();
  run(pool, make_spec(empty_code(), blocks, 32));
  std::printf("empty blocks: %.2f ns each (%.2f ns of processor time)\n", ns_since(start) / blocks,
              static_cast<double>(std::clock() - cpu) * 1e3 / blocks);
}

void grid_rate(Pool& pool, uint32_t blocks) {
  auto code = empty_code();
  constexpr int grids = 100000;
  Completion completion;
  const auto start = Clock::now();
  std::atomic<int> left{grids};
  std::atomic<bool> over{false};
  for (int i = 0; i < grids; ++i) {
    auto spec = make_spec(code, blocks, 32);
    spec->done = [&](const FaultInfo&) {
      if (--left == 0) over = true;
    };
    pool.submit(std::move(spec));
  }
  const double submitted = ns_since(start);
  while (!over) std::this_thread::yield();
  std::printf("queued grids of %u blocks: %.0f ns each (submit alone %.0f)\n", blocks,
              ns_since(start) / grids, submitted / grids);
}

void chained_rate(Pool& pool) {
  auto code = empty_code();
  std::atomic<bool> over{false};
  constexpr int grids = 200000;
  std::function<void(int)> submit = [&](int left) {
    auto spec = make_spec(code, 1, 32);
    spec->done = [&, left](const FaultInfo&) {
      if (left == 0)
        over = true;
      else
        submit(left - 1);
    };
    pool.submit(std::move(spec));
  };
  const auto start = Clock::now();
  submit(grids);
  while (!over) std::this_thread::yield();
  std::printf("grids chained by done (one stream): %.0f ns each\n", ns_since(start) / grids);
}

void fiber_costs(Pool& pool) {
  auto barrier = fiber_code([](BlockContext* context, WarpContext* warp) {
    for (int i = 0; i < 1000; ++i) context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
  });
  auto start = Clock::now();
  run(pool, make_spec(barrier, 100, 256));
  std::printf("fiber barrier, 8 warps: %.1f ns a warp\n",
              ns_since(start) / (100.0 * 8 * 1000) * std::min(100u, pool.threads()));
  auto empty = fiber_code([](BlockContext*, WarpContext*) {});
  start = Clock::now();
  run(pool, make_spec(empty, 100000, 256));
  std::printf("empty fiber blocks of 8 warps: %.0f ns each\n", ns_since(start) / 100000);
  auto lanes = lane_code([](BlockContext* context, WarpContext* warp) {
    for (int i = 0; i < 1000; ++i) context->launch->runtime->exchange(context, warp, ~0u, 1, 1);
  });
  start = Clock::now();
  run(pool, make_spec(lanes, 20, 128));
  std::printf("lane exchange: %.1f ns a lane\n",
              ns_since(start) / (20.0 * 128 * 1000) * pool.threads());
}

}  // namespace
}  // namespace limen::engine::test

int main(int argc, char** argv) {
  using namespace limen::engine::test;
  limen::engine::Pool pool({.threads = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 0});
  std::printf("%u workers\n", pool.threads());
  launch_latency(pool, 0);
  launch_latency(pool, 1000);
  block_rate(pool);
  grid_rate(pool, 1);
  grid_rate(pool, 8);
  chained_rate(pool);
  fiber_costs(pool);
  return 0;
}
