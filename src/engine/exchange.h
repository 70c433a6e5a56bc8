// Meeting points of the lanes of one warp under the lane strategy: each `.sync` instruction hands
// in a value and gets all lanes' values. A snapshot is never changed once complete, so a lane that
// runs ahead to its next exchange does not disturb slow readers of the last one. Invariant: a
// snapshot's `references` counts lanes that have not yet begun their next exchange. Thread rule:
// owned by the block's worker.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "devlib/kernel_abi.h"

namespace limen::engine {

struct Snapshot {
  kernel::Exchange exchange{};
  uint32_t references = 0;
  Snapshot* next_free = nullptr;
};

/// A meeting that some lane has not reached yet.
struct Rendezvous {
  uint32_t member = 0;
  uint32_t tag = 0;
  uint32_t arrived = 0;
  Snapshot* snapshot = nullptr;
};

class WarpExchange {
 public:
  /// Forgets everything of the last block; lanes not in `existing` count as exited.
  void start(uint32_t existing);
  /// `lane` arrives. Complete when `result.snapshot` is set: then `result.arrived` are the lanes
  /// to go on, this one included.
  Rendezvous arrive(uint32_t lane, uint32_t member, uint32_t tag, uint64_t value);
  /// `lane` has exited; each completed meeting is appended to `done`.
  void exit_lane(uint32_t lane, std::vector<Rendezvous>& done);
  void release(Snapshot* snapshot);
  const std::vector<Rendezvous>& pending() const { return pending_; }
  uint32_t exited() const { return exited_; }

 private:
  Snapshot* take();
  std::vector<Rendezvous> pending_;
  std::vector<std::unique_ptr<Snapshot>> owned_;
  Snapshot* free_ = nullptr;
  uint32_t exited_ = 0;
};

}  // namespace limen::engine
