// One launch of a plan, see run.cpp. Thread rule: any thread; no locks.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "drivers/cpu/graph/environment.h"
#include "drivers/cpu/graph/plan.h"

namespace limen::cpu {

/// Steps that this thread is to do itself.
using ShortSteps = std::vector<uint32_t>;

class Run {
 public:
  Run(std::shared_ptr<Executable> executable, std::shared_ptr<Plan> plan, int priority);

  /// Where its kernels launch graphs; null: nowhere.
  void set_environment(LaunchEnvironment::Ptr environment) {
    environment_ = std::move(environment);
  }
  /// Lets the record steps' events refer to this launch, and notes what the wait steps wait for.
  void bind_events();
  /// Begins. True: complete already, and the run is gone.
  bool start(std::function<void()> done);
  /// A step that was started elsewhere is complete.
  void complete(uint32_t step);

 private:
  static bool is_enabled(const Step& step);
  bool is_over_elsewhere(const Step& step) const;
  void make_ready(uint32_t index, ShortSteps& list);
  void start_elsewhere(uint32_t index, const StepWork& work);
  void start_kernel(uint32_t index, const KernelStep& kernel);
  void start_call(uint32_t index, const CallStep& call);
  void start_wait(uint32_t index, const EventStep& event);
  void do_here(uint32_t index, ShortSteps& list);
  void drain(ShortSteps& list);
  void begin_followers(uint32_t index, ShortSteps& list);
  void pass(uint32_t to, ShortSteps& list);
  void end_step(uint32_t index, ShortSteps& list);
  void end_sink(uint32_t scope, ShortSteps& list);
  bool start_scope(uint32_t scope, ShortSteps& list);
  void decide(uint32_t index, ShortSteps& list, bool first);
  void end();

  enum : uint32_t { begun = 1, over = 2 };

  std::shared_ptr<Executable> executable_;
  std::shared_ptr<Plan> plan_;
  const int priority_;
  LaunchEnvironment::Ptr environment_;
  std::unique_ptr<std::atomic<uint32_t>[]> waits_;  ///< by step
  std::unique_ptr<std::atomic<uint32_t>[]> sinks_;  ///< by scope
  std::vector<std::function<void()>> records_;
  std::vector<StreamPoint> awaits_;
  std::atomic<uint32_t> state_{0};
  std::function<void()> done_;
};

}  // namespace limen::cpu
