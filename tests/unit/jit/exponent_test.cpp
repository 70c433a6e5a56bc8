// cvt from and to ue8m0x2: the codes that NVIDIA's cuda_fp8.h (13.0) gives on the host.
#include <gtest/gtest.h>

#include "runner.h"

namespace limen::test {
namespace {

struct Row {
  uint32_t bits;  ///< of an f32
  uint8_t rz, rp, rz_sat, rp_sat;
};

constexpr Row rows[] = {{0x00000000, 0x00, 0x00, 0x00, 0x00}, {0x00000001, 0x00, 0x00, 0x00, 0x00},
                        {0x00400000, 0x00, 0x00, 0x00, 0x00}, {0x00400001, 0x00, 0x01, 0x00, 0x01},
                        {0x007fffff, 0x00, 0x01, 0x00, 0x01}, {0x00800000, 0x01, 0x01, 0x01, 0x01},
                        {0x00800001, 0x01, 0x02, 0x01, 0x02}, {0x3f800000, 0x7f, 0x7f, 0x7f, 0x7f},
                        {0x3fc00000, 0x7f, 0x80, 0x7f, 0x80}, {0xbf800001, 0x7f, 0x80, 0x7f, 0x80},
                        {0x7f000000, 0xfe, 0xfe, 0xfe, 0xfe}, {0x7f000001, 0xfe, 0xff, 0xfe, 0xfe},
                        {0x7f7fffff, 0xfe, 0xff, 0xfe, 0xfe}, {0xff7fffff, 0xfe, 0xff, 0xfe, 0xfe},
                        {0x7f800000, 0xff, 0xff, 0xfe, 0xfe}, {0xff800000, 0xff, 0xff, 0xfe, 0xfe},
                        {0x7fc00000, 0xff, 0xff, 0xff, 0xff}, {0x80000001, 0x00, 0x00, 0x00, 0x00}};
constexpr uint32_t count = sizeof rows / sizeof *rows;

/// Thread t reads word t and stores the 32 bits in %r2.
std::string program(const std::string& body) {
  return R"(.version 8.6
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .b16 %h<3>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %x<5>;
  ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %x3, %r1, 4; add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;
  ld.global.b32 %r3, [%x1]; mov.b32 %f1, %r3; mov.f32 %f2, 0f3F800000;
  )" + body +
         R"(
  st.global.b32 [%x2], %r2; ret;
})";
}

std::vector<uint32_t> words(const std::string& body, std::vector<uint32_t> in, uint32_t width) {
  Job job;
  job.ptx = program(body);
  job.block[0] = static_cast<uint32_t>(in.size());
  job.out_words = static_cast<uint32_t>(in.size());
  job.in = std::move(in);
  job.width = width;
  const Outcome got = run(job);
  EXPECT_TRUE(got.ran) << body << ": " << got.error;
  job.strategy = oracle_strategy;
  EXPECT_EQ(run(job).out, got.out) << body << ": the evaluator differs";
  return got.ran ? got.out : std::vector<uint32_t>(job.out_words);
}

TEST(Exponents, CodesAreThoseOfTheHostsFunctions) {
  std::vector<uint32_t> in;
  for (const Row& row : rows) in.push_back(row.bits);
  struct {
    const char* how;
    uint8_t Row::* want;
  } const forms[] = {{"rz", &Row::rz},
                     {"rp", &Row::rp},
                     {"rz.satfinite", &Row::rz_sat},
                     {"rp.satfinite", &Row::rp_sat}};
  for (uint32_t width : {0u, 8u})
    for (const auto& form : forms) {
      const std::string how = form.how;
      const auto got =
          words("cvt." + how + ".ue8m0x2.f32 %h1, %f1, %f2; cvt.u32.u16 %r2, %h1;", in, width);
      for (uint32_t i = 0; i < count; ++i)
        EXPECT_EQ(got[i], rows[i].*form.want * 256u + 0x7fu) << how << std::hex << " " << in[i];
    }
}

TEST(Exponents, Bf16PairsConvertBothWays) {
  const auto down = words("cvt.rp.ue8m0x2.bf16x2 %h1, %r3; cvt.u32.u16 %r2, %h1;",
                          {0x3f813f80, 0x7fc0ff7f, 0x00400041, 0x80000080}, 0);
  EXPECT_EQ(down, (std::vector<uint32_t>{0x807f, 0xffff, 0x0001, 0x0001}));
  const auto up =
      words("cvt.u16.u32 %h1, %r3; cvt.rn.bf16x2.ue8m0x2 %r2, %h1;", {0x00ff, 0x017f, 0xfe80}, 0);
  EXPECT_EQ(up, (std::vector<uint32_t>{0x00407fff, 0x00803f80, 0x7f004000}));
}

}  // namespace
}  // namespace limen::test
