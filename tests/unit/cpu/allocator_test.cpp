// Allocator: alignment, guards, canaries, accounting, ownership, reuse; thread safety under load.
#include "drivers/cpu/memory/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {
namespace {

class AllocatorTest : public testing::Test {
 protected:
  static constexpr uint64_t limit = uint64_t{256} << 20;
  AllocatorTest() {
    EXPECT_TRUE(space_.reserve(1, uint64_t{64} << 30).ok());
    memory_ = std::make_unique<Allocator>(
        Allocator::Options{space_.partition_base(0), space_.partition_bytes(), limit, "test", {}});
  }
  uint64_t get(uint64_t bytes, uint32_t owner = 1) {
    return memory_->allocate(bytes, MemoryKind::device, owner);
  }
  AddressSpace space_;
  std::unique_ptr<Allocator> memory_;
};

void touch(uint64_t address, uint64_t bytes) {
  std::memset(reinterpret_cast<void*>(address), 0x5a, bytes);
}

TEST_F(AllocatorTest, blocks_are_aligned_writable_and_apart) {
  std::vector<std::pair<uint64_t, uint64_t>> blocks;
  for (uint64_t bytes :
       {1, 511, 512, 513, 4096, 5000, 32752, 32768, 40000, 65536, 1 << 20, 3 << 20}) {
    uint64_t base = get(bytes);
    ASSERT_NE(base, 0u) << bytes;
    EXPECT_EQ(base % 512, 0u) << bytes;
    touch(base, bytes);
    blocks.push_back({base, bytes});
  }
  std::sort(blocks.begin(), blocks.end());
  for (size_t i = 1; i < blocks.size(); ++i)
    EXPECT_LE(blocks[i - 1].first + blocks[i - 1].second, blocks[i].first);
}

TEST_F(AllocatorTest, used_bytes_return_to_zero) {
  std::vector<uint64_t> bases;
  for (int i = 0; i < 1000; ++i) bases.push_back(get(1 + i * 37));
  EXPECT_GT(memory_->used_bytes(), 0u);
  for (uint64_t base : bases) EXPECT_TRUE(memory_->release(base));
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(AllocatorTest, limit_is_an_error_not_a_crash) {
  EXPECT_EQ(get(limit + 1), 0u);
  EXPECT_EQ(get(uint64_t{1} << 40), 0u);
  EXPECT_EQ(get(~uint64_t{0}), 0u);
  uint64_t half = get(limit / 2);
  ASSERT_NE(half, 0u);
  EXPECT_EQ(get(limit / 2 + 4096), 0u);
  EXPECT_TRUE(memory_->release(half));
  EXPECT_NE(get(limit / 2 + 4096), 0u);
}

TEST_F(AllocatorTest, only_a_live_base_can_be_released) {
  uint64_t small = get(1000), large = get(1 << 20);
  EXPECT_FALSE(memory_->release(small + 4));
  EXPECT_FALSE(memory_->release(large + 4096));
  EXPECT_FALSE(memory_->release(space_.partition_base(0) + (uint64_t{1} << 34)));
  EXPECT_TRUE(memory_->release(small));
  EXPECT_FALSE(memory_->release(small));
  EXPECT_TRUE(memory_->release(large));
  EXPECT_FALSE(memory_->release(large));
}

TEST_F(AllocatorTest, find_knows_the_exact_range) {
  Allocation block;
  uint64_t base = get(1000, 7);
  ASSERT_TRUE(memory_->find(base + 999, &block));
  EXPECT_EQ(block.base, base);
  EXPECT_EQ(block.bytes, 1000u);
  EXPECT_EQ(block.owner, 7u);
  EXPECT_FALSE(memory_->find(base + 1000, &block));
  memory_->release(base);
  EXPECT_FALSE(memory_->find(base, &block));
}

TEST_F(AllocatorTest, owner_takes_its_blocks_along) {
  std::vector<uint64_t> kept;
  for (int i = 0; i < 500; ++i) {
    get(100 + i * 211, 1);
    kept.push_back(get(100 + i * 211, 2));
  }
  memory_->release_owner(1);
  Allocation block;
  for (uint64_t base : kept) EXPECT_TRUE(memory_->find(base, &block) && block.owner == 2);
  EXPECT_TRUE(memory_->list(1, MemoryKind::none).empty());
  EXPECT_EQ(memory_->list(2, MemoryKind::none).size(), kept.size());
  memory_->release_owner(2);
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(AllocatorTest, overrun_of_a_large_block_faults) {
  uint64_t base = get(64 << 10);
  EXPECT_DEATH(touch(base, (64 << 10) + 1), "");
  uint64_t large = get(8 << 20);
  EXPECT_DEATH(touch(large, (8 << 20) + 1), "");
  memory_->release(large);
  EXPECT_DEATH(touch(large, 1), "");
}

TEST_F(AllocatorTest, overrun_of_a_small_block_is_told_when_it_is_freed) {
  uint64_t base = get(100);
  touch(base, 101);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(memory_->release(base));
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("past the end"), std::string::npos) << text;
  EXPECT_NE(text.find("offset 100"), std::string::npos) << text;
}

TEST_F(AllocatorTest, reuse_changes_size_and_kind_in_place) {
  uint64_t base = memory_->allocate(1000, MemoryKind::pool, 1);
  Allocation before, after;
  ASSERT_TRUE(memory_->find(base, &before));
  EXPECT_TRUE(memory_->reuse(base, 800, MemoryKind::idle, 1));
  ASSERT_TRUE(memory_->find(base, &after));
  EXPECT_EQ(after.kind, MemoryKind::idle);
  EXPECT_EQ(after.bytes, 800u);
  EXPECT_NE(after.id, before.id);
  EXPECT_FALSE(memory_->reuse(base, 100000, MemoryKind::pool, 1));
  EXPECT_TRUE(memory_->release(base));
}

TEST_F(AllocatorTest, reuse_leaves_the_bytes_of_earlier_uses_alone) {
  // In a pool, work queued for the earlier use may still run when the block has its next size.
  uint64_t base = memory_->allocate(1000, MemoryKind::pool, 1);
  auto* bytes = reinterpret_cast<unsigned char*>(base);
  std::memset(bytes, 0x11, 1000);
  EXPECT_TRUE(memory_->reuse(base, 400, MemoryKind::pool, 1));
  EXPECT_TRUE(std::all_of(bytes, bytes + 1000, [](unsigned char b) { return b == 0x11; }));
  std::memset(bytes, 0x22, 1000);  // the earlier use's last work
  testing::internal::CaptureStderr();
  EXPECT_TRUE(memory_->reuse(base, 990, MemoryKind::pool, 1));
  EXPECT_TRUE(memory_->release(base));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(AllocatorTest, crowd_of_medium_blocks_stays_within_the_mapping_limit) {
  // More blocks than Linux would grant mappings of their own.
  std::vector<uint64_t> bases;
  memory_ = std::make_unique<Allocator>(Allocator::Options{
      space_.partition_base(0), space_.partition_bytes(), uint64_t{1} << 40, "test", {}});
  for (int i = 0; i < 40000; ++i) {
    uint64_t base = get(40000);
    if (!base) break;
    bases.push_back(base);
  }
  // 64 GiB of addresses hold about 16000 blocks with pages of their own; the space is the bound
  // here.
  EXPECT_GT(bases.size(), 15000u);
  for (uint64_t base : bases) ASSERT_TRUE(memory_->release(base));
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(AllocatorTest, threads_never_share_a_block) {
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<uint64_t, uint64_t>> mine;
    for (int i = 0; i < 3000; ++i) {
      if (mine.size() > 20 || (!mine.empty() && random() % 2)) {
        auto [base, bytes] = mine.back();
        mine.pop_back();
        auto* at = reinterpret_cast<unsigned char*>(base);
        ASSERT_EQ(at[0], static_cast<unsigned char>(seed));
        ASSERT_EQ(at[bytes - 1], static_cast<unsigned char>(seed));
        ASSERT_TRUE(memory_->release(base));
        continue;
      }
      uint64_t bytes = 1 + random() % 70000, base = get(bytes);
      ASSERT_NE(base, 0u);
      std::memset(reinterpret_cast<void*>(base), static_cast<int>(seed), bytes);
      mine.push_back({base, bytes});
    }
    for (auto [base, bytes] : mine) ASSERT_TRUE(memory_->release(base));
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

/// An allocator that keeps freed pages, as the driver's do.
class FreedPagesTest : public AllocatorTest {
 protected:
  FreedPagesTest() {
    memory_ = std::make_unique<Allocator>(
        Allocator::Options{space_.partition_base(0), space_.partition_bytes(), limit, "test",
                           [this] { return ++asked_, available_.load(); }, [this] { ++waits_; }});
  }
  static constexpr uint64_t mib = uint64_t{1} << 20;
  std::atomic<uint64_t> available_{uint64_t{1} << 40};
  std::atomic<int> asked_{0}, waits_{0};
};

unsigned char& byte_at(uint64_t address) { return *reinterpret_cast<unsigned char*>(address); }

TEST_F(FreedPagesTest, the_next_block_of_a_size_takes_them) {
  for (uint64_t bytes : {64 * uint64_t{1024}, mib, 64 * mib}) {
    const uint64_t block = get(bytes);
    byte_at(block) = 7;
    EXPECT_TRUE(memory_->release(block));
    EXPECT_FALSE(memory_->release(block));
    Allocation found;
    EXPECT_FALSE(memory_->find(block, &found));
    EXPECT_EQ(memory_->used_bytes(), 0u);
    EXPECT_EQ(memory_->freed_bytes(), bytes);
    EXPECT_EQ(get(bytes), block);
    EXPECT_EQ(byte_at(block), 7);
    EXPECT_EQ(memory_->used_bytes(), bytes);
    EXPECT_EQ(memory_->freed_bytes(), 0u);
    EXPECT_TRUE(memory_->release(block));
    memory_->drop_freed();
  }
  EXPECT_GT(waits_, 0);
}

TEST_F(FreedPagesTest, pinned_and_managed_memory_begins_as_zeros) {
  for (MemoryKind kind : {MemoryKind::host, MemoryKind::managed}) {
    uint64_t block = memory_->allocate(mib, kind, 1);
    touch(block, mib);
    EXPECT_TRUE(memory_->release(block));
    block = memory_->allocate(mib, kind, 1);
    EXPECT_EQ(byte_at(block), 0);
    EXPECT_EQ(byte_at(block + mib - 1), 0);
    EXPECT_TRUE(memory_->release(block));
  }
}

TEST_F(FreedPagesTest, are_cut_to_size_and_guarded) {
  const uint64_t block = get(mib);
  touch(block, mib);
  EXPECT_TRUE(memory_->release(block));
  const uint64_t cut = get(mib - 8192);
  EXPECT_EQ(cut, block);
  touch(cut, mib - 8192);
  EXPECT_DEATH(byte_at(cut + mib - 8192) = 1, "");
  EXPECT_TRUE(memory_->release(cut));
  EXPECT_NE(get(mib), cut);      // too small by now
  EXPECT_NE(get(mib / 2), cut);  // far too large
}

TEST_F(FreedPagesTest, fault_once_kernels_have_started) {
  const uint64_t block = get(mib), pooled = get(2 * mib);
  byte_at(block) = byte_at(pooled) = 9;
  EXPECT_TRUE(memory_->release(block));
  EXPECT_TRUE(memory_->release(pooled, Allocator::Stray::passes));
  EXPECT_TRUE(memory_->has_unsealed());
  memory_->seal_freed();
  EXPECT_FALSE(memory_->has_unsealed());
  EXPECT_DEATH(byte_at(block) = 1, "");
  EXPECT_EQ(byte_at(pooled), 9);
  EXPECT_EQ(get(mib), block);
  EXPECT_EQ(byte_at(block), 9);
}

TEST_F(FreedPagesTest, go_back_to_the_system_with_time) {
  const uint64_t block = get(mib);
  byte_at(block) = 9;
  EXPECT_TRUE(memory_->release(block));
  const uint64_t now = coarse_clock_ns();
  EXPECT_TRUE(memory_->age_freed(now));
  EXPECT_EQ(byte_at(block), 9);
  EXPECT_TRUE(memory_->age_freed(now + 100'000'000));
  EXPECT_FALSE(memory_->has_unsealed());
  EXPECT_DEATH(byte_at(block) = 1, "");
  EXPECT_EQ(get(mib), block);  // still there, perhaps cleared by the system
  touch(block, mib);
  EXPECT_TRUE(memory_->release(block));
  EXPECT_FALSE(memory_->age_freed(now + 5'000'000'000));
  EXPECT_EQ(memory_->freed_bytes(), 0u);
}

/// As pools that may be exported have it: all memory is a file's.
TEST_F(FreedPagesTest, of_a_file_are_kept_and_go_back_sooner) {
  const uint64_t range = 64 * mib;
  auto file = SharedFile::create("test", range);
  ASSERT_TRUE(file);
  memory_ = std::make_unique<Allocator>(Allocator::Options{
      space_.partition_base(0), range, range, "test", {}, [this] { ++waits_; }, file});
  auto in_file = [&](uint64_t address) {
    unsigned char value = 1;
    EXPECT_TRUE(file->read(address - space_.partition_base(0), &value, 1));
    return value;
  };
  const uint64_t block = get(mib);
  byte_at(block) = 7, byte_at(block + mib - 1) = 8;
  EXPECT_TRUE(memory_->release(block, Allocator::Stray::passes));
  EXPECT_EQ(memory_->freed_bytes(), mib);
  EXPECT_EQ(get(mib - 8192), block);
  EXPECT_EQ(byte_at(block), 7);
  EXPECT_EQ(in_file(block), 7);
  EXPECT_EQ(in_file(block + mib - 1), 0);  // cut off, and given back
  EXPECT_DEATH(byte_at(block + mib - 8192) = 1, "");
  EXPECT_TRUE(memory_->release(block));
  const uint64_t now = coarse_clock_ns();
  memory_->seal_freed();
  EXPECT_DEATH(byte_at(block) = 1, "");
  EXPECT_TRUE(memory_->age_freed(now + 100'000'000));
  EXPECT_EQ(in_file(block), 7);
  EXPECT_FALSE(memory_->age_freed(now + 600'000'000));
  EXPECT_EQ(in_file(block), 0);
  EXPECT_EQ(memory_->freed_bytes(), 0u);
  EXPECT_GT(waits_, 1);
}

TEST_F(FreedPagesTest, are_bounded) {
  std::vector<uint64_t> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(get(mib));
  for (uint64_t block : blocks) EXPECT_TRUE(memory_->release(block));
  EXPECT_LE(memory_->freed_bytes(), limit / 4);
  EXPECT_EQ(memory_->used_bytes(), 0u);
  const uint64_t large = get(limit);  // the pages kept are no part of the device's memory
  EXPECT_NE(large, 0u);
  EXPECT_TRUE(memory_->release(large));
}

TEST_F(FreedPagesTest, go_when_the_system_is_short) {
  available_ = 400 * mib;
  EXPECT_TRUE(memory_->release(get(32 * mib)));
  available_ = 16 * mib;
  EXPECT_EQ(get(70 * mib), 0u);
  EXPECT_EQ(memory_->freed_bytes(), 0u);
  EXPECT_NE(get(8 * mib), 0u);
}

TEST_F(FreedPagesTest, threads_take_them_while_others_seal_and_age_them) {
  std::atomic<bool> over{false};
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 4000; ++i) {
      const uint64_t bytes = uint64_t{64} << (10 + random() % 3), block = get(bytes);
      ASSERT_NE(block, 0u);
      byte_at(block) = byte_at(block + bytes - 1) = static_cast<unsigned char>(seed);
      std::this_thread::yield();
      ASSERT_EQ(byte_at(block), seed);
      ASSERT_EQ(byte_at(block + bytes - 1), seed);
      const auto stray = random() % 2 ? Allocator::Stray::passes : Allocator::Stray::faults;
      ASSERT_TRUE(memory_->release(block, stray));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  std::thread other([&] {
    for (uint64_t i = 0; !over; ++i) {
      if (memory_->has_unsealed()) memory_->seal_freed();
      memory_->age_freed(coarse_clock_ns() + i % 3 * 60'000'000);
      if (i % 16 == 0) memory_->drop_freed();
    }
  });
  for (auto& thread : threads) thread.join();
  over = true;
  other.join();
  EXPECT_EQ(memory_->used_bytes(), 0u);
  memory_->drop_freed();
  EXPECT_EQ(memory_->freed_bytes(), 0u);
}

TEST_F(FreedPagesTest, the_system_is_asked_rarely_while_it_has_plenty) {
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(memory_->release(get(64 * mib)));
  EXPECT_LE(asked_, 2);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(memory_->release(get(64 * mib)));
    memory_->drop_freed();
  }
  EXPECT_LT(asked_, 100);
}

TEST_F(FreedPagesTest, the_system_is_asked_each_time_while_little_is_left) {
  available_ = 100 * mib;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(memory_->release(get(64 * mib)));
    EXPECT_EQ(memory_->freed_bytes(), 0u);  // nothing is kept then
  }
  EXPECT_EQ(asked_, 10);
}

}  // namespace
}  // namespace limen::cpu
