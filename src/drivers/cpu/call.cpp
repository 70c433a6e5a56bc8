// The gate and the records behind it. See call.h.
// Thread rule: records are on a list that only grows; `gate()` guards what waits.
#include "drivers/cpu/call.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace limen::cpu {

namespace detail {
__thread CallRecord* call_record = nullptr;
std::atomic<bool> calls_held{false};
}  // namespace detail

namespace {

std::atomic<CallRecord*> records{nullptr};

struct Gate {
  std::mutex mutex;
  std::condition_variable opened;
};
Gate& gate() {
  static auto* made = new Gate;
  return *made;
}

void end_thread(void* memory) {
  detail::call_record = nullptr;
  static_cast<CallRecord*>(memory)->taken.store(false, std::memory_order_release);
}

/// Orders the stores of all threads before what follows here.
void order_all_threads() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  // Without the call only time orders: a store is seen long before.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

bool others_are_outside() {
  for (CallRecord* one = records.load(std::memory_order_acquire); one; one = one->next)
    if (one != detail::call_record && one->depth.load(std::memory_order_acquire)) return false;
  return true;
}

}  // namespace

CallRecord* detail::make_call_record() {
  // A pthread key, so that the main thread's record is still there in exit handlers.
  static pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, end_thread);
    return made;
  }();
  CallRecord* found = records.load(std::memory_order_acquire);
  for (; found; found = found->next) {
    bool free = false;
    if (found->taken.compare_exchange_strong(free, true)) break;
  }
  if (!found) {
    found = new CallRecord;
    found->next = records.load(std::memory_order_relaxed);
    while (!records.compare_exchange_weak(found->next, found, std::memory_order_release)) {
    }
  }
  pthread_setspecific(key, found);
  call_record = found;
  return found;
}

void detail::wait_at_gate(CallRecord& record) {
  std::unique_lock lock(gate().mutex);
  while (calls_held.load(std::memory_order_relaxed)) {
    record.depth.store(0, std::memory_order_release);
    gate().opened.wait(lock);
    // Under the lock the gate cannot close between this store and the look at it.
    record.depth.store(1, std::memory_order_relaxed);
  }
}

bool hold_calls(unsigned timeout_ms) {
  {
    std::lock_guard lock(gate().mutex);
    detail::calls_held.store(true);
  }
  order_all_threads();
  const auto start = std::chrono::steady_clock::now();
  while (!others_are_outside()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (timeout_ms &&
        std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(timeout_ms)) {
      release_calls();
      return false;
    }
  }
  return true;
}

void release_calls() {
  std::lock_guard lock(gate().mutex);
  detail::calls_held.store(false);
  gate().opened.notify_all();
}

}  // namespace limen::cpu
