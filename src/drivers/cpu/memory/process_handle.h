// ProcessHandle: the 64 bytes of CUipcMemHandle and CUipcEventHandle: which process holds which
// shared file, and which part of it is meant. The file is fetched through /proc/PID/fd, which the
// kernel allows to the same user only; nothing is left behind when a process dies. Invariant: a
// handle is believed only if process, start time and file are still the ones it was made for.
// Thread rule: any thread. docs: design/memory_sharing.md
#pragma once
#include <cstdint>
#include <memory>

#include "abi/cuda_abi.h"
#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {

/// When a process started, in clock ticks after boot; 0 when there is none.
uint64_t start_time_of(int process);
/// Whether nobody will finish what the process began. One that was killed stays a zombie until its
/// parent asks for it; another one of its number started at another time (`started`; 0: not known).
bool is_gone(int process, uint64_t started);

struct ProcessHandle {
  enum class Kind : uint32_t { memory = 0x4c694d65, event = 0x4c694576 };
  Kind kind = Kind::memory;
  int32_t process = 0;
  uint64_t started = 0;  ///< of the process, in clock ticks after boot
  int32_t descriptor = -1;
  uint32_t lead = 0;
  uint64_t inode = 0;
  uint64_t offset = 0, bytes = 0;
  uint64_t block_id = 0;
  uint64_t sum = 0;

  /// Names `file`, held by this process.
  static ProcessHandle make(Kind kind, const SharedFile& file);
  void seal() { sum = expected_sum(); }
  uint64_t expected_sum() const;
  /// The file, mapped by nobody yet. errors: 1 for bytes that are no handle, 201 for a handle of
  /// this process, 400 when the process is gone, is another user's, or has closed the file.
  CUresult open(Kind kind, std::shared_ptr<SharedFile>* file) const;
};
static_assert(sizeof(ProcessHandle) == 64);

}  // namespace limen::cpu
