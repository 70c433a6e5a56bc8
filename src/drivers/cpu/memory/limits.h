// How much memory the machine has and can still give, as cgroups (version 1 and 2) limit it, at
// every level above this process. What can be dropped (page cache) counts as free. Invariant: never
// more than what the OOM killer would leave. Thread rule: any thread, no state.
#pragma once
#include <cstdint>
#include <string>

namespace limen::cpu {

/// Where the files are; tests name others.
struct LimitFiles {
  std::string proc = "/proc", cgroup = "/sys/fs/cgroup";
};

/// Bytes the machine can still give without swapping or hitting a cgroup's limit.
uint64_t available_memory_bytes(const LimitFiles& files = {});
/// Memory of the machine as cgroups limit it.
uint64_t machine_memory_bytes(const LimitFiles& files = {});
/// Memory that this process holds now.
uint64_t resident_bytes(const LimitFiles& files = {});

}  // namespace limen::cpu
