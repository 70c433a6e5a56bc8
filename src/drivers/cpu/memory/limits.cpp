// Reads /proc/meminfo and the memory files of this process's cgroups. Costs some 30 us a call, so
// the allocators ask seldom. Thread rule: see the header.
#include "drivers/cpu/memory/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace limen::cpu {

namespace {

constexpr uint64_t no_limit = std::numeric_limits<uint64_t>::max();

/// A small file's text. Files of /proc and cgroups are made as they are read: one read has it all.
class Text {
 public:
  explicit Text(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t got;
    while (size_ < sizeof bytes_ && (got = read(file, bytes_ + size_, sizeof bytes_ - size_)) > 0)
      size_ += static_cast<size_t>(got);
    close(file);
  }
  std::string_view all() const { return {bytes_, size_}; }
  /// The next line, without its end; false after the last.
  bool line(std::string_view* out) {
    if (at_ >= size_) return false;
    *out = all().substr(at_);
    *out = out->substr(0, out->find('\n'));
    at_ += out->size() + 1;
    return true;
  }

 private:
  char bytes_[16384];
  size_t size_ = 0, at_ = 0;
};

uint64_t number_in(std::string_view text, uint64_t otherwise) {
  uint64_t value = otherwise;
  const size_t first = text.find_first_not_of(" :\t");
  if (first == std::string_view::npos) return otherwise;
  std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

uint64_t read_number(const std::string& path, uint64_t otherwise) {
  return number_in(Text(path).all(), otherwise);
}

/// Value behind `key` at the start of a line.
uint64_t read_key(const std::string& path, std::string_view key, uint64_t otherwise) {
  Text text(path);
  for (std::string_view line; text.line(&line);)
    if (line.starts_with(key) && line.size() > key.size() &&
        (line[key.size()] == ':' || line[key.size()] == ' '))
      return number_in(line.substr(key.size()), otherwise);
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

/// What the machine has and could give, whatever cgroups say.
struct Machine {
  uint64_t total, free;
};
Machine machine_memory(const LimitFiles& files) {
  Machine machine{0, 0};
  Text text(files.proc + "/meminfo");
  for (std::string_view line; text.line(&line);) {
    if (line.starts_with("MemTotal:")) machine.total = number_in(line.substr(9), 0) * 1024;
    if (line.starts_with("MemAvailable:")) machine.free = number_in(line.substr(13), 0) * 1024;
  }
  return machine;
}

Level level_at(const std::string& directory, const Version& version, const Machine& machine) {
  Level level;
  level.limit = read_number(directory + version.limit, no_limit);
  if (level.limit >= machine.total) return level;  // the machine's memory ends before
  uint64_t used = read_number(directory + version.usage, 0);
  if (level.limit - std::min(level.limit, used) < machine.free)
    // Cache that nobody used lately is dropped before anybody is killed.
    used -= std::min(used, read_key(directory + version.stat_file, version.cache, 0));
  level.left = level.limit - std::min(level.limit, used);
  return level;
}

/// The tightest of all levels from `path` up to the root of the hierarchy.
void tighten(const std::string& root, std::string path, const Version& version,
             const Machine& machine, Level* all) {
  for (;;) {
    const Level level = level_at(path == "/" ? root : root + path, version, machine);
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

Level cgroup_memory(const LimitFiles& files, const Machine& machine) {
  Level all;
  Text text(files.proc + "/self/cgroup");
  for (std::string_view line; text.line(&line);) {
    // "hierarchy:controllers:path"; a path above a container's root starts with "/..".
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (one == std::string_view::npos || two == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(one + 1, two - one - 1);
    std::string path(line.substr(two + 1));
    if (path.empty() || path[0] != '/' || path.starts_with("/..")) path = "/";
    if (controllers.empty()) {
      tighten(files.cgroup, path, second, machine, &all);
      tighten(files.cgroup + "/unified", path, second, machine, &all);
    } else if (names_memory(controllers)) {
      tighten(files.cgroup + "/memory", path, first, machine, &all);
    }
  }
  return all;
}

}  // namespace

uint64_t machine_memory_bytes(const LimitFiles& files) {
  const Machine machine = machine_memory(files);
  return std::min(machine.total, cgroup_memory(files, machine).limit);
}

uint64_t available_memory_bytes(const LimitFiles& files) {
  const Machine machine = machine_memory(files);
  return std::min(machine.free, cgroup_memory(files, machine).left);
}

uint64_t resident_bytes(const LimitFiles& files) {
  const Text text(files.proc + "/self/statm");
  const std::string_view second =
      text.all().substr(std::min(text.all().find(' '), text.all().size()));
  return number_in(second, 0) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace limen::cpu
