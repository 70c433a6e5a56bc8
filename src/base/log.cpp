// See log.h. The state is an atomic level and a file descriptor, both constant-initialised. A long
// line grows on the heap; the usual one stays on the stack.
#include "base/log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>

#include "base/config.h"

namespace limen::log {

namespace detail {
constinit std::atomic<int> level{-1};
}

namespace {

constinit std::atomic<int> log_fd{STDERR_FILENO};
constinit std::atomic<Sink> log_sink{nullptr};
constexpr const char* level_names[] = {"off", "error", "warn", "info", "trace"};

void write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t done = ::write(fd, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;  // a closed or full log must not stop the program
    data += done;
    size -= static_cast<size_t>(done);
  }
}

void write_line(Level level, std::string_view text) {
  char head[64];
  int head_size = 0;
  if (level == Level::trace) {
    head_size = std::snprintf(head, sizeof head, "limen: [%d.%ld] ", getpid(), syscall(SYS_gettid));
  } else {
    head_size =
        std::snprintf(head, sizeof head, "limen: %s: ", level_names[static_cast<int>(level)]);
  }
  while (text.ends_with('\n')) text.remove_suffix(1);
  char stack[1024];
  std::string heap;
  size_t size = static_cast<size_t>(head_size) + text.size() + 1;
  char* line = stack;
  if (size > sizeof stack) {
    heap.resize(size);
    line = heap.data();
  }
  std::memcpy(line, head, static_cast<size_t>(head_size));
  std::memcpy(line + head_size, text.data(), text.size());
  line[size - 1] = '\n';
  write_all(log_fd.load(std::memory_order_relaxed), line, size);
}

Sink sink_for(Level level) {
  return level <= Level::warn ? log_sink.load(std::memory_order_acquire) : nullptr;
}

/// How often a text was written, by its hash. Another text of the same place begins anew, so a text
/// may come more often than it should, never less.
struct Said {
  std::atomic<uint64_t> hash{0};
  std::atomic<uint32_t> times{0};
};
constinit Said said[256];

uint32_t times_said(std::string_view text) {
  const uint64_t hash = std::hash<std::string_view>{}(text);
  Said& place = said[hash % std::size(said)];
  if (place.hash.exchange(hash, std::memory_order_relaxed) != hash)
    place.times.store(0, std::memory_order_relaxed);
  return place.times.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// A program that meets the same error in every call is told a few times, unless it asked for more
/// than warnings.
void write_limited(Level level, std::string_view text) {
  const uint32_t times = enabled(Level::info) ? 1 : times_said(text);
  if (times < most_repeats) write_line(level, text);
  if (times == most_repeats)
    write_line(level, std::string(text) + " [said " + std::to_string(times) +
                          " times; further ones are left out, LIMEN_LOG=info shows them]");
}

void write_text(Level level, std::string_view text) {
  if (enabled(level)) write_limited(level, text);
  if (Sink sink = sink_for(level)) sink(level, text);
}

void write_format(Level level, const char* format, va_list args) {
  if (!enabled(level) && !sink_for(level)) return;
  char stack[1024];
  va_list again;
  va_copy(again, args);
  int size = std::vsnprintf(stack, sizeof stack, format, args);
  if (size >= static_cast<int>(sizeof stack)) {
    std::string heap(static_cast<size_t>(size) + 1, '\0');
    std::vsnprintf(heap.data(), heap.size(), format, again);
    heap.resize(static_cast<size_t>(size));
    write_text(level, heap);
  } else if (size >= 0) {
    write_text(level, {stack, static_cast<size_t>(size)});
  }
  va_end(again);
}

}  // namespace

bool parse_log_setting(std::string_view setting, Level& level, std::string_view& path) {
  size_t colon = setting.find(':');
  path = colon == std::string_view::npos ? std::string_view() : setting.substr(colon + 1);
  std::string_view name = setting.substr(0, colon);
  for (int i = 0; i < 5; ++i) {
    if (name == level_names[i]) {
      level = static_cast<Level>(i);
      return true;
    }
  }
  return false;
}

int detail::read_level() {
  Level chosen = Level::warn;
  std::string_view path;
  const std::string& setting = config().log;
  if (!parse_log_setting(setting, chosen, path)) {
    if (tells_of_configuration())
      write_line(Level::error,
                 "LIMEN_LOG=" + setting +
                     " does not begin with off, error, warn, info or trace; using warn");
    chosen = Level::warn;
    path = {};
  }
  if (!path.empty() && log_fd.load() == STDERR_FILENO) {
    int fd = ::open(std::string(path).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const int why = errno;
    if (fd >= 0)
      log_fd.store(fd);
    else if (tells_of_configuration())
      write_line(Level::error, "LIMEN_LOG: cannot open " + std::string(path) + ": " +
                                   std::strerror(why) + "; using standard error");
  }
  level.store(static_cast<int>(chosen));
  return static_cast<int>(chosen);
}

void write(Level level, std::string_view text) { write_text(level, text); }

void set_sink(Sink sink) { log_sink.store(sink, std::memory_order_release); }

#define LIMEN_LOG_FUNCTION(name)             \
  void name(const char* format, ...) {       \
    va_list args;                            \
    va_start(args, format);                  \
    write_format(Level::name, format, args); \
    va_end(args);                            \
  }
LIMEN_LOG_FUNCTION(error)
LIMEN_LOG_FUNCTION(warn)
LIMEN_LOG_FUNCTION(info)
LIMEN_LOG_FUNCTION(trace)
#undef LIMEN_LOG_FUNCTION

void unsupported(const char* name) {
  if (!enabled(Level::error)) return;
  write_line(Level::warn, std::string(name) + " is not supported yet (CUDA_ERROR_NOT_SUPPORTED)");
}

}  // namespace limen::log
