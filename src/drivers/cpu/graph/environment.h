// What the launch of a graph generates: graphs that its kernels launch, and those to follow it.
// A graph is over when its own nodes are and all graphs that it launched; then come its tail
// launches, one after the other, each in its place; then its parent is told. A launch by the host
// has an environment of the stream above the graph's.
// source: CUDA C++ Programming Guide 13.0, "Graph Execution Environments".
// Invariant: open_ counts the graph's own run and every launched graph that is not over; tail
// launches are not counted before they start. Thread rule: any thread; mutex_ is never held while
// a run is started or another lock is taken. docs/design/graphs.md
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "abi/cuda_abi.h"

namespace limen::cpu {

struct Context;
struct Executable;
struct Plan;
class Run;

class LaunchEnvironment : public std::enable_shared_from_this<LaunchEnvironment> {
 public:
  using Ptr = std::shared_ptr<LaunchEnvironment>;
  LaunchEnvironment(Ptr parent, std::shared_ptr<Executable> executable, int priority,
                    uint32_t depth)
      : parent_(std::move(parent)),
        executable_(std::move(executable)),
        priority_(priority),
        depth_(depth) {}

  /// The host's launch begins: `run` is the graph's. True: all of it is over already.
  static bool begin_host_launch(std::shared_ptr<Executable> executable, std::shared_ptr<Plan> plan,
                                Run* run, int priority, std::function<void()> done);
  /// cudaGraphLaunch by a kernel of this environment's graph. Returns a code of the runtime's.
  int launch_from_kernel(uint64_t graph_exec, uint64_t stream, const Context& context);

  /// The graph's handle, if kernels may launch it; else 0.
  uint64_t current_graph_exec() const;
  /// Launches by kernels above this one.
  uint32_t depth() const { return depth_; }

 private:
  bool begin(Run* run);
  static void release(Ptr at);
  Ptr next_tail();
  int take_child();
  int add_tail(std::shared_ptr<Executable> executable);
  void start_child(const std::shared_ptr<Executable>& executable, std::shared_ptr<Plan> plan);

  const Ptr parent_;                              ///< null: the stream's
  const std::shared_ptr<Executable> executable_;  ///< null: the stream's
  const int priority_;
  const uint32_t depth_;
  std::function<void()> done_;  ///< the stream's

  std::mutex mutex_;  ///< guards what follows
  uint32_t open_ = 1;
  uint32_t launched_ = 0;
  std::deque<std::shared_ptr<Executable>> tails_;  ///< launched by this graph
  std::deque<std::shared_ptr<Executable>> later_;  ///< by the graphs in whose place it is
};

/// What kernels may launch of an executable graph, and whether they may now.
struct DeviceLaunch {
  std::mutex mutex;
  std::shared_ptr<Plan> plan;  ///< as last uploaded, or launched by the host
  uint32_t running = 0;
  bool queued = false;  ///< as a tail launch
};

}  // namespace limen::cpu
