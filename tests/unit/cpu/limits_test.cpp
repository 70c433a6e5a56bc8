// Memory limits read from made-up /proc and cgroup trees: versions 1 and 2, nested, with cache.
#include "drivers/cpu/memory/limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace limen::cpu {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

class LimitsTest : public testing::Test {
 protected:
  LimitsTest() {
    root_ = std::filesystem::temp_directory_path() /
            ("limen_limits_" + std::to_string(getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    files_ = {root_ / "proc", root_ / "cgroup"};
    write("proc/meminfo",
          "MemTotal:     8388608 kB\nMemFree:  1024 kB\nMemAvailable: 4194304 kB\n");
  }
  ~LimitsTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  uint64_t machine() { return machine_memory_bytes(files_); }
  uint64_t available() { return available_memory_bytes(files_); }

  std::filesystem::path root_;
  LimitFiles files_;
};

TEST_F(LimitsTest, without_cgroups_the_machine_counts) {
  EXPECT_EQ(machine(), 8192 * mib);
  EXPECT_EQ(available(), 4096 * mib);
}

TEST_F(LimitsTest, version_2_takes_the_tightest_level) {
  write("proc/self/cgroup", "0::/slice/service/leaf\n");
  write("cgroup/slice/memory.max", std::to_string(2048 * mib));
  write("cgroup/slice/memory.current", std::to_string(1536 * mib));
  write("cgroup/slice/service/memory.max", std::to_string(1024 * mib));
  write("cgroup/slice/service/memory.current", std::to_string(100 * mib));
  write("cgroup/slice/service/leaf/memory.max", "max\n");
  EXPECT_EQ(machine(), 1024 * mib);
  // The outer level has less left than the inner one, though its limit is higher.
  EXPECT_EQ(available(), 512 * mib);
}

TEST_F(LimitsTest, version_2_at_the_root_of_a_container) {
  write("proc/self/cgroup", "0::/\n");
  write("cgroup/memory.max", std::to_string(512 * mib));
  write("cgroup/memory.current", std::to_string(200 * mib));
  EXPECT_EQ(machine(), 512 * mib);
  EXPECT_EQ(available(), 312 * mib);
}

TEST_F(LimitsTest, cache_that_can_be_dropped_is_free) {
  write("proc/self/cgroup", "0::/job\n");
  write("cgroup/job/memory.max", std::to_string(1000 * mib));
  write("cgroup/job/memory.current", std::to_string(900 * mib));
  write("cgroup/job/memory.stat",
        "anon 1\nfile 2\ninactive_anon 77\ninactive_file " + std::to_string(600 * mib) + "\n");
  EXPECT_EQ(available(), 700 * mib);
}

TEST_F(LimitsTest, version_1_by_controller_and_path) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/docker/abc\n1:name=systemd:/x\n");
  write("cgroup/memory/docker/abc/memory.limit_in_bytes", std::to_string(256 * mib));
  write("cgroup/memory/docker/abc/memory.usage_in_bytes", std::to_string(56 * mib));
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(machine(), 256 * mib);
  EXPECT_EQ(available(), 200 * mib);
}

TEST_F(LimitsTest, version_1_where_only_the_root_is_mounted) {
  write("proc/self/cgroup", "4:memory:/docker/abc\n");
  write("cgroup/memory/memory.limit_in_bytes", std::to_string(300 * mib));
  write("cgroup/memory/memory.usage_in_bytes", std::to_string(100 * mib));
  EXPECT_EQ(machine(), 300 * mib);
  EXPECT_EQ(available(), 200 * mib);
}

TEST_F(LimitsTest, use_above_the_limit_leaves_nothing) {
  write("proc/self/cgroup", "0::/job\n");
  write("cgroup/job/memory.max", std::to_string(100 * mib));
  write("cgroup/job/memory.current", std::to_string(130 * mib));
  EXPECT_EQ(available(), 0u);
}

}  // namespace
}  // namespace limen::cpu
