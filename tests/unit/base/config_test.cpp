// The readers of LIMEN_* values, and the table of variables.
#include "base/config.h"

#include <gtest/gtest.h>

#include <string>

namespace limen {
namespace {

TEST(Config, Sizes) {
  uint64_t bytes = 1;
  EXPECT_TRUE(parse_size("4096", bytes));
  EXPECT_EQ(bytes, 4096u);
  EXPECT_TRUE(parse_size("512M", bytes));
  EXPECT_EQ(bytes, 512ull << 20);
  EXPECT_TRUE(parse_size("1.5G", bytes));
  EXPECT_EQ(bytes, 3ull << 29);
  EXPECT_TRUE(parse_size("8GiB", bytes));
  EXPECT_EQ(bytes, 8ull << 30);
  EXPECT_TRUE(parse_size("2TB", bytes));
  EXPECT_EQ(bytes, 2ull << 40);
  for (const char* bad : {"", "G", "-1", "1X", "1 G", "nan", "1e40", "99999999T"}) {
    EXPECT_FALSE(parse_size(bad, bytes)) << bad;
  }
}

TEST(Config, ComputeCapabilities) {
  ComputeCapability cc;
  EXPECT_TRUE(parse_compute_capability("12.0", cc));
  EXPECT_EQ(cc.major, 12);
  EXPECT_EQ(cc.minor, 0);
  EXPECT_TRUE(parse_compute_capability("86", cc));
  EXPECT_EQ(cc.major, 8);
  EXPECT_EQ(cc.minor, 6);
  EXPECT_TRUE(parse_compute_capability("120", cc));
  EXPECT_EQ(cc.major, 12);
  for (const char* bad : {"", "x", "8.", ".6", "8.6.1", "8.10", "0.1", "-8.0"}) {
    EXPECT_FALSE(parse_compute_capability(bad, cc)) << bad;
  }
}

TEST(Config, IllFormedValuesKeepTheDefault) {
  setenv("LIMEN_CC", "eight", 1);
  setenv("LIMEN_STRATEGY", "fast", 1);
  setenv("LIMEN_THREADS", "3", 1);
  setenv("LIMEN_CACHE_SIZE", "1M", 1);
  ::testing::internal::CaptureStderr();
  const Config& values = config();
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(values.cc.major, 12);
  EXPECT_EQ(values.strategy, "auto");
  EXPECT_EQ(values.threads, 3);
  EXPECT_EQ(values.cache_size, 1u << 20);
  EXPECT_EQ(values.driver_version, 13000);
  EXPECT_NE(said.find("LIMEN_CC=eight"), std::string::npos) << said;
  EXPECT_NE(said.find("LIMEN_STRATEGY=fast"), std::string::npos) << said;
  EXPECT_EQ(&values, &config());
}

TEST(Config, EveryVariableHasAMeaning) {
  EXPECT_GE(config_variables().size(), 12u);
  for (const ConfigVariable& variable : config_variables()) {
    EXPECT_TRUE(std::string_view(variable.name).starts_with("LIMEN_"));
    EXPECT_TRUE(std::string_view(variable.meaning).ends_with(".")) << variable.name;
  }
}

}  // namespace
}  // namespace limen
