// Waiting on a Signal: spin briefly, then sleep in the kernel. The spin is short because the waiter
// may sit on the very core that a worker needs. Thread rule: see the header.
#include "drivers/cpu/stream/signal.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "base/machine.h"

namespace limen::cpu {

namespace {

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

}  // namespace

void Signal::wait(uint64_t target, WaitPolicy policy) {
  if (reached(target)) return;
  if (policy == WaitPolicy::spin) {
    while (!reached(target)) cpu_pause();
    return;
  }
  if (policy == WaitPolicy::yield) {
    while (!reached(target)) sched_yield();
    return;
  }
  if (policy == WaitPolicy::automatic) {
    constexpr uint64_t spin_ns = 20000;  // about two futex round trips
    for (uint64_t start = now_ns(); now_ns() - start < spin_ns;) {
      for (int i = 0; i < 32; ++i) {
        if (reached(target)) return;
        cpu_pause();
      }
    }
  }
  sleep_until(target);
}

void Signal::sleep_until(uint64_t target) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
    if (value_.load(std::memory_order_seq_cst) >= target) break;
    syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, epoch, nullptr, nullptr, 0);
  }
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

void Signal::wake() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace limen::cpu
