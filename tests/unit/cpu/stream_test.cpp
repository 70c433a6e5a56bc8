// Streams over the real worker pool, with native functions as kernels: order, events, failures.
#include "drivers/cpu/stream/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace limen::cpu {
namespace {

struct TestOwner final : StreamOwner {
  TestOwner() {
    static auto* workers = new engine::Pool({4, false});
    pool = workers;
  }
  ~TestOwner() {
    // A stream lets go of its owner a moment after its last operation shows as complete.
    while (busy_streams) std::this_thread::yield();
  }
  void kernel_failed(const engine::FaultInfo& fault) override {
    int none = 0;
    error.compare_exchange_strong(none, 700);
    last = fault.kind;
  }
  kernel::Fault last = kernel::Fault::none;
};

/// Parameters of the fake kernels.
struct Step {
  std::atomic<int>* counter;
  int expected;
  std::atomic<bool>* wrong;
};

void step_kernel(kernel::BlockContext* block) {
  const auto* step = reinterpret_cast<const Step*>(block->launch->params);
  // Only the last block of the grid moves on, so that a grid overlapping the next one is seen.
  if (step->counter->load() != step->expected) step->wrong->store(true);
  if (block->ctaid[0] + 1 == block->launch->grid[0]) step->counter->store(step->expected + 1);
}

void wait_kernel(kernel::BlockContext* block) {
  auto* flag = *reinterpret_cast<std::atomic<bool>* const*>(block->launch->params);
  while (!flag->load()) std::this_thread::yield();
}

void fault_kernel(kernel::BlockContext* block) {
  block->launch->runtime->fault(block, uint32_t(kernel::Fault::trap), 0, 0, 7, 0);
}

template <typename Params>
std::unique_ptr<engine::GridSpec> grid(kernel::BlockFn function, const Params& params,
                                       uint32_t blocks = 1) {
  auto code = std::make_shared<engine::KernelCode>();
  code->meta.abi_version = kernel::kernel_abi_version;
  code->meta.width = 32;
  code->block_fn = function;
  code->name = "fake";
  auto spec = std::make_unique<engine::GridSpec>();
  spec->code = code;
  spec->params.resize(sizeof params);
  std::memcpy(spec->params.data(), &params, sizeof params);
  spec->grid[0] = blocks;
  return spec;
}

std::shared_ptr<Stream> make(TestOwner& owner, Stream::Kind kind = Stream::Kind::non_blocking) {
  return std::make_shared<Stream>(owner, kind, 0);
}

TEST(stream, operations_run_in_order) {
  TestOwner owner;
  auto stream = make(owner);
  std::atomic<int> counter{0};
  std::atomic<bool> wrong{false};
  for (int i = 0; i < 2000; ++i) {
    if (i % 3 == 0) {
      stream->launch(grid(step_kernel, Step{&counter, i, &wrong}));
    } else {
      auto action = [&, i] {
        if (counter.load() != i) wrong = true;
        counter = i + 1;
      };
      stream->task(action, i % 3 == 1);
    }
  }
  stream->wait_all(WaitPolicy::automatic);
  EXPECT_FALSE(wrong);
  EXPECT_EQ(counter, 2000);
  EXPECT_TRUE(stream->idle());
}

TEST(stream, waits_for_another_streams_point) {
  TestOwner owner;
  auto first = make(owner), second = make(owner);
  std::atomic<bool> go{false};
  std::atomic<bool>* flag = &go;
  first->launch(grid(wait_kernel, flag));
  std::atomic<int> order{0};
  first->task([&] { order = 1; }, true);
  second->wait_for(first->tail());
  int seen = -1;
  second->task([&] { seen = order.load(); }, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(second->idle());
  go = true;
  second->wait_all(WaitPolicy::block);
  EXPECT_EQ(seen, 1);
}

TEST(stream, long_chains_of_streams_do_not_recurse) {
  TestOwner owner;
  std::atomic<bool> go{false};
  std::atomic<bool>* flag = &go;
  std::vector<std::shared_ptr<Stream>> streams{make(owner)};
  streams[0]->launch(grid(wait_kernel, flag));
  for (int i = 1; i < 20000; ++i) {
    streams.push_back(make(owner));
    streams[i]->wait_for(streams[i - 1]->tail());
  }
  go = true;
  streams.back()->wait_all(WaitPolicy::automatic);
  for (auto& stream : streams) EXPECT_TRUE(stream->idle());
}

TEST(stream, a_waiting_kernel_does_not_hold_up_others) {
  TestOwner owner;
  auto held = make(owner), other = make(owner);
  std::atomic<bool> go{false};
  std::atomic<bool>* flag = &go;
  held->launch(grid(wait_kernel, flag));
  for (int i = 0; i < 100; ++i) other->task([] {}, false);
  other->wait_all(WaitPolicy::automatic);
  EXPECT_FALSE(held->idle());
  go = true;
  held->wait_all(WaitPolicy::yield);
}

TEST(stream, events_refer_to_their_latest_record) {
  TestOwner owner;
  auto stream = make(owner);
  auto event = std::make_shared<EventState>();
  EXPECT_TRUE(event->latest().reached());  // never recorded counts as complete
  std::atomic<bool> go{false};
  std::atomic<bool>* flag = &go;
  stream->record(event);
  stream->wait_all(WaitPolicy::automatic);
  uint64_t first_time = event->time_ns;
  EXPECT_GT(first_time, 0u);
  stream->launch(grid(wait_kernel, flag));
  stream->record(event);
  EXPECT_FALSE(event->latest().reached());
  go = true;
  event->latest().stream->wait(event->latest().seq, WaitPolicy::automatic);
  EXPECT_GT(event->time_ns, first_time);
}

TEST(stream, a_destroyed_stream_finishes_its_work) {
  TestOwner owner;
  std::atomic<bool> go{false}, done{false};
  std::atomic<bool>* flag = &go;
  {
    auto stream = make(owner);
    stream->launch(grid(wait_kernel, flag));
    stream->task([&] { done = true; }, false);
  }
  EXPECT_EQ(owner.busy_streams, 1u);
  go = true;
  for (int i = 0; i < 5000 && owner.busy_streams; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(done);
  EXPECT_EQ(owner.busy_streams, 0u);
}

TEST(stream, after_a_fault_operations_are_skipped_but_callbacks_run) {
  TestOwner owner;
  auto stream = make(owner);
  bool skipped = true, called = false;
  stream->launch(grid(fault_kernel, 0));
  stream->task([&] { skipped = false; }, false);
  stream->task([&] { called = true; }, false, true, true);
  stream->wait_all(WaitPolicy::automatic);
  EXPECT_EQ(owner.error, 700);
  EXPECT_EQ(owner.last, kernel::Fault::trap);
  EXPECT_TRUE(skipped);
  EXPECT_TRUE(called);
}

TEST(stream, many_threads_submit_to_many_streams) {
  TestOwner owner;
  std::vector<std::shared_ptr<Stream>> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(make(owner));
  std::atomic<uint64_t> sum{0};
  auto work = [&](int seed) {
    for (int i = 0; i < 2000; ++i) {
      Stream& stream = *streams[(seed + i) % streams.size()];
      if (i % 7 == 0) stream.wait_for(streams[(seed + i + 1) % streams.size()]->tail());
      stream.task([&] { sum.fetch_add(1); }, i % 2 == 0);
    }
  };
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 3; ++seed) threads.emplace_back(work, seed);
  for (auto& thread : threads) thread.join();
  for (auto& stream : streams) stream->wait_all(WaitPolicy::automatic);
  EXPECT_EQ(sum, 6000u);
}

}  // namespace
}  // namespace limen::cpu
