// `limen run`'s words: what is an option, what belongs to the program, which values are refused.
#include "tools/options.h"

#include <gtest/gtest.h>

namespace limen::tools {
namespace {

TEST(Options, FirstWordThatIsNoOptionBeginsTheCommand) {
  auto options = parse_run_options({"--cc", "8.0", "program", "--cc", "9.0"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->command, (std::vector<std::string>{"program", "--cc", "9.0"}));
  ASSERT_EQ(options->variables.size(), 1u);
  EXPECT_EQ(options->variables[0], (std::pair<std::string, std::string>{"LIMEN_CC", "8.0"}));
}

TEST(Options, TwoDashesEndTheOptions) {
  auto options = parse_run_options({"--", "--program"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->command, (std::vector<std::string>{"--program"}));
}

TEST(Options, AnEmptyValueIsNotAMissingOne) {
  EXPECT_EQ(parse_run_options({"--cache=", "p"}).error().what, "--cache takes a folder, not ''");
  EXPECT_EQ(parse_run_options({"--cache"}).error().what, "--cache needs a value");
}

TEST(Options, Sizes) {
  for (const char* size : {"1", "1.5G", "512M", "8G", "8g", "1GiB", "3GB", "10K", "2T", "100B"})
    EXPECT_TRUE(parse_run_options({"--memory", size, "p"}).ok()) << size;
  for (const char* size : {"", "M", "8X", "8GG", "-1", "8 G", "99999999999999999999"})
    EXPECT_FALSE(parse_run_options({"--memory", size, "p"}).ok()) << size;
}

TEST(Options, EveryRowNamesAVariableOrIsTheRoute) {
  for (const OptionRow& row : run_option_rows()) {
    bool variable = std::string(row.variable).rfind("LIMEN_", 0) == 0;
    EXPECT_TRUE(variable || std::string(row.name) == "--route") << row.name;
  }
}

}  // namespace
}  // namespace limen::tools
