// Stream: an in-order queue of operations. The thread that completes one operation starts the next,
// so a chain never passes through the host thread. Order between streams is made of one primitive,
// "wait until stream S has completed operation n"; events and the legacy default stream's rules are
// built from it. Knows nothing of CUDA handles, modules or memory.
// Invariant: at most one operation of a stream is in progress; completed() rises by one each.
// Thread rule: any thread; mutex_ is never held while an operation runs.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/cpu/stream/signal.h"
#include "engine/engine.h"

namespace limen::cpu {

class Stream;
struct EventState;
class SharedEvent;

/// What streams need of the context that owns them.
struct StreamOwner {
  engine::Pool* pool = nullptr;
  /// 0, or the CUresult that every later call gives; operations are then skipped, not run.
  std::atomic<int> error{0};
  /// Streams with work queued or running.
  std::atomic<uint32_t> busy_streams{0};
  virtual void kernel_failed(const engine::FaultInfo& fault) = 0;

 protected:
  ~StreamOwner() = default;
};

/// A point in a stream: reached when the stream has completed its operation number `seq`.
struct StreamPoint {
  std::shared_ptr<Stream> stream;
  uint64_t seq = 0;
  bool reached() const;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind : uint8_t { legacy, blocking, non_blocking };

  Stream(StreamOwner& owner, Kind kind, int priority)
      : owner_(owner), kind_(kind), priority_(priority) {}
  ~Stream();

  /// Queues a grid; its `done` is set here. Returns its sequence number.
  uint64_t launch(std::unique_ptr<engine::GridSpec> grid);
  /// Queues a host-side action. `quick`: short and never blocks, may run on whichever thread comes
  /// by. `always`: runs even when the context is poisoned (stream callbacks, releases).
  uint64_t task(std::function<void()> action, bool quick, bool may_block = false,
                bool always = false);
  /// Queues an action that may end later, on any thread, without holding one meanwhile: it returns
  /// true when it is over, or keeps `done` and returns false. Skipped when the context is poisoned,
  /// unless `always`.
  uint64_t deferred(std::function<bool(std::function<void()> done)> action, bool always = false);
  /// Queues the recording of an event, and makes the event refer to this point.
  uint64_t record(const std::shared_ptr<EventState>& event);
  /// Later operations of this stream start after `point`.
  uint64_t wait_for(StreamPoint point);

  /// The point that everything queued so far will have completed at.
  StreamPoint tail();
  bool idle() const { return completed_.value() == submitted_.load(std::memory_order_acquire); }
  /// Blocks the calling host thread until operation `seq` is complete.
  void wait(uint64_t seq, WaitPolicy policy) { completed_.wait(seq, policy); }
  /// Blocks the calling host thread while so much is queued that the machine's memory would be lost
  /// to it: half a kilobyte an operation. (NVIDIA's driver blocks at some thousand launches.)
  void wait_for_room(WaitPolicy policy) {
    const uint64_t submitted = submitted_.load(std::memory_order_acquire);
    if (submitted - completed_.value() >= most_queued) wait(submitted - most_queued / 2, policy);
  }
  void wait_all(WaitPolicy policy) { wait(submitted_.load(std::memory_order_acquire), policy); }

  Kind kind() const { return kind_; }
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  void set_priority(int priority) { priority_.store(priority, std::memory_order_relaxed); }
  StreamOwner& owner() const { return owner_; }

 private:
  friend struct StreamPoint;
  struct Op {
    enum class Kind : uint8_t { grid, task, record, wait, deferred };
    Kind kind = Kind::task;
    bool quick = false, may_block = false, always = false;
    Op* next = nullptr;
    uint64_t seq = 0;
    std::unique_ptr<engine::GridSpec> grid;
    std::function<void()> action;
    std::function<bool(std::function<void()>)> deferred;
    std::shared_ptr<EventState> event;
    StreamPoint point;
  };
  struct Waiter {
    uint64_t seq;
    std::shared_ptr<Stream> stream;
    Op* op;
  };

  uint64_t submit(Op* op);
  uint64_t append(Op* op);
  bool take_up();
  void begin();
  bool start(Op* op);
  void complete(Op* op);
  void finish(Op* op);
  void run_from_head();
  bool wait_or_register(Op* op);
  static void make_ready(std::shared_ptr<Stream> stream, Op* op);

  static constexpr uint64_t most_queued = 16384;

  StreamOwner& owner_;
  const Kind kind_;
  std::atomic<int> priority_;
  std::mutex mutex_;
  Op *head_ = nullptr, *last_ = nullptr;
  bool busy_ = false;
  std::shared_ptr<Stream> self_;  ///< set while busy: work in flight keeps the stream alive
  std::vector<Waiter> waiters_;
  std::atomic<uint64_t> submitted_{0};
  Signal completed_;
};

inline bool StreamPoint::reached() const { return !stream || stream->completed_.reached(seq); }

/// An event's state; shared with recordings in flight, so that destroying the event is always safe.
struct EventState {
  bool timing = true;
  bool blocking_sync = false;
  std::mutex mutex;
  bool recorded = false;
  StreamPoint point;                    ///< of the latest record
  std::atomic<uint64_t> time_ns{0};     ///< when the latest record completed
  std::shared_ptr<SharedEvent> shared;  ///< of events between processes: `point` is not used then

  StreamPoint latest();
};

/// The clock of event times.
uint64_t event_clock_ns();

}  // namespace limen::cpu
