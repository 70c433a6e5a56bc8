// Stack switching by Boost.Context's fcontext; see fiber.h. The entry loop marks a landing for each
// warp, so a fault of the kernel ends that warp only and the stack serves the next one.
// Thread rule: as fiber.h; the count of stacks is shared and atomic.
#include "engine/fiber.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <fstream>

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

std::atomic<size_t> stacks_in_use{0};

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

size_t fiber_stack_limit() {
  static const size_t limit = [] {
    size_t maps = 65530;
    std::ifstream file("/proc/sys/vm/max_map_count");
    file >> maps;
    return std::max<size_t>(maps, 8192) / 4;
  }();
  return limit;
}

size_t fiber_stacks_in_use() { return stacks_in_use.load(); }

FiberPool::FiberPool(size_t stack_bytes, FiberBody body)
    : stack_bytes_((stack_bytes + 4095) & ~size_t{4095}), body_(body) {}

FiberPool::~FiberPool() {
#ifdef LIMEN_ENGINE_TSAN
  for (Fiber* fiber : free_)
    if (fiber->tsan != nullptr) __tsan_destroy_fiber(fiber->tsan);
#endif
  for (const Mapping& mapping : mappings_) {
#ifdef LIMEN_ENGINE_ASAN
    __asan_unpoison_memory_region(mapping.base, mapping.bytes);
#endif
    munmap(mapping.base, mapping.bytes);
    stacks_in_use.fetch_sub(mapping.count);
  }
}

bool FiberPool::grow(size_t count) {
  if (stacks_in_use.fetch_add(count) + count > fiber_stack_limit()) {
    stacks_in_use.fetch_sub(count);
    return false;
  }
  const size_t stride = stack_bytes_ + guard_bytes;
  void* memory = mmap(nullptr, stride * count, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    stacks_in_use.fetch_sub(count);
    return false;
  }
  auto* base = static_cast<uint8_t*>(memory);
  for (size_t i = 0; i < count; ++i) {
    if (mprotect(base + i * stride + guard_bytes, stack_bytes_, PROT_READ | PROT_WRITE) == 0)
      continue;
    munmap(memory, stride * count);
    stacks_in_use.fetch_sub(count);
    return false;
  }
  mappings_.push_back({memory, stride * count, count});
  slabs_.push_back(std::make_unique<Fiber[]>(count));
  // Pushed downwards so that take() hands out ascending addresses.
  for (size_t i = count; i-- > 0;) {
    Fiber* fiber = &slabs_.back()[i];
    fiber->stack = base + i * stride + guard_bytes;
    free_.push_back(fiber);
  }
  return true;
}

bool FiberPool::reserve(size_t count) {
  if (free_.size() >= count) return true;
  const size_t missing = count - free_.size();
  return grow(std::max<size_t>(missing, 16)) || grow(missing);
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
}

void FiberPool::give_back_memory() {
  for (Fiber* fiber : free_) {
    if (fiber->fresh) continue;
    reset(fiber);
    madvise(fiber->stack, stack_bytes_, MADV_DONTNEED);
  }
}

void FiberPool::resume(Fiber* fiber) {
  KernelThread* thread = kernel_thread;
  thread->landing = &fiber->landing;
  thread->stack_begin = reinterpret_cast<uint64_t>(fiber->stack);
  thread->stack_end = thread->stack_begin + stack_bytes_;
  thread->guard_begin = thread->stack_begin - guard_bytes;
  thread->guard_end = thread->stack_begin;
  EntryData data{fiber, body_};
  if (fiber->fresh) {
    fiber->fresh = false;
    fiber->asan_fake = nullptr;
    fiber->machine = ctx::make_fcontext(fiber->stack + stack_bytes_, stack_bytes_, fiber_entry);
#ifdef LIMEN_ENGINE_TSAN
    if (fiber->tsan != nullptr) __tsan_destroy_fiber(fiber->tsan);
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
  const ctx::transfer_t back = ctx::jump_fcontext(fiber->machine, &data);
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
  const ctx::transfer_t from = ctx::jump_fcontext(fiber->scheduler, fiber);
  fiber->scheduler = from.fctx;
  arrived_on_fiber(fiber);
  thread->in_kernel.store(in_kernel, std::memory_order_relaxed);
}

}  // namespace limen::engine
