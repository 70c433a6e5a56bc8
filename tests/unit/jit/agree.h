// For tests of jit_test: one program under every strategy and width.
#pragma once
#include <gtest/gtest.h>

#include "runner.h"

namespace limen::test {

/// Fails, with the program, where a version of `job` does not run or leaves other memory than `want`.
inline void expect_every_version(Job job, const Outcome& want, uint64_t seed) {
  for (const Version& v : versions(Family::plain)) {
    job.strategy = v.strategy;
    job.width = v.width;
    job.specialize = v.specialize;
    const Outcome got = run(job);
    ASSERT_TRUE(got.ran) << "seed " << seed << ": " << got.error << "\n" << job.ptx;
    ASSERT_EQ(got.out, want.out) << "seed " << seed << " strategy " << v.strategy << " width "
                                 << v.width << "\n"
                                 << job.ptx;
  }
}

}  // namespace limen::test
