// DeviceGrid: one grid that may launch others: its open work, its streams and events, its threads'
// last errors. LaunchTree: what the grids below one launch of the host share.
// A grid is over when its blocks are, and everything they launched; then come its tail launches,
// one after the other, the last of them in its place; then its parent is told.
// Invariant: open_ counts the grid's own blocks and every launched child that is not over; pending
// tail launches are not counted before they start.
// Thread rule: any thread; DeviceGrid::mutex_ and LaunchTree::mutex are never held while another
// lock is taken or a stream, the pool or a callback is called.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "compiler/ptx/ir.h"
#include "devlib/device_runtime.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/device_runtime/device_runtime.h"
#include "drivers/cpu/device_runtime/error_codes.h"
#include "drivers/cpu/graph/environment.h"
#include "drivers/cpu/launch.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

class DeviceGrid;

/// One change of a graph's kernel node. source: CUDA Runtime API 13.0, cudaGraphKernelNodeUpdate.
struct NodeChange {
  uint64_t node;
  uint32_t field;
  union {
    uint32_t grid[3];
    struct {
      uint64_t value, offset, bytes;
    } param;
    uint32_t enabled;
  };
};
static_assert(sizeof(NodeChange) == 40);

struct LaunchTree {
  LaunchTree(Context& owner, std::shared_ptr<Instance> module, int urgency)
      : context(owner), instance(std::move(module)), priority(urgency) {}

  /// What all handles of a kernel share, made now if the host has none.
  std::shared_ptr<KernelState> state_of(ptx::Index kernel);
  /// A grid failed: those that run are cancelled, those to come are skipped.
  void fail();
  /// Counts one more launch in Context::device_launches. Above the limit it waits first while
  /// others end, but not for ever: a GPU refuses none of these launches.
  void take_launch();
  void give_launch() {
    context.device_launches.fetch_sub(1, std::memory_order_relaxed);
    launches_over.fetch_add(1, std::memory_order_relaxed);
  }

  Context& context;
  std::shared_ptr<Instance> instance;         ///< until the host's grid is over
  LaunchEnvironment::Ptr environment;         ///< where graphs are launched; null: nowhere
  const int priority;                         ///< of the host's grid
  std::atomic<uint64_t> launches_over{0};     ///< blocks over, of grids launched by kernels
  std::atomic<uint64_t> vain_at{UINT64_MAX};  ///< launches_over when waiting for room was vain
  std::atomic<uint64_t> next_handle{0x100};   ///< of streams and events; below are CUDA's own
  std::mutex mutex;                           ///< guards what follows
  bool failed = false;
  DeviceGrid* first_running = nullptr;
  std::unordered_map<ptx::Index, std::shared_ptr<KernelState>> states;
};

/// Memory of the kernel that a call reads before, or writes after, the driver is entered.
struct CallMemory {
  std::array<uint64_t, 20> copy_3d;  ///< cudaMemcpy3DParms
  uint64_t out = 0;                  ///< where to write; 0: nothing
  uint32_t out_bytes = 0;
  alignas(8) std::array<uint8_t, 192> bytes;

  template <typename T>
  void put(uint64_t address, const T& value) {
    static_assert(sizeof value <= sizeof bytes);
    out = address;
    out_bytes = sizeof value;
    __builtin_memcpy(bytes.data(), &value, sizeof value);
  }
};

class DeviceGrid final : public engine::ChildGrids,
                         public std::enable_shared_from_this<DeviceGrid> {
 public:
  DeviceGrid(std::shared_ptr<LaunchTree> tree, std::shared_ptr<DeviceGrid> parent, uint32_t depth);
  ~DeviceGrid() override;

  void begin(volatile uint32_t* cancel) override;
  uint64_t call(engine::DeviceCall& call) override;
  void blocks_over(const engine::FaultInfo& info,
                   std::function<void(const engine::FaultInfo&)> done) override;

 private:
  friend struct LaunchTree;
  /// A grid to be, known to the kernel by the address of its parameters.
  struct Prepared {
    std::unique_ptr<engine::GridSpec> grid;
    size_t offset = 0;  ///< of the address in grid->params
  };

  int priority() const;
  void release();
  bool start_tail();
  void hand_over(engine::GridSpec& tail);
  void complete();
  void forget();

  // Calls (calls.cpp). All run inside a HostSection.
  uint64_t dispatch(engine::DeviceCall& call, CallMemory& memory);
  int fail_call(const engine::DeviceCall& call, int code);
  int last_error(const engine::DeviceCall& call, bool clear);
  bool find_kernel(uint64_t function, std::shared_ptr<KernelState>* state) const;
  Result<KernelNeeds> needs_of(KernelState& state) const;
  int prepare(engine::DeviceCall& call, uint64_t function, const LaunchShape& shape,
              engine::GridSpec& grid);
  int refuse(engine::DeviceCall& call, const Error& error) const;
  uint64_t parameter_buffer(engine::DeviceCall& call);
  uint64_t parameter_buffer_v2(engine::DeviceCall& call);
  int launch_device(engine::DeviceCall& call);
  int launch_device_v2(engine::DeviceCall& call);
  Prepared take_prepared(uint64_t buffer);
  int start(const engine::DeviceCall& call, std::unique_ptr<engine::GridSpec> grid,
            uint64_t stream);
  std::shared_ptr<Stream> find_stream(const engine::DeviceCall& call, uint64_t handle);
  std::shared_ptr<Stream> own_stream(uint64_t key);
  std::shared_ptr<EventState> find_event(uint64_t handle);
  int stream_create(const engine::DeviceCall& call, CallMemory& memory);
  int stream_destroy(const engine::DeviceCall& call);
  int stream_wait_event(const engine::DeviceCall& call);
  int event_create(const engine::DeviceCall& call, CallMemory& memory);
  int event_record(const engine::DeviceCall& call);
  int event_destroy(const engine::DeviceCall& call);
  int func_get_attributes(engine::DeviceCall& call, CallMemory& memory);
  int occupancy(engine::DeviceCall& call, CallMemory& memory);
  int device_get(const engine::DeviceCall& call, CallMemory& memory) const;
  int allocate(const engine::DeviceCall& call, CallMemory& memory) const;
  int copy(const engine::DeviceCall& call, const CallMemory& memory);
  int graph_launch(const engine::DeviceCall& call);
  uint64_t change_nodes(engine::DeviceCall& call);
  int change_node(const NodeChange& change) const;

  const std::shared_ptr<LaunchTree> tree_;
  std::shared_ptr<DeviceGrid> parent_;  ///< null: launched by the host
  const uint32_t depth_;  ///< below the host's grid; tail launches are as deep as their parent
  bool counted_ = false;  ///< in the parent's open_
  bool pending_ = false;  ///< in Context::device_launches
  bool completed_ = false;
  std::shared_ptr<DeviceGrid> self_;  ///< from the end of its blocks until it is over
  engine::FaultInfo info_;
  std::function<void(const engine::FaultInfo&)> done_;

  // Under LaunchTree::mutex.
  volatile uint32_t* cancel_ = nullptr;
  DeviceGrid *next_running_ = nullptr, *previous_running_ = nullptr;

  std::mutex mutex_;  ///< guards what follows
  uint64_t open_ = 1;
  std::deque<std::unique_ptr<engine::GridSpec>> tails_;
  std::unordered_map<uint64_t, Prepared> prepared_;                    ///< by parameter address
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> own_streams_;  ///< of blocks and threads
  size_t own_streams_swept_ = 64;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams_;
  std::unordered_map<uint64_t, std::shared_ptr<EventState>> events_;
  std::unordered_map<uint64_t, int> errors_;  ///< by thread
};

/// Grids that copy and fill memory, as kernels of the device runtime's own. Their addresses are the
/// kernel's, so they fault as a kernel does.
struct MemoryRows {
  uint64_t to = 0, from = 0;
  uint64_t to_pitch = 0, from_pitch = 0;
  uint64_t to_slice = 0, from_slice = 0;  ///< bytes from slice to slice
  uint64_t width = 0, height = 1, depth = 1;
};
std::unique_ptr<engine::GridSpec> make_copy_grid(const MemoryRows& rows);
std::unique_ptr<engine::GridSpec> make_fill_grid(const MemoryRows& rows, uint8_t value);

/// Address of a text for kernels.
const char* runtime_error_name(int code);
const char* runtime_error_text(int code);

}  // namespace limen::cpu
