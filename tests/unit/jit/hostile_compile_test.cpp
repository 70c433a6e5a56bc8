// PTX that no compiler writes, through the whole compiler: it ends in code or in a message, in
// bounded time and memory (ctest's limit on the whole is the bound: no test of ours is timed). PTX
// that was never verified (out of a fat binary) is checked here at the latest.
#include <gtest/gtest.h>

#include <string>

#include "runner.h"

namespace limen::test {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
const std::string entry = ".entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n";

struct Hostile : testing::Test {
  static Outcome compile(const std::string& text, int strategy = -1) {
    Job job;
    job.ptx = text;
    job.strategy = strategy;
    job.in.assign(64, 0);
    job.out_words = 64;
    return run(job);
  }
  static void refuse(const std::string& text, const std::string& why) {
    const Outcome outcome = compile(text);
    EXPECT_FALSE(outcome.ran);
    EXPECT_NE(outcome.error.find(why), std::string::npos) << outcome.error.substr(0, 300);
  }
};

TEST_F(Hostile, bodies_that_were_never_verified_are_verified_before_they_are_compiled) {
  refuse(head + entry + ".reg .f32 %f<3>; add.s32 %f1, %f2, %f1; ret; }\n", "add");
  refuse(head + entry + ".reg .b32 %r<3>; atom.global.add.u32 %r1; ret; }\n", "operands");
}

TEST_F(Hostile, a_function_too_large_for_the_analyses_is_refused_by_name) {
  std::string text = head + entry + ".reg .b32 %r<40001>; .reg .pred %p;\n";
  for (int i = 0; i < 40000; ++i) {
    const std::string n = std::to_string(i);
    text += "L" + n + ": mov.b32 %r" + n + ", 1; @%p bra L" + n + ";\n";
  }
  refuse(text + "ret; }\n", "'k' is too large to compile");
}

TEST_F(Hostile, a_ladder_of_divergent_branches_falls_back_to_lanes) {
  std::string text = head + entry + ".reg .b32 %r<3>; .reg .pred %p; mov.u32 %r1, %tid.x;\n";
  const int rungs = 900;
  for (int i = 0; i < rungs; ++i)
    for (const char* side : {"A", "B"}) {
      const std::string n = std::to_string(i), next = std::to_string(i + 1);
      text += side + n + ": setp.eq.u32 %p, %r1, " + n + ";\n@%p bra A" + next + ";\nbra B" + next +
              ";\n";
    }
  text += "A" + std::to_string(rungs) + ": B" + std::to_string(rungs) + ": ret; }\n";
  const Outcome outcome = compile(text);
  EXPECT_TRUE(outcome.ran) << outcome.error;
  EXPECT_EQ(outcome.meta.strategy, kernel::Strategy::lane);
}

TEST_F(Hostile, functions_that_call_each_other_twice_are_not_inlined_for_ever) {
  std::string text = head;
  const int levels = 40;
  for (int i = 0; i <= levels; ++i) text += ".func f" + std::to_string(i) + "();\n";
  for (int i = 0; i < levels; ++i) {
    const std::string next = std::to_string(i + 1);
    text += ".func f" + std::to_string(i) +
            "() { .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x;\n"
            "setp.gt.u32 %p, %r, 2000;\n@%p call f" +
            next + ";\n@%p call f" + next + ";\nret; }\n";
  }
  text += ".func f" + std::to_string(levels) + "() { ret; }\n" + entry + "call f0; ret; }\n";
  const Outcome outcome = compile(text);
  EXPECT_TRUE(outcome.ran) << outcome.error;
}

TEST_F(Hostile, a_long_chain_of_calls_needs_no_deep_stack) {
  std::string text = head;
  const int length = 2000;
  for (int i = 0; i <= length; ++i) text += ".func f" + std::to_string(i) + "();\n";
  for (int i = 0; i < length; ++i)
    text += ".func f" + std::to_string(i) + "() { call f" + std::to_string(i + 1) + "; ret; }\n";
  text += ".func f" + std::to_string(length) + "() { ret; }\n" + entry + "call f0; ret; }\n";
  const Outcome outcome = compile(text);
  EXPECT_TRUE(outcome.ran) << outcome.error;
}

TEST_F(Hostile, local_memory_beyond_the_limit_is_refused_with_numbers) {
  refuse(head + entry +
             ".local .b8 l[70000000000000]; .reg .b64 %rd<3>; mov.u64 %rd1, l;\n"
             "st.local.u64 [%rd1], %rd1; ret; }\n",
         "70000000000000 bytes of local memory a thread, 524288 at most");
}

}  // namespace
}  // namespace limen::test
