// Making and opening handles between processes. Thread rule: see the header.
#include "drivers/cpu/memory/process_handle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/log.h"

namespace limen::cpu {

namespace {

/// State and start time of /proc/PID/stat; false when there is no such process.
bool read_stat(int process, char* state, uint64_t* started) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return false;
  // The name in parentheses may hold anything: fields are counted behind it.
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string word;
  rest >> *state;
  for (int field = 4; field < 22; ++field) rest >> word;
  return static_cast<bool>(rest >> *started);
}

}  // namespace

uint64_t start_time_of(int process) {
  char state;
  uint64_t started = 0;
  return read_stat(process, &state, &started) ? started : 0;
}

bool is_gone(int process, uint64_t started) {
  if (kill(process, 0) != 0 && errno == ESRCH) return true;
  char state;
  uint64_t found = 0;
  if (!read_stat(process, &state, &found)) return false;
  return state == 'Z' || state == 'X' || (started && started != found);
}

uint64_t ProcessHandle::expected_sum() const {
  uint64_t hash = static_cast<uint64_t>(kind);
  for (uint64_t word : {uint64_t(uint32_t(process)), started, uint64_t(uint32_t(descriptor)),
                        uint64_t{lead}, inode, offset, bytes, block_id})
    hash = (hash ^ word) * 0x100000001b3u;
  return hash;
}

ProcessHandle ProcessHandle::make(Kind kind, const SharedFile& file) {
  ProcessHandle handle;
  handle.kind = kind;
  handle.process = getpid();
  handle.started = start_time_of(handle.process);
  handle.descriptor = file.descriptor();
  struct stat status {};
  if (fstat(file.descriptor(), &status) == 0) handle.inode = status.st_ino;
  return handle;
}

CUresult ProcessHandle::open(Kind wanted, std::shared_ptr<SharedFile>* file) const {
  if (kind != wanted || sum != expected_sum()) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t now = start_time_of(process);
  if (now == started && process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  if (now != started) return CUDA_ERROR_INVALID_HANDLE;
  const std::string path = fmt::format("/proc/{}/fd/{}", process, descriptor);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    log::warn("cannot open shared memory of process %d: %s", process, std::strerror(errno));
    return CUDA_ERROR_INVALID_HANDLE;
  }
  struct stat status {};
  constexpr int least_seals = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(opened, F_GET_SEALS);
  const bool same = fstat(opened, &status) == 0 && status.st_ino == inode && seals >= 0 &&
                    (seals & least_seals) == least_seals;
  if (same) *file = SharedFile::adopt(opened, offset + lead + bytes);
  if (same && *file) return CUDA_SUCCESS;
  close(opened);
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace limen::cpu
