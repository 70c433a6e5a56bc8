// How many cores this process may use: affinity mask and cgroup quota. Reads files, changes
// nothing. Thread rule: any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace limen::engine {

/// Core numbers of the affinity mask, ascending; at least one.
std::vector<uint32_t> allowed_cores();

/// Cores worth of quota a cgroup grants, rounded up; 0 means no limit.
/// `proc_cgroup` is the text of /proc/self/cgroup, `root` where cgroup file systems are mounted.
uint32_t cgroup_core_limit(const std::string& proc_cgroup, const std::string& root);

/// Threads a pool starts by default: min(affinity mask, cgroup quota), at least 1.
uint32_t usable_cores();

}  // namespace limen::engine
