// Differential test: random programs under every strategy and width against the evaluator.
// LIMEN_SEEDS=N runs more of them (a soak); a failure prints the seed and leaves the program's
// text.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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

/// Programs that once showed a difference, made small: `// seed S block X Y` says how to launch one,
/// `// known: why` that it still fails. One that passes all the same must lose that line.
TEST(Strategies, FoundProgramsAgreeUnlessKnown) {
  for (const auto& entry : std::filesystem::directory_iterator(LIMEN_FOUND_PROGRAMS)) {
    if (entry.path().extension() != ".ptx") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    unsigned long long seed = 0;
    Shape block{};
    ASSERT_EQ(std::sscanf(text.str().c_str(), "// seed %llu block %u %u", &seed, &block.x, &block.y), 3)
        << entry.path();
    Job job = job_of(seed, block.x, block.y);
    job.ptx = text.str();
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    ASSERT_TRUE(want.ran) << entry.path() << " " << want.error;
    std::string differs;
    for (int strategy = 0; strategy < 3; ++strategy)
      for (uint32_t width : {4u, 32u}) {
        if (strategy && width == 4) continue;
        job.strategy = strategy;
        job.width = strategy ? 0 : width;
        const Outcome got = run(job);
        if (got.ran && got.out == want.out) continue;
        differs += "strategy " + std::to_string(strategy) + " width " + std::to_string(job.width) +
                   ": " + (got.ran ? "values differ" : got.error) + "; ";
      }
    const bool known = job.ptx.find("// known:") != std::string::npos;
    if (known) EXPECT_NE(differs, "") << entry.path() << " passes: take its `known` line out";
    else EXPECT_EQ(differs, "") << entry.path();
  }
}

}  // namespace
}  // namespace limen::test
