// The thread behind Ageing. Thread rule: see the header.
#include "drivers/cpu/memory/ageing.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "drivers/cpu/memory/pool.h"

namespace limen::cpu {

void Ageing::wake() {
  std::lock_guard lock(mutex_);
  work_ = true;
  if (started_) {
    woken_.notify_one();
    return;
  }
  started_ = true;
  // The program's signals are not for this thread.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_BLOCK, &every, &before);
  std::thread([this] { run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Ageing::run() {
  pthread_setname_np(pthread_self(), "limen-ageing");
  constexpr std::chrono::milliseconds tick{50};
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [this] { return work_; });
      work_ = false;
    }
    for (bool left = true; left;) {
      std::this_thread::sleep_for(tick);
      left = false;
      for (Allocator* allocator : watched_) left |= allocator->age_freed(coarse_clock_ns());
      left |= age_pools(coarse_clock_ns());
    }
  }
}

}  // namespace limen::cpu
