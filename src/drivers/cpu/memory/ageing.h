// Ageing: the thread that lets go of freed pages which nobody wanted again (see freed.cpp). It
// starts when something is first freed, sleeps while nothing waits, and is never joined.
// Invariant: watched allocators live as long as the process. Thread rule: any thread.
#pragma once
#include <condition_variable>
#include <mutex>
#include <vector>

#include "drivers/cpu/memory/allocator.h"

namespace limen::cpu {

class Ageing {
 public:
  /// Before anything can be freed.
  void watch(Allocator& allocator) { watched_.push_back(&allocator); }
  /// Freed pages wait somewhere.
  void wake();

 private:
  void run();

  std::vector<Allocator*> watched_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool started_ = false, work_ = false;
};

}  // namespace limen::cpu
