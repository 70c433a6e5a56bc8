// Texts that no compiler writes: each must be read, or refused, in little time and memory. What a
// text of some megabytes may cost is bounded by its size; the limits here are processor time, which
// a loaded machine does not change, and small against what a quadratic or recursive reader needs.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "compiler/ptx/parser.h"

namespace limen::ptx {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string kernel(const std::string& body) { return head + ".entry k() {\n" + body + "\n}\n"; }

class Hostile : public testing::Test {
 protected:
  static rusage used() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage;
  }
  void SetUp() override { start_ = used().ru_utime.tv_sec; }
  void TearDown() override {
    const rusage usage = used();
    EXPECT_LT(usage.ru_utime.tv_sec - start_, 20);
    EXPECT_LT(usage.ru_maxrss, 4 << 20) << "KiB";
  }
  /// The first message of module, bodies and verifier; empty when all is good.
  static std::string read(const std::string& text) {
    auto module = parse_module(text);
    if (!module) return module.error().what;
    for (Index i = 0; i < (*module)->functions.size(); ++i) {
      auto done = parse_body(**module, i);
      if (done) done = verify_body(**module, i);
      if (!done) return done.error().what;
    }
    return {};
  }
  static void refuse(const std::string& text, const std::string& why) {
    const std::string what = read(text);
    EXPECT_NE(what.find(why), std::string::npos) << what.substr(0, 300);
  }

 private:
  time_t start_ = 0;
};

TEST_F(Hostile, nesting_of_every_kind_is_bounded) {
  const size_t deep = 1000000;
  refuse(kernel(repeated("{", deep) + repeated("}", deep)), "nested too deeply");
  refuse(kernel(".reg .b32 %r; mov.b32 %r, " + repeated("(", deep) + "1;"), "nested too deeply");
  refuse(kernel(".reg .b32 %r; mov.b32 %r, " + repeated("-", deep) + "1;"), "nested too deeply");
  refuse(kernel(".reg .b32 %r; mov.b32 %r, " + repeated("1?", deep) + "1;"), "nested too deeply");
  refuse(
      kernel(".reg .b32 %r; mov.b32 %r, " + repeated("{", deep) + "%r" + repeated("}", deep) + ";"),
      "nested too deeply");
  refuse(head + ".global .b32 a[2] = " + repeated("{", deep) + "1;", "too many nested braces");
  refuse(head + ".global .b32 a" + repeated("[2]", deep) + ";", "too many dimensions");
  EXPECT_EQ(read(kernel(".reg .b32 %r; mov.b32 %r, 1" + repeated("+1", deep) + ";")), "");
}

TEST_F(Hostile, absurd_sizes_cost_nothing) {
  EXPECT_EQ(read(head + ".global .align 1 .b8 a[70000000000000];"), "");
  refuse(head + ".global .b8 a[9000000000000000000][9];", "expected an integer between 0");
  refuse(head + ".global .b8 a[60000000000000][60000000000000];", "is larger than");
  refuse(head + ".global .b8 a[99999999999][2] = {" + repeated("{1},", 1000) + "{2}};\n" +
             ".global .b8 b[9][900000000] = {{1},{1},{1}};",
         "initialisers take more than");
  EXPECT_EQ(read(kernel(".reg .b32 %r<4294967296>; mov.b32 %r4294967295, 1;")), "");
  EXPECT_EQ(read(kernel(".local .b8 l[70000000000000]; .shared .b8 s[70000000000000];")), "");
  refuse(head + ".file 1000000 \"a\"\n", "is too large");
  refuse(kernel(".reg .b32 %r; mov.b64 %r, {" + repeated("%r,", 1000000) + "%r};"),
         "too many elements");
  refuse(head + ".entry k(" + repeated(".param .u32 a,", 1000000) + ".param .u32 b) {}",
         "duplicate parameter");
}

TEST_F(Hostile, a_million_registers_and_labels_are_read_in_linear_time) {
  std::string registers = ".reg .b32 %r<1000001>;\n", labels;
  for (int i = 0; i < 500000; ++i)
    registers += "mov.b32 %r" + std::to_string(2 * i) + ", %r" + std::to_string(2 * i + 1) + ";\n";
  EXPECT_EQ(read(kernel(registers)), "");
  for (int i = 0; i < 500000; ++i)
    labels += "L" + std::to_string(i) + ": bra L" + std::to_string(499999 - i) + ";\n";
  EXPECT_EQ(read(kernel(labels)), "");
  // Forward references out of scope after scope.
  EXPECT_EQ(read(kernel(repeated("{{{{ bra OUT; }}}}\n", 200000) + "OUT: ret;")), "");
}

TEST_F(Hostile, long_lists_of_targets_cannot_be_multiplied) {
  std::string list, labels;
  for (int i = 0; i < 100000; ++i) {
    list += (i ? ", L" : "L") + std::to_string(i);
    labels += "L" + std::to_string(i) + ": ret;\n";
  }
  const std::string once =
      ".reg .b32 %r; T: .branchtargets " + list + ";\nbrx.idx %r, T;\n" + labels;
  EXPECT_EQ(read(kernel(once)), "");
  refuse(kernel(".reg .b32 %r; .reg .pred %p; T: .branchtargets " + list + ";\n" +
                repeated("@%p brx.idx %r, T;\n", 100000) + labels),
         "targets of brx.idx");
}

TEST_F(Hostile, endless_tokens_end_with_the_text) {
  const std::string much = repeated("x", 20 << 20);
  EXPECT_FALSE(read(head + "/*" + much).size());
  EXPECT_FALSE(read(head + "//" + much).size());
  refuse(kernel("/*" + much), "is not closed");
  refuse(kernel("\"" + much), "expected an instruction");
  refuse(head + ".pragma \"" + much, "expected a string");
  refuse(kernel("mov." + much + " %r, 1;"), "too long");
  refuse(kernel(".reg .b32 %r; mov.b32 %r, " + repeated("1", 20 << 20) + ";"),
         "expected a constant");
  refuse(head + ".global ." + much + " a;", "unknown type");
}

TEST_F(Hostile, many_functions_and_variables_are_read_in_linear_time) {
  std::string functions, variables;
  for (int i = 0; i < 200000; ++i) {
    const std::string n = std::to_string(i);
    functions += ".func f" + n + "() { ret; }\n";
    variables += ".global .b32 v" + n + " = 1;\n";
  }
  EXPECT_EQ(read(head + functions), "");
  EXPECT_EQ(read(head + variables), "");
  // All on one line: a column is never counted from the line's start again and again.
  for (char& c : variables)
    if (c == '\n') c = ' ';
  EXPECT_EQ(read(head + variables), "");
}

}  // namespace
}  // namespace limen::ptx
