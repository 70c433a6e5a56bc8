// PrintBuffer: text of kernels' printf on its way to the process's stdout. Holds the newest
// `limit` bytes, older text is lost, as in NVIDIA's ring; written out at synchronising calls.
// Thread rule: append from workers, flush from host threads; own short lock.
#pragma once
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

namespace limen::cpu {

class PrintBuffer {
 public:
  /// source: measured H200, driver 580.x, cuCtxGetLimit(CU_LIMIT_PRINTF_FIFO_SIZE).
  static constexpr size_t default_limit_bytes = 8650752;

  void append(const char* text, size_t bytes);
  /// Writes what has come so far to stdout and flushes it. Nearly free when there is nothing.
  void flush();
  size_t limit_bytes() const { return limit_.load(); }
  void set_limit(size_t bytes) { limit_.store(bytes); }
  bool used() const { return used_.load(); }
  void reset();

 private:
  std::atomic<size_t> limit_{default_limit_bytes};
  std::atomic<bool> pending_{false};
  std::atomic<bool> used_{false};
  std::mutex mutex_;
  std::mutex write_mutex_;  ///< keeps the order of two flushes
  std::string text_;
};

}  // namespace limen::cpu
