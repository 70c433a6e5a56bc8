// cuLogs* and the ring behind them. See logs.h.
// Form of an entry: "[time][thread][CUDA][E] text", as in NVIDIA's log.
// source: CUDA C++ Programming Guide 13.0, "Error Log Management". Thread rule: see logs.h.
#include "drivers/cpu/logs.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/call.h"

namespace limen::cpu {

namespace {

/// source: CUDA Driver API 13.0, cuLogsDumpToMemory: "the maximum size of the buffer is 25600".
constexpr size_t most_bytes = 25600;

struct Listener {
  uintptr_t number;  ///< and handle
  CUlogsCallback call;
  void* data;
};

struct ErrorLog {
  std::mutex mutex;
  std::deque<std::string> entries;
  size_t bytes = 0;    ///< of all entries, with their line ends
  uint32_t first = 0;  ///< number of entries.front()
  std::vector<Listener> listeners;
  uintptr_t registered = 0;  ///< all that ever were
  int file = -1;             ///< of CUDA_LOG_FILE
};
ErrorLog& error_log() {
  static auto* made = new ErrorLog;
  return *made;
}

/// Set while this thread's callbacks run: what fails in there is kept, but not told again.
thread_local bool telling = false;

struct ErrorName {
  unsigned code;
  const char* name;
};
constexpr ErrorName error_names[] = {
#include "drivers/cpu/error_names.inc"
};

const char* name_of(CUresult result) {
  for (const ErrorName& one : error_names)
    if (one.code == result) return one.name;
  return "unknown";
}

std::string make_entry(CUlogLevel level, std::string_view text) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  std::string entry = fmt::format("[{:02}:{:02}:{:02}.{:03}][{}][CUDA][{}] ", local.tm_hour,
                                  local.tm_min, local.tm_sec, now.tv_nsec / 1000000,
                                  syscall(SYS_gettid), level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
  for (char c : text.substr(0, most_bytes / 4)) entry += c == '\n' ? ' ' : c;
  return entry;
}

void keep(CUlogLevel level, std::string_view text) {
  std::string entry = make_entry(level, text);
  std::vector<Listener> listeners;
  {
    ErrorLog& log = error_log();
    std::lock_guard lock(log.mutex);
    log.bytes += entry.size() + 1;
    log.entries.push_back(entry);
    while (log.bytes > most_bytes) {
      log.bytes -= log.entries.front().size() + 1;
      log.entries.pop_front();
      ++log.first;
    }
    listeners = log.listeners;
    if (log.file >= 0) {
      const std::string line = entry + '\n';
      [[maybe_unused]] ssize_t done = ::write(log.file, line.data(), line.size());
    }
  }
  if (telling || listeners.empty()) return;
  telling = true;
  for (Listener& one : listeners) one.call(one.data, level, entry.data(), entry.size());
  telling = false;
}

void take_line(log::Level level, std::string_view text) {
  keep(level == log::Level::error ? CU_LOG_LEVEL_ERROR : CU_LOG_LEVEL_WARNING, text);
}

int open_log_file() {
  const char* name = std::getenv("CUDA_LOG_FILE");
  if (!name || !*name) return -1;
  if (std::strcmp(name, "stdout") == 0) return STDOUT_FILENO;
  if (std::strcmp(name, "stderr") == 0) return STDERR_FILENO;
  return ::open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/// Entries from `from` on that fit `room` bytes, the latest kept, with a note where some are left
/// out. Empty: there are none; false: not even one fits.
bool collect(uint32_t from, size_t room, std::string* out, uint32_t* next) {
  ErrorLog& log = error_log();
  std::lock_guard lock(log.mutex);
  const uint32_t end = log.first + static_cast<uint32_t>(log.entries.size());
  *next = end;
  // Numbers may wrap: what lies behind the ring's beginning has been overwritten.
  const bool overwritten = static_cast<int32_t>(from - log.first) < 0;
  const uint32_t begin = overwritten ? log.first : from;
  if (begin == end || static_cast<int32_t>(end - begin) < 0) return true;
  const std::string note = "[CUDA] Earlier messages are left out\n";
  size_t bytes = 0;
  for (uint32_t i = begin; i != end; ++i) bytes += log.entries[i - log.first].size() + 1;
  uint32_t at = begin;
  bool cut = overwritten;
  if (bytes + (cut ? note.size() : 0) > room) {
    cut = true;
    while (at != end && bytes + note.size() > room) {
      bytes -= log.entries[at - log.first].size() + 1;
      ++at;
    }
    if (at == end) return false;
  }
  if (cut) *out += note;
  for (; at != end; ++at) *out += log.entries[at - log.first] + '\n';
  return true;
}

bool write_whole(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

/// Number of the oldest entry kept.
uint32_t first_entry() {
  std::lock_guard lock(error_log().mutex);
  return error_log().first;
}

}  // namespace

void start_error_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    error_log().file = open_log_file();
    log::set_sink(take_line);
  });
}

void detail::note_failure(const char* function, CUresult result) {
  if (result == CUDA_ERROR_NOT_READY) return;  // an answer, not a failure
  keep(CU_LOG_LEVEL_ERROR, fmt::format("Returning {} ({}) from {}", static_cast<int>(result),
                                       name_of(result), function));
}

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData,
                                CUlogsCallbackHandle* callback_out) {
  if (!callbackFunc) return CUDA_ERROR_INVALID_VALUE;
  ErrorLog& log = error_log();
  std::lock_guard lock(log.mutex);
  log.listeners.push_back({++log.registered, callbackFunc, userData});
  if (callback_out) *callback_out = reinterpret_cast<CUlogsCallbackHandle>(log.registered);
  return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
  const auto number = reinterpret_cast<uintptr_t>(callback);
  ErrorLog& log = error_log();
  std::lock_guard lock(log.mutex);
  if (!number || number > log.registered) return CUDA_ERROR_INVALID_VALUE;
  // Again is no error: measured H200, driver 580.159.04.
  std::erase_if(log.listeners, [&](const Listener& one) { return one.number == number; });
  return CUDA_SUCCESS;
}

// Flags are looked at by cuLogsDumpToMemory only: measured H200, driver 580.159.04.
CUresult cuLogsCurrent(CUlogIterator* iterator_out, unsigned int) {
  if (!iterator_out) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(error_log().mutex);
  *iterator_out = error_log().first + static_cast<uint32_t>(error_log().entries.size());
  return CUDA_SUCCESS;
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile, unsigned int) {
  if (!pathToFile) return CUDA_ERROR_INVALID_VALUE;
  const int file = ::open(pathToFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  uint32_t next;
  collect(iterator ? *iterator : first_entry(), 2 * most_bytes, &text, &next);
  const bool written = write_whole(file, text);
  close(file);
  if (!written) return CUDA_ERROR_INVALID_VALUE;
  if (iterator) *iterator = next;
  return CUDA_SUCCESS;
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                            unsigned int flags) {
  if (!buffer || !size || flags) return CUDA_ERROR_INVALID_VALUE;
  const size_t room = *size;
  *size = 0;
  if (!room) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  uint32_t next;
  if (!collect(iterator ? *iterator : first_entry(), room - 1, &text, &next))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  if (iterator) *iterator = next;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
