// Context: what a CUDA context owns (streams, events, modules, memory, limits, printf text, heap),
// its sticky error, and each thread's stack of current contexts.
// A device's primary context is one object for the life of the process; it is "active" between the
// first retain and the last release (or reset). Invariant: the error, once set, stays until then.
// Thread rule: any thread. `mutex` guards the lists and is never held while waiting or calling out.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "abi/cpu_api.h"
#include "drivers/cpu/coredump.h"
#include "drivers/cpu/device.h"
#include "drivers/cpu/driver.h"
#include "drivers/cpu/memory/heap.h"
#include "drivers/cpu/print.h"
#include "drivers/cpu/stream/attribute.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

struct EventCapture;
struct Module;
struct StreamCapture;

/// What a CUstream handle is.
struct StreamHandle {
  std::shared_ptr<Stream> stream;
  Context* context = nullptr;
  unsigned flags = 0;
  uint64_t id = 0;
  GreenContext* green = nullptr;  ///< perhaps destroyed: resolve it before use
  std::shared_ptr<engine::Partition> partition;  ///< of the green context
  StreamAttributes attributes;  ///< guarded by the context's mutex
  std::shared_ptr<StreamCapture> capture;  ///< null: not captured; under the GraphLock
};

/// What a CUevent handle is.
struct EventHandle {
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
  Context* context = nullptr;
  std::shared_ptr<EventCapture> captured;  ///< last recorded in a capture; under the GraphLock
  std::atomic<bool> was_captured{false};   ///< whether `captured` is set
};

struct Context final : StreamOwner {
  Context(Device& device, bool primary);

  Device& device;
  const bool primary;
  std::atomic<bool> active{false};
  uint32_t owner = 0;  ///< owner of memory blocks; new at each activation
  std::atomic<unsigned> flags{0};
  std::atomic<uint32_t> retained{0};
  std::mutex life;  ///< serialises activate() and end()

  std::shared_ptr<Stream> legacy;
  StreamAttributes legacy_attributes;  ///< guarded by mutex
  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> streams;  ///< all but legacy, also destroyed ones still busy
  std::vector<StreamPoint> waits;  ///< of cuCtxWaitEvent: streams to come wait for them, too
  std::set<StreamHandle*> stream_handles;
  std::set<EventHandle*> event_handles;
  std::set<Module*> modules;
  std::set<Context*> peers;

  std::atomic<size_t> stack_bytes{1024};
  std::atomic<size_t> pending_launches{2048};
  std::atomic<size_t> l2_fetch_bytes{64};
  std::atomic<size_t> l2_persisting_bytes{0};  ///< a hint; only kept to be read back
  std::atomic<int> cache_config{0};
  std::atomic<int> shared_config{0};
  CoredumpSettings coredump;  ///< guarded by the lock of coredump.cpp
  PrintBuffer print;
  DeviceHeap heap;
  std::atomic<uint64_t> next_grid_id{1};
  std::atomic<size_t> device_launches{0};  ///< by kernels, not over

  /// Makes a fresh state: streams, limits, no error.
  void activate();
  /// Waits for the work, frees everything the context owns and becomes inactive.
  void end();

  void kernel_failed(const engine::FaultInfo& fault) override;
  CUresult sticky() const { return static_cast<CUresult>(error.load(std::memory_order_acquire)); }
  WaitPolicy wait_policy() const;
  /// Waits for all streams. Returns the sticky error.
  CUresult synchronize();
  bool busy() const { return busy_streams.load(std::memory_order_acquire) != 0; }
  /// A snapshot of all streams but the legacy one; forgets those that are done for.
  std::vector<std::shared_ptr<Stream>> list_streams();
  void adopt(const std::shared_ptr<Stream>& stream);
};

/// Set on a thread while a program's host function runs on it. A host function may not call the
/// driver, except to ask a stream or an event: waiting for its own stream would never end.
/// source: CUDA Driver API 13.0, cuStreamAddCallback, cuLaunchHostFunc: CUDA_ERROR_NOT_PERMITTED.
class HostFunctionScope {
 public:
  HostFunctionScope() { inside = true; }
  ~HostFunctionScope() { inside = false; }
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
  static bool entered() { return inside; }

 private:
  static constinit thread_local bool inside;
};

/// The value of a CUlimit. errors: 1, 215.
CUresult limit_of(Context& context, CUlimit limit, size_t* value);

/// This thread's current context: alive and active, else 201 or 709.
CUresult current(Context** context);
/// The same, and without a sticky error.
CUresult current_usable(Context** context);
/// A context argument: null means current; 201 for what is no context.
CUresult context_of(CUcontext handle, Context** context);

/// The active context that memory blocks of `owner` belong to, or nullptr.
Context* context_of_owner(uint32_t owner);

/// Waits for all work of all contexts: before pages are taken away that it may use.
void synchronize_all_contexts();
/// All contexts that are active now.
std::vector<Context*> active_contexts();

/// Kernels are about to start: in them, what the program has freed faults. One load a device.
inline void seal_freed_memory() {
  for (Device* device : driver().devices)
    if (device->memory().has_unsealed()) device->memory().seal_freed();
}

/// This thread's own default stream in `context` (CU_STREAM_PER_THREAD).
StreamHandle* per_thread_stream(Context& context);

inline CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }

}  // namespace limen::cpu
