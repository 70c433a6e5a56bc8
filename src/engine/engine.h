// The engine runs compiled grids on a pool of persistent workers. It knows nothing of PTX, LLVM,
// contexts or streams: drivers/cpu hands it code and a launch record, and is called back at the
// end. Blocks are handed out in increasing linear order, so a block may wait for an earlier one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devlib/kernel_abi.h"

namespace limen::engine {

class TextureTable;
struct TextureBindings;

/// A kernel version, ready to run.
struct KernelCode {
  kernel::KernelMeta meta{};
  kernel::BlockFn block_fn = nullptr;  ///< region strategy
  kernel::WarpFn warp_fn = nullptr;    ///< fiber and lane strategies
  std::string name;                    ///< for messages
  const void* code_begin = nullptr;    ///< machine code range: the fault handler claims only these
  const void* code_end = nullptr;
};

/// Why a grid stopped early. kind == none: it finished.
struct FaultInfo {
  kernel::Fault kind = kernel::Fault::none;
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t thread[3] = {0, 0, 0};
  bool thread_known = false;
  uint32_t line = 0;     ///< PTX line, 0 unknown
  uint64_t address = 0;  ///< faulting data address where there is one
  std::string message;   ///< full sentence for the log: kernel, block, thread, line, address
};

/// One call of the device runtime by one thread of a running block.
struct DeviceCall {
  const kernel::BlockContext* block = nullptr;
  uint32_t function = 0;  ///< as Runtime::device_call has it
  uint32_t thread = 0;    ///< linear in its block
  uint32_t line = 0;
  const uint64_t* args = nullptr;
  /// Set by the callee: the kernel ends with this fault.
  kernel::Fault fault = kernel::Fault::none;
  std::string detail;
};

/// What a grid launches itself, by the driver's device runtime: the grid is over when that is, too.
class ChildGrids {
 public:
  virtual ~ChildGrids() = default;
  /// The grid begins; `cancel` is its LaunchContext's until blocks_over is called.
  virtual void begin(volatile uint32_t* cancel) = 0;
  /// Made inside the kernel: what it reads and writes there may fault, so it must hold nothing
  /// meanwhile (see HostSection).
  virtual uint64_t call(DeviceCall& call) = 0;
  /// All blocks are over. Calls `done`, now or later, on whichever worker ends the last child.
  virtual void blocks_over(const FaultInfo& info, std::function<void(const FaultInfo&)> done) = 0;
};

/// Multiprocessors set apart for some grids: all grids of one partition together occupy at most
/// `workers` workers, and see its multiprocessors only. `uses` and `busy` are the scheduler's.
struct Partition {
  std::vector<uint32_t> sms;  ///< numbers that %smid may have
  uint32_t workers = 1;
  std::vector<uint32_t> uses;  ///< by worker: grids of the partition it has joined
  uint32_t busy = 0;           ///< workers with uses
};

/// One launch. The engine copies nothing of what the pointers refer to; `code` and `keep_alive` are
/// let go just before `done` is called.
struct GridSpec {
  std::shared_ptr<const KernelCode> code;
  std::vector<uint8_t> params;             ///< laid out as the PTX .param space
  void* const* globals = nullptr;          ///< by module variable index
  std::shared_ptr<const void> keep_alive;  ///< whatever owns globals and code memory
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  size_t stack_bytes = 0;  ///< that a thread may need for its calls; 0: no wish
  uint64_t grid_id = 0;
  uint32_t sm_count = 8;
  uint32_t cluster[3] = {1, 1, 1};  ///< blocks resident together that share shared memory; more
                                    ///< than one needs a fiber strategy
  std::shared_ptr<Partition> partition;  ///< empty: all workers and multiprocessors
  bool explicit_cluster = false;         ///< %is_explicit_cluster
  bool cooperative = false;  ///< all blocks resident at once (fiber strategies); more than
                             ///< most_resident_blocks ends in Fault::out_of_resources
  int priority = 0;          ///< lower is more urgent, as CUDA's
  std::function<void(const FaultInfo&)> done;  ///< on a worker, exactly once
  std::shared_ptr<void> begun;  ///< let go, outside of kernels, when the last block is about to
                                ///< begin; at the latest with the grid
  std::shared_ptr<ChildGrids> children;  ///< of a kernel that may launch grids; else empty
  // Device services the driver owns:
  std::function<void(const char*, size_t)> print;   ///< formatted printf text of this context
  std::function<uint64_t(uint64_t)> device_malloc;  ///< 0 when the device heap is full
  std::function<bool(uint64_t)> device_free;        ///< false: not a live heap block
  const TextureTable* textures = nullptr;           ///< what texture and surface handles mean
  std::shared_ptr<const TextureBindings> bindings;  ///< what references mean; may be null
};

struct PoolOptions {
  uint32_t threads = 0;  ///< 0: one per usable core (affinity mask and cgroup cpu.max honoured)
  bool pin = false;
  /// Stack of one warp (or lane) under the fiber strategies, unless a kernel's frames need more.
  size_t fiber_stack_bytes = 512 * 1024;
};

/// Persistent workers. Thread-safe. Never destroyed (see docs/design: exit order).
class Pool {
 public:
  explicit Pool(const PoolOptions& options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Queues a grid; returns at once. Grids submitted together overlap.
  void submit(std::unique_ptr<GridSpec> grid);
  /// Queues a host-side task (copies, host functions that may block: `may_block`).
  void submit_task(std::function<void()> task, bool may_block = false);
  uint32_t threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Most blocks of a cluster.
inline constexpr uint32_t most_cluster_blocks = 16;

/// Blocks of a kernel that the engine can keep resident at once, over all workers: the bound for a
/// cooperative launch beside the device's own. No bound (UINT64_MAX) under the region strategy.
uint64_t most_resident_blocks(const kernel::KernelMeta& meta, uint32_t block_threads);

}  // namespace limen::engine
