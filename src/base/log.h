// The log: one line a message, to standard error or to the file that LIMEN_LOG names. A line is
// written with one write(2), so lines of several threads, processes and copies of this code (each
// library has its own) do not mix. Nothing here is ever destroyed; usable from atexit handlers.
// Thread rule: any thread; takes no lock. Not async-signal-safe: formatting uses the C library.
#pragma once
#include <atomic>
#include <string_view>

namespace limen::log {

enum class Level : int { off = 0, error = 1, warn = 2, info = 3, trace = 4 };

namespace detail {
extern std::atomic<int> level;  ///< -1 until LIMEN_LOG was read
int read_level();
}  // namespace detail

/// Whether a message of this level would be written. One load; test it before costly formatting.
inline bool enabled(Level level) {
  int now = detail::level.load(std::memory_order_relaxed);
  if (__builtin_expect(now < 0, 0)) now = detail::read_level();
  return static_cast<int>(level) <= now;
}

/// A line that was written so often is left out from then on, where LIMEN_LOG is `warn` or `error`.
/// The sink gets all.
inline constexpr unsigned most_repeats = 10;

/// Writes one line if `level` is enabled; the text may hold any bytes but needs no line end.
void write(Level level, std::string_view text);

/// The same, formatted as printf does.
void error(const char* format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char* format, ...) __attribute__((format(printf, 1, 2)));
void info(const char* format, ...) __attribute__((format(printf, 1, 2)));
void trace(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Hands errors and warnings also to `sink`, whatever LIMEN_LOG says; it must not log itself.
using Sink = void (*)(Level level, std::string_view text);
void set_sink(Sink sink);

/// Says that an API function is not built; written at every level but off.
void unsupported(const char* name);

/// Splits a value of LIMEN_LOG; false if its level is unknown. `path` is empty for standard error.
bool parse_log_setting(std::string_view setting, Level& level, std::string_view& path);

}  // namespace limen::log
