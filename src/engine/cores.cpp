// Counts usable cores; see cores.h. A process's quota is the smallest one on the path from its own
// cgroup up to the root, version 2 (cpu.max) and version 1 (cpu.cfs_quota_us).
#include "engine/cores.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace limen::engine {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

uint32_t cores_of(double quota, double period) {
  if (quota <= 0 || period <= 0) return 0;
  const double cores = quota / period;
  return static_cast<uint32_t>(cores) + (cores > static_cast<uint32_t>(cores) ? 1 : 0);
}

uint32_t limit_v2(const std::string& directory) {
  std::istringstream text(read_text(directory + "/cpu.max"));
  std::string quota;
  double period = 0;
  if (!(text >> quota >> period) || quota == "max") return 0;
  return cores_of(std::strtod(quota.c_str(), nullptr), period);
}

uint32_t limit_v1(const std::string& directory) {
  const double quota = std::strtod(read_text(directory + "/cpu.cfs_quota_us").c_str(), nullptr);
  const double period = std::strtod(read_text(directory + "/cpu.cfs_period_us").c_str(), nullptr);
  return cores_of(quota, period);
}

uint32_t smaller(uint32_t a, uint32_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

template <typename Limit>
uint32_t walk_up(const std::string& mount, std::string path, Limit limit) {
  uint32_t result = 0;
  for (;;) {
    result = smaller(result, limit(mount + path));
    const size_t slash = path.find_last_of('/');
    if (path.empty() || slash == std::string::npos) return result;
    path.resize(slash);
  }
}

}  // namespace

std::vector<uint32_t> allowed_cores() {
  std::vector<uint32_t> cores;
  // A machine may have more cores than cpu_set_t holds: grow until the kernel accepts the size.
  for (size_t count = 1024; count <= (1u << 20); count *= 4) {
    cpu_set_t* set = CPU_ALLOC(count);
    const size_t bytes = CPU_ALLOC_SIZE(count);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    for (size_t core = 0; known && core < count; ++core)
      if (CPU_ISSET_S(core, bytes, set)) cores.push_back(static_cast<uint32_t>(core));
    CPU_FREE(set);
    if (known) break;
  }
  if (cores.empty()) {
    const uint32_t count = std::max(1u, std::thread::hardware_concurrency());
    for (uint32_t core = 0; core < count; ++core) cores.push_back(core);
  }
  return cores;
}

uint32_t cgroup_core_limit(const std::string& proc_cgroup, const std::string& root) {
  uint32_t result = 0;
  std::istringstream lines(proc_cgroup);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) {
      result = smaller(result, walk_up(root, path, limit_v2));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      result = smaller(result, walk_up(root + "/" + controllers, path, limit_v1));
      if (controllers != "cpu") result = smaller(result, walk_up(root + "/cpu", path, limit_v1));
    }
  }
  return result;
}

uint32_t usable_cores() {
  const auto mask = static_cast<uint32_t>(allowed_cores().size());
  const uint32_t quota = cgroup_core_limit(read_text("/proc/self/cgroup"), "/sys/fs/cgroup");
  return std::max(1u, quota == 0 ? mask : std::min(mask, quota));
}

}  // namespace limen::engine
