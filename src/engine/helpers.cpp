// Elastic threads for blocking tasks; see helpers.h.
#include "engine/helpers.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace limen::engine {
namespace {
constexpr uint32_t most_helpers = 1024;
constexpr auto idle_time = std::chrono::seconds(5);

/// New threads inherit the mask: asynchronous signals stay with the program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t mask;
    sigfillset(&mask);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&mask, signal);
    pthread_sigmask(SIG_SETMASK, &mask, &old_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};
}  // namespace

Helpers::~Helpers() {
  std::unique_lock hold(mutex_);
  stopping_ = true;
  wake_.notify_all();
  gone_.wait(hold, [&] { return running_ == 0; });
}

void Helpers::submit(std::function<void()> task) {
  std::unique_lock hold(mutex_);
  tasks_.push_back(std::move(task));
  if (idle_ >= tasks_.size() || running_ >= most_helpers) {
    wake_.notify_one();
    return;
  }
  ++running_;
  hold.unlock();
  try {
    SignalsBlocked blocked;
    std::thread([this] { serve(); }).detach();
  } catch (const std::system_error&) {
    // No thread to be had: the task stays queued for the helpers there are.
    hold.lock();
    --running_;
    wake_.notify_one();
    if (running_ != 0 || tasks_.empty()) return;
    std::function<void()> own = std::move(tasks_.front());
    tasks_.pop_front();
    hold.unlock();
    own();
  }
}

void Helpers::serve() {
  pthread_setname_np(pthread_self(), "limen-helper");
  std::unique_lock hold(mutex_);
  for (;;) {
    while (!tasks_.empty()) {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      hold.unlock();
      task();
      task = nullptr;
      hold.lock();
    }
    if (stopping_) break;
    ++idle_;
    const bool work = wake_.wait_for(hold, idle_time, [&] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (!work) break;
  }
  --running_;
  gone_.notify_all();
}

}  // namespace limen::engine
