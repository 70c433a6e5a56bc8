// LIMEN_LOG's value, and lines of many threads that must not mix.
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace limen::log {
namespace {

TEST(Log, Setting) {
  Level level = Level::off;
  std::string_view path;
  EXPECT_TRUE(parse_log_setting("trace:/tmp/a:b", level, path));
  EXPECT_EQ(level, Level::trace);
  EXPECT_EQ(path, "/tmp/a:b");
  EXPECT_TRUE(parse_log_setting("off", level, path));
  EXPECT_EQ(level, Level::off);
  EXPECT_TRUE(path.empty());
  EXPECT_FALSE(parse_log_setting("loud", level, path));
}

TEST(Log, LinesDoNotMix) {
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i)
        warn("%02d%s", i, std::string(1500, static_cast<char>('a' + t)).c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  info("not shown: the level is warn");
  std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("not shown"), std::string::npos);
  size_t lines = 0;
  for (size_t start = 0; start < text.size(); ++lines) {
    size_t end = text.find('\n', start);
    ASSERT_NE(end, std::string::npos);
    std::string line = text.substr(start, end - start);
    ASSERT_TRUE(line.starts_with("limen: warn: ")) << line;
    EXPECT_EQ(line.find_first_not_of(line.back(), 15), std::string::npos);
    EXPECT_EQ(line.size(), 15u + 1500);
    start = end + 1;
  }
  EXPECT_EQ(lines, 200u);
}

TEST(Log, WhatIsSaidAgainAndAgainIsLeftOut) {
  ::testing::internal::CaptureStderr();
  for (unsigned i = 0; i < 3 * most_repeats; ++i) {
    error("the same");
    error("another, number %u", i);
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  size_t same = 0, others = 0;
  for (size_t at = 0; (at = text.find("error: the same", at)) != std::string::npos; ++at) ++same;
  for (size_t at = 0; (at = text.find("error: another", at)) != std::string::npos; ++at) ++others;
  EXPECT_EQ(same, most_repeats);
  EXPECT_EQ(others, 3 * most_repeats);
  EXPECT_NE(text.find("said 10 times"), std::string::npos);
}

TEST(Log, UnsupportedSaysItsName) {
  ::testing::internal::CaptureStderr();
  unsupported("cuFoo");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cuFoo"), std::string::npos);
}

}  // namespace
}  // namespace limen::log
