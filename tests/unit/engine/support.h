// Helpers for engine tests: build a launch from a native function, submit it, wait for its end.
// Thread rule: Launch is used from one thread; wait() may be called once.
#pragma once
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.h"

namespace limen::engine::test {

using kernel::BlockContext;
using kernel::Fault;
using kernel::Strategy;
using kernel::WarpContext;

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_tsan = true;
#else
inline constexpr bool under_tsan = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_asan = true;
#else
inline constexpr bool under_asan = false;
#endif

/// Waits for one or several grids.
class Completion {
 public:
  std::function<void(const FaultInfo&)> callback() {
    std::lock_guard hold(mutex_);
    ++expected_;
    return [this](const FaultInfo& info) {
      std::lock_guard hold(mutex_);
      ++arrived_;
      if (info.kind != Fault::none || arrived_ == 1) info_ = info;
      changed_.notify_all();
    };
  }
  FaultInfo wait() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return arrived_ >= expected_; });
    return info_;
  }
  bool wait_for(int milliseconds) {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::milliseconds(milliseconds),
                             [&] { return arrived_ >= expected_; });
  }
  int arrived() {
    std::lock_guard hold(mutex_);
    return arrived_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int expected_ = 0;
  int arrived_ = 0;
  FaultInfo info_;
};

inline std::unique_ptr<GridSpec> make_spec(std::shared_ptr<KernelCode> code, uint32_t blocks,
                                           uint32_t threads, const void* parameter = nullptr) {
  auto spec = std::make_unique<GridSpec>();
  spec->code = std::move(code);
  spec->grid[0] = blocks;
  spec->block[0] = threads;
  spec->params.resize(sizeof parameter);
  std::memcpy(spec->params.data(), &parameter, sizeof parameter);
  return spec;
}

inline std::shared_ptr<KernelCode> region_code(kernel::BlockFn function,
                                               const char* name = "region") {
  auto code = std::make_shared<KernelCode>();
  code->meta.abi_version = kernel::kernel_abi_version;
  code->meta.strategy = Strategy::region;
  code->meta.width = 16;
  code->block_fn = function;
  code->name = name;
  return code;
}

inline std::shared_ptr<KernelCode> fiber_code(kernel::WarpFn function, const char* name = "fiber") {
  auto code = std::make_shared<KernelCode>();
  code->meta.abi_version = kernel::kernel_abi_version;
  code->meta.strategy = Strategy::fiber;
  code->meta.width = 32;
  code->warp_fn = function;
  code->name = name;
  return code;
}

inline std::shared_ptr<KernelCode> lane_code(kernel::WarpFn function, const char* name = "lane") {
  auto code = fiber_code(function, name);
  code->meta.strategy = Strategy::lane;
  code->meta.width = 1;
  return code;
}

/// The kernel's one parameter.
template <typename T>
T* parameter(const BlockContext* context) {
  T* value;
  std::memcpy(&value, context->launch->params, sizeof value);
  return value;
}

inline FaultInfo run(Pool& pool, std::unique_ptr<GridSpec> spec) {
  Completion completion;
  spec->done = completion.callback();
  pool.submit(std::move(spec));
  return completion.wait();
}

inline uint64_t linear_block(const BlockContext* context) {
  const uint32_t* grid = context->launch->grid;
  return context->ctaid[0] +
         uint64_t{grid[0]} * (context->ctaid[1] + uint64_t{grid[1]} * context->ctaid[2]);
}

}  // namespace limen::engine::test
