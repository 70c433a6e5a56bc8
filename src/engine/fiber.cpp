// Stack switching by Boost.Context's fcontext; see fiber.h. The entry loop marks a landing for each
// warp, so a fault of the kernel ends that warp only and the stack serves the next one.
// Thread rule: as fiber.h.
#include "engine/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define LIMEN_ENGINE_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define LIMEN_ENGINE_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMEN_ENGINE_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define LIMEN_ENGINE_TSAN 1
#endif
#endif
#ifdef LIMEN_ENGINE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef LIMEN_ENGINE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace limen::engine {
namespace {

namespace ctx = boost::context::detail;

struct EntryData {
  Fiber* fiber;
  FiberBody body;
};

#ifdef LIMEN_ENGINE_ASAN
thread_local const void* worker_stack_bottom = nullptr;
thread_local size_t worker_stack_bytes = 0;
#endif

void arrived_on_fiber([[maybe_unused]] Fiber* fiber) {
#ifdef LIMEN_ENGINE_ASAN
  __sanitizer_finish_switch_fiber(fiber->asan_fake, &worker_stack_bottom, &worker_stack_bytes);
#endif
}

/// Boost's switch, with the float control word.
ctx::transfer_t jump(ctx::fcontext_t to, void* data) {
  if constexpr (switch_keeps_float_control) return ctx::jump_fcontext(to, data);
  const FloatControl own = read_float_control();
  const ctx::transfer_t back = ctx::jump_fcontext(to, data);
  write_float_control(own);
  return back;
}

void fiber_entry(ctx::transfer_t from) {
  const EntryData data = *static_cast<EntryData*>(from.data);
  data.fiber->scheduler = from.fctx;
  arrived_on_fiber(data.fiber);
  for (;;) {
    data.body(data.fiber);
    FiberPool::suspend(data.fiber, data.fiber->event);
  }
}

}  // namespace

FiberPool::FiberPool(size_t stack_bytes, FiberBody body)
    : stack_bytes_((stack_bytes + 4095) & ~size_t{4095}),
      body_(body),
      store_(&StackStore::of(stack_bytes)) {}

void FiberPool::use_stacks(size_t stack_bytes) {
  const size_t bytes = (stack_bytes + 4095) & ~size_t{4095};
  if (bytes == stack_bytes_) return;
  give_back(0, true);
  stack_bytes_ = bytes;
  store_ = &StackStore::of(bytes);
}

FiberPool::~FiberPool() { give_back(0, false); }

bool FiberPool::reserve(size_t count) {
  return free_.size() >= count || store_->acquire(count - free_.size(), free_);
}

Fiber* FiberPool::take() {
  Fiber* fiber = free_.back();
  free_.pop_back();
  return fiber;
}

void FiberPool::put(Fiber* fiber) { free_.push_back(fiber); }

void FiberPool::reset(Fiber* fiber) {
  fiber->fresh = true;
#ifdef LIMEN_ENGINE_ASAN
  __asan_unpoison_memory_region(fiber->stack, stack_bytes_);
#endif
#ifdef LIMEN_ENGINE_TSAN
  if (fiber->tsan != nullptr) __tsan_destroy_fiber(fiber->tsan);
  fiber->tsan = nullptr;
#endif
}

void FiberPool::give_back(size_t kept, bool with_memory) {
  if (free_.size() <= kept) return;
  // The oldest go; those used last are warm.
  const auto end = free_.end() - static_cast<std::ptrdiff_t>(kept);
  const std::vector<Fiber*> going(free_.begin(), end);
  free_.erase(free_.begin(), end);
  for (Fiber* fiber : going) {
    const bool used = !fiber->fresh;
    reset(fiber);
    if (with_memory && used) madvise(fiber->stack, stack_bytes_, MADV_DONTNEED);
  }
  store_->release(going);
}

void FiberPool::resume(Fiber* fiber) {
  KernelThread* thread = kernel_thread;
  thread->landing = &fiber->landing;
  thread->stack_begin = reinterpret_cast<uint64_t>(fiber->stack);
  thread->stack_end = thread->stack_begin + stack_bytes_;
  thread->guard_begin = thread->stack_begin - StackStore::guard_bytes;
  thread->guard_end = thread->stack_begin;
  EntryData data{fiber, body_};
  if (fiber->fresh) {
    fiber->fresh = false;
    fiber->asan_fake = nullptr;
    fiber->machine = ctx::make_fcontext(fiber->stack + stack_bytes_, stack_bytes_, fiber_entry);
#ifdef LIMEN_ENGINE_TSAN
    fiber->tsan = __tsan_create_fiber(0);
#endif
  }
#ifdef LIMEN_ENGINE_TSAN
  if (thread->tsan_home == nullptr) thread->tsan_home = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber->tsan, 0);
#endif
#ifdef LIMEN_ENGINE_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, fiber->stack, stack_bytes_);
#endif
  const ctx::transfer_t back = jump(fiber->machine, &data);
#ifdef LIMEN_ENGINE_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  fiber->machine = back.fctx;
}

void FiberPool::suspend(Fiber* fiber, FiberEvent event) {
  fiber->event = event;
  KernelThread* thread = kernel_thread;
  const bool in_kernel = thread->in_kernel.load(std::memory_order_relaxed);
  thread->in_kernel.store(false, std::memory_order_relaxed);
#ifdef LIMEN_ENGINE_TSAN
  __tsan_switch_to_fiber(thread->tsan_home, 0);
#endif
#ifdef LIMEN_ENGINE_ASAN
  __sanitizer_start_switch_fiber(&fiber->asan_fake, worker_stack_bottom, worker_stack_bytes);
#endif
  const ctx::transfer_t from = jump(fiber->scheduler, fiber);
  fiber->scheduler = from.fctx;
  arrived_on_fiber(fiber);
  thread->in_kernel.store(in_kernel, std::memory_order_relaxed);
}

}  // namespace limen::engine
