// Fiber: one warp or lane of a block under the fiber strategies, with its own guarded stack, and
// FiberPool, which keeps a worker's finished fibers for its next block. The only place that
// switches stacks and tells the sanitizers so. A fiber never leaves the worker that made it.
// Invariant: a fiber that is not running stands either in its entry loop (idle) or inside a service
// call of the kernel; services hold no C++ resource across a switch, so a fiber may be reset there.
// Thread rule: owned by one worker.
#pragma once
#include <cstdint>
#include <vector>

#include "devlib/kernel_abi.h"
#include "engine/fault.h"
#include "engine/stacks.h"

namespace limen::engine {

struct FiberBlock;
struct Snapshot;

enum class FiberEvent : uint8_t { yielded, waiting, sleeping, ended, faulted };

struct Fiber {
  kernel::WarpContext context{};
  FiberBlock* block = nullptr;
  Fiber* next = nullptr;                 ///< link of the run queue or of a barrier's waiters
  FiberEvent event = FiberEvent::ended;  ///< why it last came back
  uint32_t result = 0;                   ///< a barrier's reduction
  // What it waits for, for the deadlock report.
  enum class Wait : uint8_t { none, barrier, exchange, cluster } wait = Wait::none;
  uint32_t wait_id = 0;          ///< barrier number, or the exchange's tag
  uint32_t wait_count = 0;       ///< barrier's thread count, or the exchange's member mask
  bool cluster_arrived = false;  ///< at the cluster barrier's phase below, without a wait so far
  uint32_t cluster_phase = 0;
  Snapshot* snapshot = nullptr;  ///< result of its latest exchange
  uint64_t wake_ns = 0;
  Landing landing;
  // Machine state.
  uint8_t* stack = nullptr;   ///< lowest usable byte
  void* machine = nullptr;    ///< the suspended context
  void* scheduler = nullptr;  ///< the worker's context while the fiber runs
  bool fresh = true;          ///< the machine context must be made anew
  void* tsan = nullptr;
  void* asan_fake = nullptr;
};

/// Body of a fiber: runs the kernel once; called again for each warp the fiber serves.
using FiberBody = void (*)(Fiber*);

/// One worker's fibers that no block uses. More come from and go to the process's StackStore.
class FiberPool {
 public:
  FiberPool(size_t stack_bytes, FiberBody body);
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  /// Makes sure that `count` fibers are free here. False: there are no more stacks now.
  bool reserve(size_t count);
  size_t available() const { return free_.size(); }
  Fiber* take();
  void put(Fiber* fiber);
  /// Forgets what the fiber was doing; its next resume starts at the entry.
  void reset(Fiber* fiber);
  /// Returns all free fibers but `kept` to the store; `with_memory`: and their memory to the
  /// system.
  void give_back(size_t kept, bool with_memory);

  /// Runs `fiber` until it suspends; its reason is in fiber->event.
  void resume(Fiber* fiber);
  /// Called on the fiber: back to the worker.
  static void suspend(Fiber* fiber, FiberEvent event);

  size_t stack_bytes() const { return stack_bytes_; }
  /// Turns to stacks of another size; all fibers must be free.
  void use_stacks(size_t stack_bytes);

 private:
  size_t stack_bytes_;
  FiberBody body_;
  StackStore* store_;
  std::vector<Fiber*> free_;
};

}  // namespace limen::engine
