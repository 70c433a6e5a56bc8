// The kernels' heap: limits, merging, foreign addresses.
#include "drivers/cpu/memory/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "drivers/cpu/memory/allocator.h"

namespace limen::cpu {
namespace {

class HeapTest : public testing::Test {
 protected:
  HeapTest() {
    EXPECT_TRUE(space_.reserve(1, uint64_t{2} << 30).ok());
    memory_ = std::make_unique<Allocator>(Allocator::Options{
        space_.partition_base(0), space_.partition_bytes(), uint64_t{256} << 20, "test", {}});
    heap_.bind(memory_.get(), 1);
  }
  AddressSpace space_;
  std::unique_ptr<Allocator> memory_;
  DeviceHeap heap_;
};

TEST_F(HeapTest, full_heap_gives_null_and_recovers) {
  ASSERT_TRUE(heap_.set_limit(4 << 20));
  uint64_t all = heap_.allocate(4 << 20);
  EXPECT_NE(all, 0u);
  EXPECT_EQ(heap_.allocate(16), 0u);
  EXPECT_TRUE(heap_.release(all));
  EXPECT_NE(heap_.allocate(16), 0u);
  EXPECT_FALSE(heap_.set_limit(8 << 20));  // its size is fixed once used
}

TEST_F(HeapTest, wrong_frees_are_refused) {
  uint64_t block = heap_.allocate(100);
  EXPECT_EQ(block % 16, 0u);
  EXPECT_FALSE(heap_.release(block + 16));
  EXPECT_FALSE(heap_.release(0x1234));
  EXPECT_TRUE(heap_.release(0));
  EXPECT_TRUE(heap_.release(block));
  EXPECT_FALSE(heap_.release(block));
}

TEST_F(HeapTest, freed_neighbours_merge) {
  std::mt19937 random(1);
  std::vector<uint64_t> blocks;
  while (uint64_t block = heap_.allocate(1000 + random() % 5000)) blocks.push_back(block);
  std::shuffle(blocks.begin(), blocks.end(), random);
  for (uint64_t block : blocks) ASSERT_TRUE(heap_.release(block));
  EXPECT_NE(heap_.allocate(heap_.limit_bytes()), 0u);
}

}  // namespace
}  // namespace limen::cpu
