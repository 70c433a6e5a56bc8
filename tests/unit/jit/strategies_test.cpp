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

void compare(Family family, uint64_t seed) {
  Job job = random_job(family, seed);
  job.strategy = oracle_strategy;
  Outcome want = run(job);
  auto text = [&] {
    std::string path = testing::TempDir() + "limen_seed_" + std::to_string(seed) + ".ptx";
    std::ofstream(path) << job.ptx;
    return path;
  };
  ASSERT_TRUE(want.ran) << "seed " << seed << " " << want.error << " " << text();
  for (const Version& v : versions(family)) {
    job.strategy = v.strategy;
    job.width = v.width;
    job.specialize = v.specialize;
    Outcome got = run(job);
    ASSERT_TRUE(got.ran) << "seed " << seed << " strategy " << v.strategy << " width " << v.width
                         << ": " << got.error << " " << text();
    for (size_t i = 0; i < want.out.size(); ++i)
      ASSERT_EQ(got.out[i], want.out[i])
          << "seed " << seed << " block " << job.block[0] << "x" << job.block[1] << " strategy "
          << v.strategy << " width " << v.width << " specialised " << v.specialize << ": thread "
          << i / 16 << " word " << i % 16 << " " << text();
  }
}

void compare_all(Family family) {
  for (uint64_t s = first_seed(); s < first_seed() + seeds(); ++s) {
    compare(family, s);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Strategies, RandomProgramsAgree) { compare_all(Family::plain); }

TEST(Strategies, RandomProgramsWithBarriersAgree) { compare_all(Family::barriers); }

TEST(Strategies, RandomProgramsWithWarpOperationsAgree) { compare_all(Family::warp); }

/// Programs that once showed a difference, made small; the first line says how to launch one
/// (read_job), `// known: why` that it still fails. One that passes all the same must lose that
/// line.
TEST(Strategies, FoundProgramsAgreeUnlessKnown) {
  for (const auto& entry : std::filesystem::directory_iterator(LIMEN_FOUND_PROGRAMS)) {
    if (entry.path().extension() != ".ptx") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    Job job;
    ASSERT_TRUE(read_job(text.str(), job)) << entry.path();
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    ASSERT_TRUE(want.ran) << entry.path() << " " << want.error;
    std::string differs;
    for (int strategy : {0, 1, 2, jit::independent_lanes})
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
    if (known)
      EXPECT_NE(differs, "") << entry.path() << " passes: take its `known` line out";
    else
      EXPECT_EQ(differs, "") << entry.path();
  }
}

}  // namespace
}  // namespace limen::test
