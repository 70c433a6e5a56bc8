// Stores that the code generator does together (lower_words.cpp): scalar and vector stores behind
// one base register at every distance of lanes, masked and not, with changes of what is stored and
// of the base, and loads between them. Every version must agree with the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "agree.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 64;
constexpr uint32_t own_words = 32;  ///< of a thread, 4 bytes each

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string program() {
    bytes_ = below(2) ? 4 : 8;
    shared_ = below(3) == 0;
    text_ = fmt::format(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
        ".reg .u64 %to, %from, %own, %y, %c<8>;\n.reg .u32 %me, %i, %x, %sh, %base, %turn, %d<8>;\n"
        ".reg .pred %p, %q;\n.shared .align 16 .b8 room[{}];\n",
        threads * own_words * 4);
    line("mov.u32 %me, %tid.x;\nld.param.u64 %to, [out];\nmov.u64 %y, 0;");
    stride_ = 4 * own_words;
    if (below(2)) stride_ = 16 * (3 + below(5));
    for (int r = 0; r < 8; ++r)
      line(
          fmt::format("mad.lo.u32 %d{0}, %me, 8, {0};\ncvt.u64.u32 %c{0}, %d{0};\n"
                      "mul.lo.u64 %c{0}, %c{0}, 4294967297;",
                      r));
    line("mov.u32 %sh, room;");
    if (shared_) {
      line("mad.lo.u32 %x, %me, 4, %sh;\nmov.u32 %i, 0;\nL_clear:\nst.shared.u32 [%x], %i;");
      line(
          fmt::format("add.u32 %x, %x, {};\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, {};\n"
                      "@%p bra L_clear;\nbar.sync 0;",
                      threads * 4, own_words));
      line(fmt::format("mad.lo.u32 %base, %me, {}, %sh;", stride_));
      at_ = "%base";
    } else {
      line(fmt::format("mul.wide.u32 %from, %me, {};\nadd.u64 %own, %to, %from;", stride_));
      at_ = "%own";
    }
    mask();
    // In a loop a base that moves is one register, which the code generator cannot split.
    const bool loop = below(2);
    if (loop) line("mov.u32 %turn, 0;\nL_turn:");
    const uint32_t stores = 2 + below(8);
    const uint32_t vector = below(2) ? 1 : below(2) ? 2 : 16 / bytes_;
    auto word = static_cast<int32_t>(below(4) ? 0 : vector);
    for (uint32_t i = 0; i < stores; ++i) {
      store(static_cast<uint32_t>(word), vector);
      between(vector);
      const auto n = static_cast<int32_t>(vector);
      const int32_t last = static_cast<int32_t>(stride_ / 2 / bytes_) - n;
      word += below(6) ? n : n * (static_cast<int32_t>(below(7)) - 3);  // back, again, or a gap
      if (word < 0 || word > last) word = 0;
    }
    if (loop) line("add.u32 %turn, %turn, 1;\nsetp.lt.u32 %q, %turn, 2;\n@%q bra L_turn;");
    line("L_end:");
    if (shared_) copy_out();
    line("ret;");
    return text_ + "}\n";
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  void line(const std::string& s) { text_ += s + "\n"; }
  char values() const { return bytes_ == 4 ? 'd' : 'c'; }

  void mask() {
    guard_ = "";
    if (below(2)) return;
    line(
        fmt::format("ld.param.u64 %from, [in];\nmad.wide.u32 %from, %me, 4, %from;\n"
                    "ld.global.u32 %x, [%from];\nsetp.lt.u32 %p, %x, {};",
                    below(2) ? 5 : 40));
    if (below(2))
      line("@%p bra L_end;");
    else
      guard_ = below(2) ? "@%p " : "@!%p ";
  }

  void store(uint32_t word, uint32_t vector) {
    std::string what = fmt::format("%{}{}", values(), below(8));
    for (uint32_t i = 1; i < vector; ++i) what += fmt::format(", %{}{}", values(), below(8));
    line(fmt::format("{}st.{}.{}u{} [{}+{}], {};", below(8) ? guard_ : "",
                     shared_ ? "shared" : "global", vector == 1 ? "" : fmt::format("v{}.", vector),
                     bytes_ * 8, at_, word * bytes_, vector == 1 ? what : "{" + what + "}"));
  }

  void between(uint32_t vector) {
    const uint32_t r = below(8);
    switch (below(8)) {
      case 0:
        line(fmt::format("add.u{0} %{1}{2}, %{1}{2}, 1000;", bytes_ * 8, values(), r));
        break;
      case 1:
        line(fmt::format("@%p mov.u{0} %{1}{2}, 77;", bytes_ * 8, values(), r));
        break;
      case 2:
      case 4:
        if (moved_ + vector * bytes_ > stride_ / 4) break;
        moved_ += vector * bytes_;
        line(fmt::format("add.u{0} {1}, {1}, {2};", shared_ ? 32 : 64, at_, vector * bytes_));
        break;
      case 3:  // what was stored is read back
        line(fmt::format("ld.{}.u{} %{}{}, [{}];", shared_ ? "shared" : "global", bytes_ * 8,
                         values(), r, at_));
        break;
      default:
        break;
    }
  }

  void copy_out() {
    line("bar.sync 0;\nmov.u32 %sh, room;\nmad.lo.u32 %x, %me, 4, %sh;");
    line("mad.wide.u32 %own, %me, 4, %to;\nmov.u32 %i, 0;\nL_copy:\nld.shared.u32 %d0, [%x];");
    line(
        fmt::format("st.global.u32 [%own], %d0;\nadd.u32 %x, %x, {0};\nadd.u64 %own, %own, {0};\n"
                    "add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, {1};\n@%p bra L_copy;",
                    threads * 4, own_words));
  }

  std::mt19937_64 random_;
  std::string text_, at_, guard_;
  uint32_t bytes_ = 4, stride_ = 0, moved_ = 0;
  bool shared_ = false;
};

TEST(Stores, StoresDoneTogetherWriteWhatEachWouldWrite) {
  uint32_t ran = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    Job job = job_of(seed, threads, 1);
    job.grid[0] = 1;
    job.ptx = Writer(seed).program();
    job.out_words = threads * own_words;
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    if (!want.ran && want.error.find("no value") != std::string::npos)
      continue;  // of another thread
    ASSERT_TRUE(want.ran) << "seed " << seed << ": " << want.error << "\n" << job.ptx;
    ++ran;
    ASSERT_NO_FATAL_FAILURE(expect_every_version(job, want, seed));
  }
  EXPECT_GT(ran, 15u);
}

/// A thread stores four words of its own, `stride` bytes from the next thread's.
Job four_words(uint32_t stride, const char* exit) {
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = threads * 8;
  job.strategy = 0;
  job.width = 16;
  job.ptx = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".reg .u64 %to, %at, %own;\n.reg .u32 %me, %d<4>, %n;\n.reg .pred %p;\n"
      "mov.u32 %me, %tid.x;\nld.param.u64 %to, [out];\nld.param.u32 %n, [n];\n"
      "setp.ge.u32 %p, %me, %n;\n{}"
      "mul.wide.u32 %at, %me, {};\nadd.u64 %own, %to, %at;\nmul.lo.u32 %d0, %me, 4;\n"
      "add.u32 %d1, %d0, 1;\nadd.u32 %d2, %d0, 2;\nadd.u32 %d3, %d0, 3;\n"
      "st.global.u32 [%own], %d0;\nst.global.u32 [%own+4], %d1;\nst.global.u32 [%own+8], %d2;\n"
      "st.global.u32 [%own+12], %d3;\nL_out:\nret;\n}}\n",
      exit, stride);
  return job;
}

TEST(Stores, ABaseThatMovesBetweenTwoStoresKeepsThemApart) {
  Job job = job_of(1, threads, 1);
  job.grid[0] = 1;
  job.out_words = threads * own_words;
  job.width = 16;
  job.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
      ".reg .u64 %to, %at, %own;\n.reg .u32 %me, %turn;\n.reg .pred %p;\n"
      "mov.u32 %me, %tid.x;\nld.param.u64 %to, [out];\nmul.wide.u32 %at, %me, 128;\n"
      "add.u64 %own, %to, %at;\nmov.u32 %turn, 1;\nL_turn:\nst.global.u32 [%own], %me;\n"
      "add.u64 %own, %own, 8;\nst.global.u32 [%own+4], %turn;\n"
      "add.u32 %turn, %turn, 1;\nsetp.lt.u32 %p, %turn, 4;\n@%p bra L_turn;\nret;\n}\n";
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  ASSERT_TRUE(want.ran) << want.error;
  job.strategy = 0;
  EXPECT_EQ(run(job).out, want.out);
}

TEST(Stores, FourWordsOfALaneAreOneStore) {
  const std::string code = code_of(four_words(32, ""));
  size_t stores = 0;
  for (size_t at = 0; (at = code.find("store <4 x i32>", at)) != std::string::npos; ++at) ++stores;
  EXPECT_EQ(stores, 16u) << code;
  EXPECT_EQ(code.find("store i32"), std::string::npos) << code;
}

TEST(Stores, WhereLanesOverlapTheLaterInstructionHasTheLastWord) {
  for (const char* exit : {"", "@%p bra L_out;\n"}) {
    Job job = four_words(8, exit);
    job.width = 32;
    const Outcome got = run(job);
    ASSERT_TRUE(got.ran) << got.error;
    for (uint32_t thread = 0; thread < threads; ++thread) {
      if (thread % 32 == 0) continue;  // another warp's words are there too
      // The thread before wrote its third and fourth words behind this one's first two.
      EXPECT_EQ(got.out[thread * 2], thread * 4 - 2) << "thread " << thread;
      EXPECT_EQ(got.out[thread * 2 + 1], thread * 4 - 1) << "thread " << thread;
    }
  }
}

}  // namespace
}  // namespace limen::test
