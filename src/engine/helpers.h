// Helper threads for host-side tasks that may block or that no worker is free for. Grows when no
// helper is idle, so one blocked task never holds up another; idle helpers end after some seconds.
// Invariant: every queued task has a helper of its own coming for it, up to the limit.
// Thread rule: any thread may submit.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace limen::engine {

class Helpers {
 public:
  Helpers() = default;
  ~Helpers();  ///< waits for all tasks
  void submit(std::function<void()> task);

 private:
  void serve();
  std::mutex mutex_;
  std::condition_variable wake_, gone_;
  std::deque<std::function<void()>> tasks_;
  uint32_t idle_ = 0;
  uint32_t running_ = 0;
  bool stopping_ = false;
};

}  // namespace limen::engine
