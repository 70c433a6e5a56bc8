// Which PTX a device gets.
#include <gtest/gtest.h>

#include "build.h"
#include "compiler/fatbin/fatbin.h"

namespace limen::fatbin {
namespace {

using test::EntrySpec;

Result<Choice> choose(const std::vector<EntrySpec>& entries, uint32_t sm) {
  static std::string bytes;
  bytes = test::fatbin(entries);
  auto image = parse_memory(bytes.data(), bytes.size());
  if (!image) return image.take_error();
  return choose_ptx(*image, sm);
}

EntrySpec ptx_for(uint32_t sm, char suffix = 0) {
  uint64_t flags = suffix == 'a' ? 0x100011 : suffix == 'f' ? 0x200011 : 0x11;
  return {.kind = 1, .sm = sm, .flags = flags, .payload = test::ptx()};
}

TEST(Choose, RunsOn) {
  EXPECT_TRUE(ptx_runs_on(75, 0, 120));
  EXPECT_TRUE(ptx_runs_on(120, 0, 120));
  EXPECT_FALSE(ptx_runs_on(121, 0, 120));
  EXPECT_FALSE(ptx_runs_on(90, 'a', 120));
  EXPECT_TRUE(ptx_runs_on(90, 'a', 90));
  EXPECT_TRUE(ptx_runs_on(100, 'f', 103));
  EXPECT_FALSE(ptx_runs_on(103, 'f', 100));
  EXPECT_FALSE(ptx_runs_on(100, 'f', 120));
}

TEST(Choose, NewestThatRuns) {
  auto choice = choose({ptx_for(50), ptx_for(90), ptx_for(80), ptx_for(121)}, 120);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->entries, std::vector<uint32_t>{1});
  choice = choose({ptx_for(120, 'a'), ptx_for(120), ptx_for(120, 'f')}, 120);
  EXPECT_EQ(choice->entries, std::vector<uint32_t>{1});
  choice = choose({ptx_for(90), ptx_for(120, 'f')}, 121);
  EXPECT_EQ(choice->entries, std::vector<uint32_t>{1});
  choice = choose({ptx_for(90, 'a'), ptx_for(90)}, 120);
  EXPECT_EQ(choice->entries, std::vector<uint32_t>{1});
}

TEST(Choose, RefusalsNameWhatIsThere) {
  auto choice = choose({{.kind = 2, .sm = 80, .payload = test::cubin()},
                        {.kind = 2, .sm = 90, .flags = 0x100011, .payload = test::cubin()},
                        {.kind = 2, .sm = 80, .payload = test::cubin()},
                        ptx_for(121)},
                       120);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.code(), Code::no_binary_for_gpu);
  EXPECT_EQ(choice.error().what,
            "no PTX that runs on sm_120: the image holds sm_80 and sm_90a machine code, PTX for "
            "compute_121");
}

}  // namespace
}  // namespace limen::fatbin
