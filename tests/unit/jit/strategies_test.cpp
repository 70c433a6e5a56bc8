// Differential test: random programs under every strategy and width against the evaluator.
// LIMEN_SEEDS=N runs more of them (a soak); a failure prints the seed and leaves the program's
// text.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "runner.h"

namespace limen::test {
namespace {

uint64_t seeds() {
  const char* s = std::getenv("LIMEN_SEEDS");
  return s ? std::strtoull(s, nullptr, 10) : 24;
}

uint64_t first_seed() {
  const char* s = std::getenv("LIMEN_FIRST_SEED");
  return s ? std::strtoull(s, nullptr, 10) : 1;
}

struct Shape {
  uint32_t x, y;
};

void compare(uint64_t seed, bool barriers, bool warp_ops, const Shape& block) {
  Job job = job_of(seed, block.x, block.y);
  job.ptx = random_program(seed, barriers, warp_ops);
  job.strategy = oracle_strategy;
  Outcome want = run(job);
  auto text = [&] {
    std::string path = testing::TempDir() + "limen_seed_" + std::to_string(seed) + ".ptx";
    std::ofstream(path) << job.ptx;
    return path;
  };
  ASSERT_TRUE(want.ran) << "seed " << seed << " " << want.error << " " << text();
  auto check = [&](int strategy, uint32_t width, bool specialize) {
    job.strategy = strategy;
    job.width = width;
    job.specialize = specialize;
    Outcome got = run(job);
    ASSERT_TRUE(got.ran) << "seed " << seed << " strategy " << strategy << " width " << width
                         << ": " << got.error << " " << text();
    for (size_t i = 0; i < want.out.size(); ++i)
      ASSERT_EQ(got.out[i], want.out[i])
          << "seed " << seed << " block " << block.x << "x" << block.y << " strategy " << strategy
          << " width " << width << " specialised " << specialize << ": thread " << i / 16
          << " word " << i % 16 << " " << text();
  };
  if (warp_ops) {
    check(0, 32, true);
    check(0, 32, false);
  } else {
    for (uint32_t w : {4u, 8u, 16u, 32u}) check(0, w, true);
    check(0, 16, false);
  }
  check(1, 0, true);
  check(2, 0, true);
}

const Shape shapes[] = {{32, 1}, {64, 2}, {16, 4}, {8, 8},  {33, 1},
                        {96, 1}, {12, 5}, {4, 16}, {128, 1}};

TEST(Strategies, RandomProgramsAgree) {
  for (uint64_t s = first_seed(); s < first_seed() + seeds(); ++s) {
    compare(s, false, false, shapes[s % std::size(shapes)]);
    if (HasFatalFailure()) return;
  }
}

TEST(Strategies, RandomProgramsWithBarriersAgree) {
  for (uint64_t s = first_seed(); s < first_seed() + seeds(); ++s) {
    compare(s + 1000000, true, false, shapes[s % std::size(shapes)]);
    if (HasFatalFailure()) return;
  }
}

TEST(Strategies, RandomProgramsWithWarpOperationsAgree) {
  const Shape whole[] = {{32, 1}, {64, 2}, {16, 4}, {8, 8}, {96, 1}, {128, 1}};
  for (uint64_t s = first_seed(); s < first_seed() + seeds(); ++s) {
    compare(s + 2000000, s % 2 == 0, true, whole[s % std::size(whole)]);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace limen::test
