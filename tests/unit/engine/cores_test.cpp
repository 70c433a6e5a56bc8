// Core counting: affinity mask and cgroup files of both versions.
#include "engine/cores.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace limen::engine {
namespace {

class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/limen_cgroup_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(CgroupTest, Version2TakesTheSmallestOnThePath) {
  write("/cpu.max", "max 100000\n");
  write("/a/cpu.max", "250000 100000\n");
  write("/a/b/cpu.max", "800000 100000\n");
  EXPECT_EQ(cgroup_core_limit("0::/a/b\n", root_), 3u);
  EXPECT_EQ(cgroup_core_limit("0::/\n", root_), 0u);
}

TEST_F(CgroupTest, Version1Quota) {
  write("/cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n");
  write("/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_core_limit("4:memory:/y\n3:cpu,cpuacct:/x\n", root_), 1u);
  write("/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cgroup_core_limit("3:cpu,cpuacct:/x\n", root_), 0u);
}

TEST_F(CgroupTest, MissingFilesMeanNoLimit) {
  EXPECT_EQ(cgroup_core_limit("0::/nowhere\n", root_), 0u);
  EXPECT_EQ(cgroup_core_limit("", root_), 0u);
  EXPECT_EQ(cgroup_core_limit("garbage", root_), 0u);
}

TEST(Cores, AtLeastOne) {
  EXPECT_GE(allowed_cores().size(), 1u);
  EXPECT_GE(usable_cores(), 1u);
  EXPECT_LE(usable_cores(), allowed_cores().size());
}

}  // namespace
}  // namespace limen::engine
