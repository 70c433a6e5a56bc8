// Loads that the code generator does together (lower_words.cpp): scalar and vector loads behind one
// base register at every distance of lanes, masked and not, with stores, changes of the base and
// strong loads between them. Every version must agree with the evaluator.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "agree.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64;
constexpr uint32_t furthest_word = 16;  ///< that a load reads behind its base

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string program() {
    bytes_ = below(2) ? 4 : 8;
    shared_ = below(3) == 0;
    own_ = below(3) == 0;
    aligned_ = own_ || below(2);
    begin();
    base();
    mask();
    const uint32_t loads = 2 + below(9);
    for (uint32_t i = 0; i < loads; ++i) {
      load(i);
      between();
    }
    line("L_end:");
    line("st.global.u64 [%to], %sum;");
    line("ret;");
    return text_ + "}\n";
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  void line(const std::string& s) { text_ += s + "\n"; }

  void begin() {
    text_ =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".reg .u64 %in, %to, %at, %sum, %wide, %c<8>;\n.reg .u32 %me, %i, %x, %sh, %d<8>;\n"
        ".reg .pred %p;\n.shared .align 16 .b8 room[8192];\n";
    line("mov.u32 %me, %tid.x;");
    line("ld.param.u64 %in, [in];");
    line("ld.param.u64 %to, [out];");
    line("mad.wide.u32 %to, %me, 8, %to;");
    line("mov.u64 %sum, 1;");
    for (int r = 0; r < 8; ++r) line(fmt::format("mov.u64 %c{}, 2;\nmov.u32 %d{}, 2;", r, r));
    if (!shared_) return;
    line("mov.u32 %sh, room;");
    line("mov.u32 %i, %me;");
    line("L_fill:");
    line("mad.wide.u32 %at, %i, 4, %in;");
    line("ld.global.u32 %x, [%at];");
    line("mad.lo.u32 %x, %i, 4, %sh;");
    line("ld.global.u32 %d0, [%at];");
    line("st.shared.u32 [%x], %d0;");
    line(fmt::format("add.u32 %i, %i, {};", threads));
    line("setp.lt.u32 %p, %i, 2048;");
    line("@%p bra L_fill;");
    line("bar.sync 0;");
  }

  /// %at (or %sh): where the thread's words begin.
  void base() {
    uint32_t stride = aligned_ ? 16 * (1 + below(4)) : bytes_ * (1 + below(9));
    if (own_) stride = bytes_ * furthest_word;
    switch (below(own_ ? 3 : 4)) {
      case 0:
        line("mov.u32 %i, %me;");
        break;
      case 1:
        line(fmt::format("sub.u32 %i, {}, %me;", threads - 1));
        break;
      case 2:
        line("xor.b32 %i, %me, 5;");
        break;
      default:  // an index from memory: lanes anywhere
        line("mad.wide.u32 %at, %me, 4, %in;");
        line("ld.global.u32 %i, [%at];");
        line(fmt::format("and.b32 %i, %i, {};", threads - 1));
    }
    if (shared_) return line(fmt::format("mad.lo.u32 %sh, %i, {}, %sh;", stride));
    if (below(2)) return line(fmt::format("mad.wide.u32 %at, %i, {}, %in;", stride));
    line(fmt::format("mul.lo.s32 %x, %i, {};", stride));  // may wrap for all that is known
    line("cvt.s64.s32 %wide, %x;");
    line("add.s64 %at, %in, %wide;");
  }

  void mask() {
    switch (below(4)) {
      case 0:
        line("and.b32 %x, %me, 3;");
        line("setp.eq.u32 %p, %x, 1;");
        return line("@%p bra L_end;");
      case 1:
        line(fmt::format("setp.ge.u32 %p, %me, {};", threads - 1 - below(40)));
        return line("@%p bra L_end;");
      default:
        return;
    }
  }

  void load(uint32_t number) {
    const uint32_t words = 1u << (!aligned_ || below(4) ? 0 : below(bytes_ == 4 ? 3 : 2));
    place_ = below(4) ? (place_ + 1) % furthest_word : below(furthest_word);
    const uint32_t at = place_ / words * words * bytes_;
    const char kind = bytes_ == 4 ? 'd' : 'c';
    const std::string how = below(8) ? "" : ".volatile";
    const std::string guard = below(10) ? "" : "@%p ";
    if (!guard.empty()) line(fmt::format("setp.ne.u32 %p, %me, {};", number));
    std::vector<std::string> to;
    const uint32_t first = below(8);  // a vector with a register twice is not legal
    for (uint32_t w = 0; w < words; ++w) to.push_back(fmt::format("%{}{}", kind, (first + w) % 8));
    const std::string vector = words == 1 ? "" : fmt::format(".v{}", words);
    const std::string list = words == 1 ? to[0] : fmt::format("{{{}}}", fmt::join(to, ", "));
    line(fmt::format("{}ld{}.{}{}.u{} {}, [{}+{}];", guard, how, shared_ ? "shared" : "global",
                     vector, bytes_ * 8, list, shared_ ? "%sh" : "%at", at));
    for (const std::string& r : to) mix(r);
  }

  void mix(const std::string& r) {
    if (bytes_ == 4) {
      line(fmt::format("cvt.u64.u32 %wide, {};", r));
      line("mad.lo.u64 %sum, %sum, 31, %wide;");
    } else {
      line(fmt::format("mad.lo.u64 %sum, %sum, 31, {};", r));
    }
  }

  void between() {
    const std::string base = shared_ ? "%sh" : "%at";
    switch (below(12)) {
      case 0:
        if (!own_) line(fmt::format("add.u{} {}, {}, 16;", shared_ ? 32 : 64, base, base));
        return;
      case 1:
        return line("st.global.u64 [%to], %sum;");
      case 2:
        return line("membar.cta;");
      case 3:  // what later loads of this thread must see, and no other thread does
      case 4:
        if (own_)
          line(fmt::format("st.{}.u32 [{}+{}], %me;", shared_ ? "shared" : "global", base,
                           bytes_ * ((place_ + 1 + below(2)) % furthest_word)));
        return;
      default:
        return;
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  uint32_t bytes_ = 4;
  uint32_t place_ = 0;  ///< word that was read last: most loads read the one behind it
  bool shared_ = false;
  bool own_ = false;      ///< each thread reads its own record only, and may write it
  bool aligned_ = false;  ///< records of 16 bytes and multiples
};

TEST(Words, LoadsDoneTogetherReadWhatEachWouldRead) {
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    Job job = job_of(seed, threads, 1);
    job.ptx = Writer(seed).program();
    job.grid[0] = 1;
    job.out_words = threads * 2;
    std::mt19937 random(static_cast<uint32_t>(seed));
    job.in.resize(4096);
    for (uint32_t& word : job.in) word = random();
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    ASSERT_TRUE(want.ran) << "seed " << seed << ": " << want.error << "\n" << job.ptx;
    ASSERT_NO_FATAL_FAILURE(expect_every_version(job, want, seed));
  }
}

}  // namespace
}  // namespace limen::test
