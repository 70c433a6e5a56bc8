// The stream's queue and its state machine: begin -> start -> (elsewhere) -> finish -> next.
// Completion of one stream may release others; those are run from a per-thread list, never by
// recursion, so that long chains of streams cannot exhaust a worker's stack.
// Invariant: `busy_` is owned by exactly one thread of control. Thread rule: see the header.
#include "drivers/cpu/stream/stream.h"

#include <time.h>

#include <utility>

#include "drivers/cpu/stream/memop.h"

namespace limen::cpu {

namespace {

using ReadyList = std::vector<std::function<void()>>;
/// Streams whose awaited point has come, waiting for this thread to run them. Made when there is one
/// and gone when it has run: nothing is left to the thread's end, where the order is the program's.
thread_local ReadyList* ready_list = nullptr;
thread_local bool draining = false;

}  // namespace

uint64_t event_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

StreamPoint EventState::latest() {
  std::lock_guard lock(mutex);
  return point;
}

Stream::~Stream() {
  while (head_) delete std::exchange(head_, head_->next);
}

uint64_t Stream::launch(std::unique_ptr<engine::GridSpec> grid) {
  Op* op = new Op;
  op->kind = Op::Kind::grid;
  op->grid = std::move(grid);
  return submit(op);
}

uint64_t Stream::task(std::function<void()> action, bool quick, bool may_block, bool always) {
  Op* op = new Op;
  op->kind = Op::Kind::task;
  op->action = std::move(action);
  op->quick = quick;
  op->may_block = may_block;
  op->always = always;
  return submit(op);
}

uint64_t Stream::deferred(std::function<bool(std::function<void()> done)> action, bool always) {
  Op* op = new Op;
  op->kind = Op::Kind::deferred;
  op->deferred = std::move(action);
  op->always = always;
  return submit(op);
}

uint64_t Stream::record(const std::shared_ptr<EventState>& event) {
  Op* op = new Op;
  op->kind = Op::Kind::record;
  op->event = event;
  uint64_t seq;
  bool first;
  {
    // The event must refer to this point before anybody can see it complete.
    std::scoped_lock lock(event->mutex, mutex_);
    seq = append(op);
    event->recorded = true;
    event->point = StreamPoint{shared_from_this(), seq};
    first = take_up();
  }
  if (first) begin();
  return seq;
}

uint64_t Stream::wait_for(StreamPoint point) {
  if (point.reached() || point.stream.get() == this) return submitted_.load();
  Op* op = new Op;
  op->kind = Op::Kind::wait;
  op->point = std::move(point);
  return submit(op);
}

StreamPoint Stream::tail() {
  return StreamPoint{shared_from_this(), submitted_.load(std::memory_order_acquire)};
}

uint64_t Stream::append(Op* op) {
  op->seq = submitted_.load(std::memory_order_relaxed) + 1;
  (head_ ? last_->next : head_) = op;
  last_ = op;
  submitted_.store(op->seq, std::memory_order_release);
  return op->seq;
}

uint64_t Stream::submit(Op* op) {
  uint64_t seq;
  bool first;
  {
    std::lock_guard lock(mutex_);
    seq = append(op);
    first = take_up();
  }
  if (first) begin();
  return seq;
}

/// True for who has to begin; with mutex_ held. The owner counts as busy before anybody else can
/// queue behind what this thread has not begun yet: calls on an owner that is not busy ask for no
/// order at all, and one of them would overtake its own thread's work.
bool Stream::take_up() {
  if (std::exchange(busy_, true)) return false;
  owner_.busy_streams.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void Stream::begin() {
  self_ = shared_from_this();
  run_from_head();
}

void Stream::run_from_head() {
  const bool outermost = !std::exchange(draining, true);
  for (;;) {
    Op* op;
    std::shared_ptr<Stream> last_reference;
    {
      std::lock_guard lock(mutex_);
      op = head_;
      if (op) {
        head_ = op->next;
      } else {
        last_reference = std::move(self_);
        owner_.busy_streams.fetch_sub(1, std::memory_order_acq_rel);
        busy_ = false;
      }
    }
    if (!op || !start(op)) break;
    complete(op);
    delete op;
  }
  // `this` may be gone from here on.
  if (!outermost) return;
  while (ready_list && !ready_list->empty()) {
    auto entry = std::move(ready_list->back());
    ready_list->pop_back();
    entry();
  }
  delete std::exchange(ready_list, nullptr);
  draining = false;
}

/// Starts an operation. True: it is complete already. False: finish() will be called, perhaps has
/// been.
bool Stream::start(Op* op) {
  bool skip = owner_.error.load(std::memory_order_relaxed) != 0;
  switch (op->kind) {
    case Op::Kind::grid:
      if (skip) return true;
      op->grid->done = [this, op](const engine::FaultInfo& fault) {
        if (fault.kind != kernel::Fault::none) owner_.kernel_failed(fault);
        memory_may_have_changed();
        finish(op);
      };
      owner_.pool->submit(std::move(op->grid));
      return false;
    case Op::Kind::task:
      if (skip && !op->always) return true;
      if (op->quick) {
        op->action();
        return true;
      }
      owner_.pool->submit_task(
          [this, op] {
            op->action();
            finish(op);
          },
          op->may_block);
      return false;
    case Op::Kind::deferred: {
      if (skip && !op->always) return true;
      // Taken out first: it may end elsewhere, with the operation, before it returns here.
      auto action = std::move(op->deferred);
      return action([this, op] { finish(op); });
    }
    case Op::Kind::record:
      if (op->event->timing) {
        std::lock_guard lock(op->event->mutex);
        if (op->event->point.stream.get() == this && op->event->point.seq == op->seq)
          op->event->time_ns.store(event_clock_ns(), std::memory_order_relaxed);
      }
      return true;
    case Op::Kind::wait:
      return !wait_or_register(op);
  }
  return true;
}

/// True when `op` was registered with the stream it waits for.
bool Stream::wait_or_register(Op* op) {
  Stream& other = *op->point.stream;
  std::lock_guard lock(other.mutex_);
  if (other.completed_.reached(op->point.seq)) return false;
  other.waiters_.push_back({op->point.seq, shared_from_this(), op});
  return true;
}

void Stream::complete(Op* op) {
  // What the operation kept alive goes before anybody can see it complete.
  op->action = nullptr;
  op->event.reset();
  op->point.stream.reset();
  std::vector<Waiter> released;
  {
    std::lock_guard lock(mutex_);
    completed_.raise(op->seq);
    for (size_t i = 0; i < waiters_.size();) {
      if (waiters_[i].seq > op->seq) {
        ++i;
        continue;
      }
      released.push_back(std::move(waiters_[i]));
      waiters_[i] = std::move(waiters_.back());
      waiters_.pop_back();
    }
  }
  for (Waiter& waiter : released) make_ready(std::move(waiter.stream), waiter.op);
}

void Stream::make_ready(std::shared_ptr<Stream> stream, Op* op) {
  // Always called below run_from_head() or finish(), which drain the list.
  if (!ready_list) ready_list = new ReadyList;
  ready_list->push_back([stream = std::move(stream), op] { stream->finish(op); });
}

void Stream::finish(Op* op) {
  complete(op);
  delete op;
  run_from_head();
}

}  // namespace limen::cpu
