// Memory that moves into shared files: blocks of the allocator under running writers, the virtual
// space's bookkeeping, events between processes, handles that are not believed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "drivers/cpu/memory/allocator.h"
#include "drivers/cpu/memory/process_handle.h"
#include "drivers/cpu/memory/shared_file.h"
#include "drivers/cpu/memory/virtual_space.h"
#include "drivers/cpu/stream/shared_event.h"

namespace limen::cpu {
namespace {

volatile uint64_t& word(uint64_t address) { return *reinterpret_cast<volatile uint64_t*>(address); }

class SharingTest : public testing::Test {
 protected:
  SharingTest() {
    EXPECT_TRUE(space_.reserve(2, uint64_t{64} << 30).ok());
    memory_ = std::make_unique<Allocator>(Allocator::Options{
        space_.partition_base(0), space_.partition_bytes(), uint64_t{1} << 30, "test", {}, {}});
    virtual_.bind(space_.partition_base(1), space_.partition_bytes());
  }
  uint64_t get(uint64_t bytes) { return memory_->allocate(bytes, MemoryKind::device, 1); }

  AddressSpace space_;
  VirtualSpace virtual_;
  std::unique_ptr<Allocator> memory_;
};

TEST_F(SharingTest, a_shared_block_is_the_file) {
  for (uint64_t bytes : {uint64_t{100}, uint64_t{40000}, uint64_t{5} << 20}) {
    const uint64_t block = get(bytes);
    word(block) = 11;
    SharedBlock where;
    ASSERT_TRUE(memory_->share(block, &where));
    uint64_t seen = 0;
    ASSERT_TRUE(where.file->read(where.offset + where.lead, &seen, sizeof seen));
    EXPECT_EQ(seen, 11u);
    word(block) = 12;
    ASSERT_TRUE(where.file->read(where.offset + where.lead, &seen, sizeof seen));
    EXPECT_EQ(seen, 12u);
    EXPECT_TRUE(memory_->release(block));
  }
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(SharingTest, writers_lose_nothing_while_a_block_moves) {
  constexpr int writers = 3, words = 64 << 10, rounds = 20;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t block = get(writers * words * 8);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    uint64_t last[writers] = {};
    for (int t = 0; t < writers; ++t)
      threads.emplace_back([&, t] {
        // Sweeps its part: every word holds the number of the last complete sweep, or one more.
        for (uint64_t sweep = 1; !stop; ++sweep) {
          for (int i = 0; i < words; ++i) word(block + (uint64_t(t) * words + i) * 8) = sweep;
          last[t] = sweep;
        }
      });
    usleep(2000);
    SharedBlock where;
    ASSERT_TRUE(memory_->share(block, &where));
    usleep(1000);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    for (int t = 0; t < writers; ++t)
      for (int i = 0; i < words; ++i)
        ASSERT_EQ(word(block + (uint64_t(t) * words + i) * 8), last[t]) << "round " << round;
    memory_->release(block);
  }
}

TEST_F(SharingTest, a_genuine_fault_after_a_move_is_still_one) {
  const uint64_t block = get(1 << 20);
  SharedBlock where;
  ASSERT_TRUE(memory_->share(block, &where));
  EXPECT_DEATH(word(block + (1 << 20) + 4096) = 1, "");
}

TEST_F(SharingTest, reservations_and_mappings_keep_their_book) {
  const uint64_t mib2 = chunk_bytes;
  const uint64_t base = virtual_.reserve(4 * mib2, 0, 0);
  ASSERT_NE(base, 0u);
  auto file = SharedFile::create("test", 4 * mib2);
  Mapping mapping;
  mapping.base = base + mib2;
  mapping.bytes = 2 * mib2;
  mapping.file = file;
  EXPECT_EQ(virtual_.map(mapping), CUDA_SUCCESS);
  EXPECT_EQ(virtual_.map(mapping), CUDA_ERROR_INVALID_VALUE);
  EXPECT_FALSE(virtual_.accessible(base + mib2, 8, false));
  EXPECT_EQ(virtual_.set_access(base + mib2, 2 * mib2, 1, true, true), CUDA_SUCCESS);
  EXPECT_TRUE(virtual_.accessible(base + mib2, 2 * mib2, true));
  EXPECT_FALSE(virtual_.accessible(base + mib2, 2 * mib2 + 1, true));
  word(base + mib2) = 3;
  EXPECT_FALSE(virtual_.unreserve(base, 4 * mib2));
  std::vector<Mapping> gone;
  EXPECT_FALSE(virtual_.unmap(base + mib2, mib2, &gone));
  EXPECT_TRUE(virtual_.unmap(base + mib2, 2 * mib2, &gone));
  EXPECT_EQ(gone.size(), 1u);
  EXPECT_TRUE(virtual_.unreserve(base, 4 * mib2));
}

TEST_F(SharingTest, reservations_of_many_threads_are_apart) {
  std::vector<std::thread> threads;
  std::vector<uint64_t> bases(8 * 200);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        uint64_t& base = bases[size_t(t * 200 + i)];
        base = virtual_.reserve(chunk_bytes * uint64_t(1 + i % 3), 0, 0);
        if (i % 2) continue;
        virtual_.unreserve(base, chunk_bytes * uint64_t(1 + i % 3));
        base = 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::erase(bases, 0u);
  std::sort(bases.begin(), bases.end());
  for (size_t i = 1; i < bases.size(); ++i) EXPECT_GE(bases[i] - bases[i - 1], chunk_bytes);
}

TEST(SharedEventTest, a_record_is_done_when_it_is_finished) {
  auto event = SharedEvent::create();
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->done(event->latest()));
  const uint64_t one = event->begin(), two = event->begin();
  event->finish(two);
  EXPECT_TRUE(event->done(event->latest()));
  EXPECT_FALSE(event->done(one));
  event->finish(one);
  event->wait(one);
}

TEST(SharedEventTest, more_records_than_slots) {
  auto event = SharedEvent::create();
  for (int i = 0; i < 2000; ++i) event->finish(event->begin());
  EXPECT_TRUE(event->done(event->latest()));
  EXPECT_EQ(event->latest(), 2000u);
}

TEST(SharedEventTest, another_process_wakes_us_and_its_death_does_too) {
  for (bool dies : {false, true}) {
    auto event = SharedEvent::create();
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const uint64_t record = event->begin();
      char byte = 0;
      if (write(ready[1], &byte, 1) != 1) _exit(1);
      usleep(20000);
      if (!dies) event->finish(record);
      _exit(0);
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_FALSE(event->done(event->latest()));
    event->wait(event->latest());  // also while the child is a zombie
    waitpid(child, nullptr, 0);
  }
}

TEST(SharedEventTest, killed_at_any_moment_a_recorder_blocks_nobody) {
  auto event = SharedEvent::create();
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) event->finish(event->begin());
    usleep(static_cast<useconds_t>(500 + round * 37));
    const uint64_t own = event->begin();  // beside the child
    kill(child, SIGKILL);
    event->finish(own);
    event->wait(event->latest());
    event->finish(event->begin());
    EXPECT_TRUE(event->done(event->latest()));
    waitpid(child, nullptr, 0);
  }
}

TEST(SharedEventTest, many_find_the_same_dead_recorder) {
  // Whoever finds last that a process is gone must not take back what was recorded there since.
  auto event = SharedEvent::create();
  const auto recorder = [&event] {
    const pid_t child = fork();
    if (child == 0)
      for (;;) event->finish(event->begin());
    return child;
  };
  std::array<pid_t, 4> children{};
  for (pid_t& child : children) child = recorder();
  for (int round = 0; round < 200; ++round) {
    usleep(500);
    pid_t& next = children[static_cast<size_t>(round) % children.size()];
    kill(next, SIGKILL);
    waitpid(next, nullptr, 0);
    next = recorder();
    event->finish(event->begin());
  }
  for (pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  event->wait(event->latest());
  EXPECT_TRUE(event->done(event->latest()));
}

TEST(ProcessHandleTest, a_process_of_the_same_number_is_another_one) {
  const uint64_t started = start_time_of(getpid());
  EXPECT_NE(started, 0u);
  EXPECT_FALSE(is_gone(getpid(), started));
  EXPECT_FALSE(is_gone(getpid(), 0));
  EXPECT_TRUE(is_gone(getpid(), started + 1));
}

TEST(ProcessHandleTest, only_what_is_still_the_same_is_believed) {
  auto file = SharedFile::create("test", 1 << 20);
  ProcessHandle handle = ProcessHandle::make(ProcessHandle::Kind::memory, *file);
  handle.bytes = 4096;
  handle.seal();
  std::shared_ptr<SharedFile> opened;
  EXPECT_EQ(handle.open(ProcessHandle::Kind::memory, &opened), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(handle.open(ProcessHandle::Kind::event, &opened), CUDA_ERROR_INVALID_VALUE);
  const pid_t child = fork();
  if (child == 0) {
    std::shared_ptr<SharedFile> seen;
    bool good = handle.open(ProcessHandle::Kind::memory, &seen) == CUDA_SUCCESS;
    ProcessHandle other = handle;
    other.inode ^= 1;
    good = good && other.open(ProcessHandle::Kind::memory, &seen) == CUDA_ERROR_INVALID_VALUE;
    other.seal();
    good = good && other.open(ProcessHandle::Kind::memory, &seen) == CUDA_ERROR_INVALID_HANDLE;
    other = handle;
    other.started ^= 1;
    other.seal();
    good = good && other.open(ProcessHandle::Kind::memory, &seen) == CUDA_ERROR_INVALID_HANDLE;
    other = handle;
    other.bytes = uint64_t{1} << 40;  // more than the file has
    other.seal();
    good = good && other.open(ProcessHandle::Kind::memory, &seen) == CUDA_ERROR_INVALID_HANDLE;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessHandleTest, another_user_is_refused) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  auto file = SharedFile::create("test", 1 << 20);
  ProcessHandle handle = ProcessHandle::make(ProcessHandle::Kind::memory, *file);
  handle.bytes = 4096;
  handle.seal();
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    std::shared_ptr<SharedFile> seen;
    _exit(handle.open(ProcessHandle::Kind::memory, &seen) == CUDA_ERROR_INVALID_HANDLE ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace limen::cpu
