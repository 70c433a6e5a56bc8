// Kernel printf text to stdout. Formatting is the engine's work; this keeps order and bounds.
// Thread rule: see the header.
#include "drivers/cpu/print.h"

#include <cstdio>

namespace limen::cpu {

void PrintBuffer::append(const char* text, size_t bytes) {
  std::lock_guard lock(mutex_);
  used_.store(true, std::memory_order_relaxed);
  text_.append(text, bytes);
  size_t limit = limit_.load(std::memory_order_relaxed);
  // Dropping in large steps keeps a flood of output linear.
  if (text_.size() > 2 * limit + 4096) text_.erase(0, text_.size() - limit);
  pending_.store(true, std::memory_order_release);
}

void PrintBuffer::flush() {
  if (!pending_.load(std::memory_order_acquire)) return;
  std::lock_guard order(write_mutex_);
  std::string text;
  {
    std::lock_guard lock(mutex_);
    text.swap(text_);
    pending_.store(false, std::memory_order_relaxed);
  }
  size_t limit = limit_.load(std::memory_order_relaxed);
  size_t skip = text.size() > limit ? text.size() - limit : 0;
  fwrite(text.data() + skip, 1, text.size() - skip, stdout);
  fflush(stdout);
}

void PrintBuffer::reset() {
  std::lock_guard lock(mutex_);
  text_.clear();
  pending_.store(false);
  used_.store(false);
  limit_.store(default_limit_bytes);
}

}  // namespace limen::cpu
