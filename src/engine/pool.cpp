// Pool: the engine's public face over Scheduler; see engine.h.
// Thread rule: any thread may submit; the destructor is for tests, drivers keep their pool for
// ever.
#include "engine/engine.h"
#include "engine/scheduler.h"

namespace limen::engine {

struct Pool::State {
  explicit State(const PoolOptions& options) : scheduler(options) {}
  Scheduler scheduler;
};

Pool::Pool(const PoolOptions& options) : state_(std::make_unique<State>(options)) {}
Pool::~Pool() = default;

void Pool::submit(std::unique_ptr<GridSpec> grid) { state_->scheduler.submit(std::move(grid)); }

void Pool::submit_task(std::function<void()> task, bool may_block) {
  state_->scheduler.submit_task(std::move(task), may_block);
}

uint32_t Pool::threads() const { return state_->scheduler.threads(); }

}  // namespace limen::engine
