// Lane meetings of one warp; see exchange.h.
#include "engine/exchange.h"

#include <bit>

namespace limen::engine {

void WarpExchange::start(uint32_t existing) {
  pending_.clear();
  free_ = nullptr;
  for (auto& snapshot : owned_) {
    snapshot->next_free = free_;
    free_ = snapshot.get();
  }
  exited_ = ~existing;
}

Snapshot* WarpExchange::take() {
  if (free_ == nullptr) {
    owned_.push_back(std::make_unique<Snapshot>());
    free_ = owned_.back().get();
  }
  Snapshot* snapshot = free_;
  free_ = snapshot->next_free;
  snapshot->exchange = {};
  snapshot->next_free = nullptr;
  return snapshot;
}

void WarpExchange::release(Snapshot* snapshot) {
  if (snapshot == nullptr || --snapshot->references != 0) return;
  snapshot->next_free = free_;
  free_ = snapshot;
}

Rendezvous WarpExchange::arrive(uint32_t lane, uint32_t member, uint32_t tag, uint64_t value) {
  size_t at = 0;
  while (at < pending_.size() && (pending_[at].member != member || pending_[at].tag != tag)) ++at;
  if (at == pending_.size()) pending_.push_back({member, tag, 0, take()});
  Rendezvous& meeting = pending_[at];
  meeting.arrived |= 1u << lane;
  meeting.snapshot->exchange.values[lane] = value;
  if ((member & ~exited_ & ~meeting.arrived) != 0) return {};
  const Rendezvous result = meeting;
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
  result.snapshot->exchange.present = result.arrived;
  result.snapshot->references = static_cast<uint32_t>(std::popcount(result.arrived));
  return result;
}

void WarpExchange::exit_lane(uint32_t lane, std::vector<Rendezvous>& done) {
  exited_ |= 1u << lane;
  for (size_t at = 0; at < pending_.size();) {
    const Rendezvous meeting = pending_[at];
    if ((meeting.member & ~exited_ & ~meeting.arrived) != 0) {
      ++at;
      continue;
    }
    meeting.snapshot->exchange.present = meeting.arrived;
    meeting.snapshot->references = static_cast<uint32_t>(std::popcount(meeting.arrived));
    done.push_back(meeting);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace limen::engine
