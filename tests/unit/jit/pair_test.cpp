// Arithmetic on two f32 in one register (.f32x2, which Triton writes for sm_100 and later) gives
// the bits of the same instruction on each f32: edges, NaN, subnormals, directed rounding, .ftz.
#include <gtest/gtest.h>

#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t edges[] = {
    0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0xbf800001, 0x7f7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x33800000, 0x4b000001, 0xc0490fdb, 0x3eaaaaab};
constexpr uint32_t count = 16, threads = count * count;

/// Thread t works on the pair (edge t/16, edge t%16) and stores four words: pair, then each alone.
std::string program(const std::string& op, const std::string& how) {
  const bool three = op == "fma";
  const std::string pair = op + how + ".f32x2 %x3, %x1, %x2" + (three ? ", %x1;" : ";");
  auto one = [&](const char* d, const char* a, const char* b) {
    return op + how + ".f32 " + d + ", " + a + ", " + b + (three ? std::string(", ") + a : "") +
           ";\n";
  };
  return R"(.version 8.6
.target sm_100
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .b32 %r<6>; .reg .f32 %f<8>; .reg .b64 %x<8>;
  ld.param.u64 %x4, [in]; ld.param.u64 %x5, [out];
  mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 4; and.b32 %r3, %r1, 15;
  mul.wide.u32 %x6, %r2, 4; add.u64 %x6, %x4, %x6; ld.global.f32 %f1, [%x6];
  mul.wide.u32 %x6, %r3, 4; add.u64 %x6, %x4, %x6; ld.global.f32 %f2, [%x6];
  mov.b64 %x1, {%f1, %f2}; mov.b64 %x2, {%f2, %f1};
  )" + pair +
         "\n" + one("%f3", "%f1", "%f2") + one("%f4", "%f2", "%f1") + R"(
  mul.wide.u32 %x6, %r1, 16; add.u64 %x6, %x5, %x6;
  st.global.b64 [%x6], %x3; st.global.f32 [%x6+8], %f3; st.global.f32 [%x6+12], %f4;
  ret;
})";
}

TEST(Pairs, EveryOperationActsOnEachHalfAlone) {
  for (const char* op : {"add", "sub", "mul", "fma"})
    for (const char* how : {".rn", ".rz", ".rm", ".rp", ".rn.ftz"}) {
      Job job;
      job.ptx = program(op, how);
      job.block[0] = threads;
      job.in.assign(std::begin(edges), std::end(edges));
      job.out_words = threads * 4;
      for (uint32_t width : {0u, 8u}) {
        job.width = width;
        const Outcome got = run(job);
        ASSERT_TRUE(got.ran) << op << how << ": " << got.error;
        for (uint32_t t = 0; t < threads; ++t)
          for (uint32_t half : {0u, 1u})
            ASSERT_EQ(got.out[4 * t + half], got.out[4 * t + 2 + half])
                << op << how << " half " << half << " of " << std::hex << edges[t / count]
                << " and " << edges[t % count];
      }
    }
}

}  // namespace
}  // namespace limen::test
