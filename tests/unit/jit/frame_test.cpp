// A warp's frame holds what does not fit into registers. Fibers have stacks of some hundred KiB, so
// the compiler says how large the frame is, and a kernel whose frame is larger gets larger stacks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner.h"

namespace limen::test {
namespace {

/// `values` loads, a barrier, then their sum in the opposite order: all are alive at the barrier.
std::string many_values(int values) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .b32 %r<4>; .reg .b32 %v<)" +
                     std::to_string(values) + R"(>; .reg .b64 %x<4>;
  ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %x3, %r1, 4;
  add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;
)";
  for (int i = 0; i < values; ++i)
    text += fmt::format("  ld.global.u32 %v{}, [%x1+{}];\n", i, 4 * i);
  text += "  bar.sync 0;\n  mov.u32 %r2, 0;\n";
  for (int i = values; i-- > 0;) text += fmt::format("  mad.lo.u32 %r2, %r2, 3, %v{};\n", i);
  return text + "  st.global.u32 [%x2], %r2;\n  ret;\n}\n";
}

TEST(Frame, ItsSizeIsToldWithTheCode) {
  constexpr int values = 600;
  Job job;
  job.ptx = many_values(values);
  job.block[0] = 64;
  job.out_words = 64;
  for (uint32_t i = 0; i < values + 64; ++i) job.in.push_back(i * 2654435761u);
  job.strategy = static_cast<int>(kernel::Strategy::fiber);
  job.width = 32;
  const Outcome got = run(job);
  ASSERT_TRUE(got.ran) << got.error;
  EXPECT_EQ(got.meta.strategy, kernel::Strategy::fiber);
  EXPECT_GT(got.meta.native_frame_bytes, (values - 100) * 32 * sizeof(uint32_t));
  EXPECT_LT(got.meta.native_frame_bytes, 2 * values * 32 * sizeof(uint32_t));
  for (uint32_t thread = 0; thread < 64; ++thread) {
    uint32_t sum = 0;
    for (int i = values; i-- > 0;) sum = sum * 3 + job.in[thread + i];
    EXPECT_EQ(got.out[thread], sum) << thread;
  }
}

TEST(Frame, ASmallKernelHasASmallOne) {
  Job job;
  job.ptx = many_values(4);
  job.out_words = 32;
  job.in.assign(64, 1);
  const Outcome got = run(job);
  ASSERT_TRUE(got.ran) << got.error;
  EXPECT_LT(got.meta.native_frame_bytes, 8 * 1024);
}

}  // namespace
}  // namespace limen::test
