// Literals, constant expressions and blanks.
#include "compiler/ptx/cursor.h"

#include <gtest/gtest.h>

#include <bit>

namespace limen::ptx {
namespace {

struct Value {
  bool ok;
  Number number;
  std::string error;
};

Value evaluate(const std::string& text) {
  Cursor c(text.data(), text.data(), text.data() + text.size(), 1);
  Value v{};
  v.ok = c.constant(v.number, v.error) && c.done();
  return v;
}

void expect_integer(const std::string& text, int64_t value) {
  const Value v = evaluate(text);
  ASSERT_TRUE(v.ok) << text << ": " << v.error;
  EXPECT_EQ(v.number.kind, Number::Kind::integer);
  EXPECT_EQ(static_cast<int64_t>(v.number.bits), value) << text;
}

TEST(Cursor, IntegerLiterals) {
  expect_integer("0", 0);
  expect_integer("42", 42);
  expect_integer("42U", 42);
  expect_integer("0x7fFF", 0x7fff);
  expect_integer("0XffU", 255);
  expect_integer("0b1011", 11);
  expect_integer("0777", 511);
  expect_integer("18446744073709551615", -1);
  expect_integer("-9223372036854775808", INT64_MIN);
  expect_integer("WARP_SZ", 32);
  for (const char* bad : {"", "0x", "0b", "09", "12ab", "0b12", "18446744073709551616", "0xg", "u"})
    EXPECT_FALSE(evaluate(bad).ok) << bad;
}

TEST(Cursor, FloatLiterals) {
  auto bits = [](const char* text, Number::Kind kind) {
    const Value v = evaluate(text);
    EXPECT_TRUE(v.ok) << text;
    EXPECT_EQ(v.number.kind, kind) << text;
    return v.number.bits;
  };
  EXPECT_EQ(bits("0f3F800000", Number::Kind::f32), 0x3f800000u);
  EXPECT_FALSE(evaluate("-0f3F800000").ok);  // as ptxas says; -1.0 is good
  EXPECT_EQ(bits("0F00000000", Number::Kind::f32), 0u);
  EXPECT_EQ(bits("0d3FF0000000000000", Number::Kind::f64), 0x3ff0000000000000u);
  EXPECT_EQ(bits("1.5", Number::Kind::f64), std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(bits("-1.5e-3", Number::Kind::f64), std::bit_cast<uint64_t>(-1.5e-3));
  EXPECT_EQ(bits("1e10", Number::Kind::f64), std::bit_cast<uint64_t>(1e10));
  EXPECT_EQ(bits(".25", Number::Kind::f64), std::bit_cast<uint64_t>(0.25));
  EXPECT_EQ(bits("2.", Number::Kind::f64), std::bit_cast<uint64_t>(2.0));
  EXPECT_EQ(bits("1e999", Number::Kind::f64), 0x7ff0000000000000u);
  for (const char* bad : {"0f3F80000", "0f3F8000001", "0d3FF", "1.5.2", "1e", "0fGG000000"})
    EXPECT_FALSE(evaluate(bad).ok) << bad;
}

TEST(Cursor, Expressions) {
  expect_integer("1 + 2 * 3", 7);
  expect_integer("(1 + 2) * 3", 9);
  expect_integer("-3 - -4", 1);
  expect_integer("~0", -1);
  expect_integer("!5 + !0", 1);
  expect_integer("1 << 4 | 3", 19);
  expect_integer("10 % 4 == 2 && 3 < 4", 1);
  expect_integer("5 > 3 ? 7 : 8", 7);
  expect_integer("0 ? 1 : 0 ? 2 : 3", 3);
  expect_integer("-8 >> 1", -4);
  expect_integer("(.u64) -8 >> 60", 15);
  expect_integer("1 << 64", 0);
  expect_integer("(.s64)(5)", 5);
  expect_integer("7 / -2", -3);
  expect_integer("(.s64)-9223372036854775808 / -1", INT64_MIN);
  EXPECT_EQ(evaluate("1 / 0").error, "division by zero in a constant expression");
  EXPECT_EQ(evaluate("1 % 0").error, "division by zero in a constant expression");
  EXPECT_FALSE(evaluate("1 +").ok);
  EXPECT_FALSE(evaluate("(1").ok);
  EXPECT_FALSE(evaluate("1.0 + 2").ok);
  EXPECT_FALSE(evaluate("~1.0").ok);
}

TEST(Cursor, DeepExpressionsAreErrors) {
  EXPECT_NE(evaluate(std::string(100000, '(')).error.find("too deeply"), std::string::npos);
  EXPECT_NE(evaluate(std::string(100000, '-') + "1").error.find("too deeply"), std::string::npos);
  std::string chain = "1";
  for (int i = 0; i < 10000; ++i) chain += "+1";
  expect_integer(chain, 10001);
}

TEST(Cursor, CommentsAndLines) {
  const std::string text = " // one\n/* two\n three */ name /* open";
  Cursor c(text.data(), text.data(), text.data() + text.size(), 1);
  EXPECT_EQ(c.name(), "name");
  EXPECT_EQ(c.line(), 3u);
  EXPECT_TRUE(c.done());
}

TEST(Cursor, Names) {
  const std::string text = "%r1.x $L__BB0_2: .shared::cta.u32 _Z3fooIiEvPT_";
  Cursor c(text.data(), text.data(), text.data() + text.size(), 1);
  EXPECT_EQ(c.name(), "%r1");
  EXPECT_EQ(c.dotted(), "x");
  EXPECT_EQ(c.name(), "$L__BB0_2");
  EXPECT_TRUE(c.eat(':'));
  EXPECT_EQ(c.dotted(), "shared::cta");
  EXPECT_EQ(c.dotted(), "u32");
  EXPECT_EQ(c.name(), "_Z3fooIiEvPT_");
}

}  // namespace
}  // namespace limen::ptx
