// Reads /proc/meminfo and the memory files of this process's cgroups. Costs about 100 us a call, so
// the allocators ask seldom. Thread rule: see the header.
#include "drivers/cpu/memory/limits.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>

namespace limen::cpu {

namespace {

constexpr uint64_t no_limit = std::numeric_limits<uint64_t>::max();

uint64_t number_in(std::string_view text, uint64_t otherwise) {
  uint64_t value = otherwise;
  const size_t first = text.find_first_not_of(" :\t");
  if (first == std::string_view::npos) return otherwise;
  std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

uint64_t read_number(const std::string& path, uint64_t otherwise) {
  std::ifstream file(path);
  std::string text;
  return file >> text ? number_in(text, otherwise) : otherwise;
}

/// Value behind `key` at the start of a line.
uint64_t read_key(const std::string& path, std::string_view key, uint64_t otherwise) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0 && line.size() > key.size() &&
        (line[key.size()] == ':' || line[key.size()] == ' '))
      return number_in(std::string_view(line).substr(key.size()), otherwise);
  return otherwise;
}

/// What one level of a hierarchy allows.
struct Level {
  uint64_t limit = no_limit, left = no_limit;
};

struct Version {
  const char *limit, *usage, *stat_file, *cache;
};
constexpr Version first{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "/memory.stat",
                        "total_inactive_file"};
constexpr Version second{"/memory.max", "/memory.current", "/memory.stat", "inactive_file"};

Level level_at(const std::string& directory, const Version& version) {
  Level level;
  level.limit = read_number(directory + version.limit, no_limit);
  if (level.limit == no_limit) return level;
  uint64_t used = read_number(directory + version.usage, 0);
  // Cache that nobody used lately is dropped before anybody is killed.
  used -= std::min(used, read_key(directory + version.stat_file, version.cache, 0));
  level.left = level.limit - std::min(level.limit, used);
  return level;
}

/// The tightest of all levels from `path` up to the root of the hierarchy.
void tighten(const std::string& root, std::string path, const Version& version, Level* all) {
  for (;;) {
    const Level level = level_at(path == "/" ? root : root + path, version);
    all->limit = std::min(all->limit, level.limit);
    all->left = std::min(all->left, level.left);
    if (path == "/" || path.empty()) return;
    path.resize(path.rfind('/'));
    if (path.empty()) path = "/";
  }
}

/// Whether a comma-separated list of controllers names memory.
bool names_memory(std::string_view list) {
  for (size_t at = 0; at <= list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    if (list.substr(at, end - at) == "memory") return true;
    at = end + 1;
  }
  return false;
}

Level cgroup_memory(const LimitFiles& files) {
  Level all;
  std::ifstream file(files.proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // "hierarchy:controllers:path"; a path above a container's root starts with "/..".
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (one == std::string::npos || two == std::string::npos) continue;
    const std::string controllers = line.substr(one + 1, two - one - 1);
    std::string path = line.substr(two + 1);
    if (path.empty() || path[0] != '/' || path.rfind("/..", 0) == 0) path = "/";
    if (controllers.empty()) {
      tighten(files.cgroup, path, second, &all);
      tighten(files.cgroup + "/unified", path, second, &all);
    } else if (names_memory(controllers)) {
      tighten(files.cgroup + "/memory", path, first, &all);
    }
  }
  return all;
}

}  // namespace

uint64_t machine_memory_bytes(const LimitFiles& files) {
  const uint64_t total = read_key(files.proc + "/meminfo", "MemTotal", 0) * 1024;
  return std::min(total, cgroup_memory(files).limit);
}

uint64_t available_memory_bytes(const LimitFiles& files) {
  const uint64_t free = read_key(files.proc + "/meminfo", "MemAvailable", 0) * 1024;
  return std::min(free, cgroup_memory(files).left);
}

uint64_t resident_bytes(const LimitFiles& files) {
  std::ifstream file(files.proc + "/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace limen::cpu
