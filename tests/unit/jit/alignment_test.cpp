// Tests of alignment that the code generator leaves out where the shape of an address shows enough
// trailing zeros (check_alignment). What is misaligned must end in a fault all the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64;
constexpr uint32_t room_bytes = 16384;

/// Addresses in shared memory made by multiplications, shifts and masks, in a loop, and used behind
/// a barrier: of some the alignment is known, of some it is not, and some are wrong.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string program() {
    const uint32_t bytes = 2u << below(4);
    text_ = fmt::format(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
        ".reg .u64 %to, %in;\n.reg .u32 %me, %u, %v, %a, %t, %w<4>, %sum, %f, %g, %i, %k;\n.reg "
        ".u16 %h;\n"
        ".reg .pred %p, %q;\n.shared .align {} .b8 room[{}];\n",
        1u << below(6), room_bytes);
    line("mov.u32 %me, %tid.x;");
    line("ld.param.u64 %to, [out];");
    line("mad.wide.u32 %to, %me, 4, %to;");
    line("mov.u32 %f, room;\nmov.u32 %i, %me;\nL_fill:\nmad.lo.u32 %g, %i, 4, %f;");
    line("st.shared.u32 [%g], %i;\nadd.u32 %i, %i, 64;");
    line(fmt::format("setp.lt.u32 %q, %i, {};\n@%q bra L_fill;", room_bytes / 4));
    line("mov.u32 %sum, 7;\nsetp.eq.u32 %p, %sum, 7;");
    uniform();
    // The thread's part, and all of it behind the variable.
    const uint32_t stride = below(5) == 0 ? below(65) : bytes * below(5);
    const bool store = stride >= bytes && below(3) == 0;  // without overlap
    line(fmt::format("mul.lo.u32 %v, %me, {};", stride));
    line("add.u32 %a, %u, %v;");
    line("mov.u32 %t, room;");
    line("add.u32 %a, %a, %t;");
    const bool loop = below(2);
    line("mov.u32 %k, 0;");
    if (loop) line("L_turn:");
    line("bar.sync 0;");
    access(bytes, below(3) ? bytes * below(4) : below(17), store);
    if (loop) {
      line(fmt::format("add.u32 %a, %a, {};", below(4) ? bytes * below(4) : 1 + below(16)));
      line("add.u32 %k, %k, 1;\nsetp.lt.u32 %p, %k, 3;\n@%p bra L_turn;");
    }
    line("st.global.u32 [%to], %sum;");
    line("ret;");
    return text_ + "}\n";
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  void line(const std::string& s) { text_ += s + "\n"; }

  /// %u: the same in all threads, below 4096.
  void uniform() {
    line("ld.param.u32 %u, [n];");
    line(fmt::format("add.u32 %u, %u, {};", below(3)));
    for (uint32_t i = below(4); i-- > 0;) switch (below(7)) {
        case 0:
          line(fmt::format("mul.lo.u32 %u, %u, {};", 1 + below(40)));
          break;
        case 1:
          line(fmt::format("shl.b32 %u, %u, {};", below(5)));
          break;
        case 2:
          line(fmt::format("shr.u32 %u, %u, {};", below(5)));
          break;
        case 3:
          line(fmt::format("and.b32 %u, %u, {};", 4095 & ~below(32)));
          break;
        case 4:
          line(fmt::format("or.b32 %u, %u, {};", below(48)));
          break;
        case 5:
          line(fmt::format("xor.b32 %u, %u, {};", below(48)));
          break;
        default:
          line("mad.lo.u32 %u, %u, 8, 4;");
          break;
      }
    line(fmt::format("and.b32 %u, %u, {};", below(3) ? 4080 : 4095));
    if (below(8) == 0) line("@%p add.u32 %u, %u, 2;");
  }

  void access(uint32_t bytes, uint32_t offset, bool store) {
    const std::string at = fmt::format("[%a+{}]", offset);
    if (bytes == 2 && !store) {
      line("ld.shared.u16 %h, " + at + ";\ncvt.u32.u16 %w0, %h;\nadd.u32 %sum, %sum, %w0;");
      return;
    }
    const std::string type = bytes == 2   ? "u16"
                             : bytes == 4 ? "u32"
                             : bytes == 8 ? "v2.u32"
                                          : "v4.u32";
    if (store) {
      const char* same = bytes == 8 ? "{%me, %me}" : bytes == 16 ? "{%me, %me, %me, %me}" : "%me";
      if (bytes == 2) line("cvt.u16.u32 %h, %me;");
      line(fmt::format("st.shared.{} {}, {};", type, at, bytes == 2 ? "%h" : same));
      return;
    }
    const char* all = bytes == 4 ? "%w0" : bytes == 8 ? "{%w0, %w1}" : "{%w0, %w1, %w2, %w3}";
    line(fmt::format("ld.shared.{} {}, {};\nmad.lo.u32 %sum, %sum, 3, %w0;", type, all, at));
  }

  std::mt19937_64 random_;
  std::string text_;
};

TEST(Alignment, MisalignedAccessesEndInAFaultWhateverIsKnownOfTheAddress) {
  uint32_t aligned = 0, misaligned = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Job job = job_of(seed, threads, 1);
    job.grid[0] = 1;
    job.ptx = Writer(seed).program();
    job.out_words = threads;
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    (want.ran ? aligned : misaligned)++;
    if (!want.ran)
      ASSERT_NE(want.error.find("misaligned"), std::string::npos) << want.error << "\n" << job.ptx;
    for (const Version& v : versions(Family::plain)) {
      job.strategy = v.strategy;
      job.width = v.width;
      job.specialize = v.specialize;
      const Outcome got = run(job);
      ASSERT_EQ(got.ran, want.ran) << "seed " << seed << " strategy " << v.strategy << " width "
                                   << v.width << ": " << got.error << "\n"
                                   << job.ptx;
      if (!got.ran)
        ASSERT_NE(got.error.find("misaligned"), std::string::npos) << got.error << "\n" << job.ptx;
    }
  }
  EXPECT_GT(aligned, 10u);
  EXPECT_GT(misaligned, 10u);
}

TEST(Alignment, ALoopBehindABarrierTestsNoAddressOfWhichAlignmentIsKnown) {
  Job job = job_of(1, 16, 16);
  job.grid[0] = 1;
  job.out_words = 256;
  job.width = 16;
  job.strategy = 0;
  // A tile's row and column, as nvcc makes them: the addresses wait in memory for the barrier's
  // end.
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %in, %to, %at;\n.reg .u32 %x, %y, %r<9>, %row, %column, %t, %v<4>, %sum;\n.reg "
      ".pred %p;\n"
      ".shared .align 4 .b8 as[1024];\n.shared .align 4 .b8 bs[1024];\n"
      "mov.u32 %x, %tid.x;\nmov.u32 %y, %tid.y;\nld.param.u64 %to, [out];\n"
      "mad.lo.u32 %r0, %y, 16, %x;\nmad.wide.u32 %at, %r0, 4, %to;\n"
      "mov.u32 %r1, as;\nmad.lo.u32 %row, %y, 64, %r1;\nshl.b32 %r2, %x, 2;\n"
      "add.u32 %r3, %row, %r2;\nst.shared.u32 [%r3], %x;\n"
      "mov.u32 %r4, bs;\nadd.u32 %column, %r2, %r4;\nmad.lo.u32 %r5, %y, 64, %column;\n"
      "st.shared.u32 [%r5], %y;\nmov.u32 %sum, 0;\nmov.u32 %t, 0;\nbar.sync 0;\n"
      "L_turn:\nld.shared.u32 %v0, [%row];\nld.shared.u32 %v1, [%column];\n"
      "ld.shared.u32 %v2, [%row+4];\nld.shared.u32 %v3, [%column+64];\n"
      "mad.lo.u32 %sum, %v0, %v1, %sum;\nmad.lo.u32 %sum, %v2, %v3, %sum;\n"
      "add.u32 %row, %row, 8;\nadd.u32 %column, %column, 128;\nadd.u32 %t, %t, 1;\n"
      "setp.lt.u32 %p, %t, 8;\n@%p bra L_turn;\nst.global.u32 [%at], %sum;\nret;\n}\n";
  const std::string code = code_of(job);
  const size_t behind = code.find("@region1(");
  ASSERT_NE(behind, std::string::npos) << code;
  // One test is left: that of the address in global memory, which is a parameter.
  size_t tests = 0;
  for (size_t at = behind; (at = code.find("\nmisaligned", at)) != std::string::npos; ++at) ++tests;
  EXPECT_EQ(tests, 1u) << code;
}

}  // namespace
}  // namespace limen::test
