// The page of a shared event and the futexes on it. Thread rule: see the header.
#include "drivers/cpu/stream/shared_event.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>

#include "base/log.h"
#include "drivers/cpu/memory/process_handle.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

namespace {
constexpr uint64_t page_bytes = 8192;
constexpr uint64_t slot_count = 300;
constexpr uint64_t event_magic = 0x326e6576456e6d4c;
constexpr int start_bits = 40;  // of a slot's word that says who is who; the process is above
constexpr uint64_t start_mask = (uint64_t{1} << start_bits) - 1;

/// When this process started; asked anew after a fork.
uint64_t own_start_time() {
  static std::atomic<int> process{0};
  static std::atomic<uint64_t> started{0};
  if (process.load(std::memory_order_acquire) != getpid()) {
    started = start_time_of(getpid());
    process.store(getpid(), std::memory_order_release);
  }
  return started;
}

}  // namespace

struct SharedEvent::Page {
  std::atomic<uint64_t> magic;
  std::atomic<uint64_t> recorded;
  std::atomic<uint32_t> epoch, sleepers;
  struct Slot {
    std::atomic<uint64_t> done;
    /// Who made its latest record: low half of the record's number, then the process.
    std::atomic<uint64_t> claim;
    /// That process once more, and when it started: numbers of processes come again. A process
    /// that was stopped while another took its claim over may leave itself here.
    std::atomic<uint64_t> starter;

    /// False when it was done before. Never goes back: two processes may find at once that a third
    /// is gone, and the slower must not undo a later record of the faster.
    bool raise_done(uint64_t record) {
      uint64_t before = done.load();
      while (before < record)
        if (done.compare_exchange_weak(before, record)) return true;
      return false;
    }
  };
  Slot slots[slot_count];
};

std::shared_ptr<SharedEvent> SharedEvent::map(std::shared_ptr<SharedFile> file) {
  static_assert(sizeof(Page) <= page_bytes);
  static_assert(std::atomic<uint64_t>::is_always_lock_free);
  if (!file || file->bytes() < page_bytes) return nullptr;
  void* memory =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor(), 0);
  if (memory == MAP_FAILED) return nullptr;
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), static_cast<Page*>(memory)));
}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  auto event = map(SharedFile::create("limen-event", page_bytes));
  if (event) event->page_->magic = event_magic;
  return event;
}

std::shared_ptr<SharedEvent> SharedEvent::open(std::shared_ptr<SharedFile> file) {
  auto event = map(std::move(file));
  return event && event->page_->magic == event_magic ? event : nullptr;
}

SharedEvent::~SharedEvent() { munmap(page_, page_bytes); }

uint64_t SharedEvent::latest() const { return page_->recorded.load(); }

bool SharedEvent::done(uint64_t record) const {
  return !record || page_->slots[record % slot_count].done.load() >= record;
}

uint64_t SharedEvent::begin() {
  const uint64_t started = own_start_time() & start_mask;
  // A number counts from when its slot names its process: who is killed in between leaves a claim
  // that nobody waits for, and that the next one takes over.
  uint64_t stuck_at = 0;
  int tries = 0;
  for (;;) {
    const uint64_t record = page_->recorded.load() + 1;
    if (record > slot_count) wait(record - slot_count);
    Page::Slot& slot = page_->slots[record % slot_count];
    uint64_t claim = slot.claim.load();
    // Somebody else made this record, and perhaps others since: the claim is of a later one.
    if (page_->recorded.load() != record - 1) continue;
    const auto claimer = static_cast<int>(uint32_t(claim));
    if (claimer && claim >> 32 == uint32_t(record)) {
      // Somebody is between the two steps: a moment, or for ever.
      if (stuck_at != record) tries = 0;
      stuck_at = record;
      if (++tries < 10000 && !(tries % 16 == 0 && is_gone(claimer, 0))) {
        usleep(tries < 16 ? 0 : 1000);
        continue;
      }
    }
    const uint64_t own = record << 32 | uint32_t(getpid());
    if (!slot.claim.compare_exchange_strong(claim, own)) continue;
    slot.starter = uint64_t(getpid()) << start_bits | started;
    uint64_t before = record - 1;
    if (page_->recorded.compare_exchange_strong(before, record)) return record;
  }
}

void SharedEvent::finish(uint64_t record) {
  page_->slots[record % slot_count].raise_done(record);
  page_->epoch.fetch_add(1);
  if (page_->sleepers.load())
    syscall(SYS_futex, &page_->epoch, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool SharedEvent::reached(uint64_t record) const {
  if (done(record)) return true;
  Page::Slot& slot = page_->slots[record % slot_count];
  const auto process = static_cast<int>(uint32_t(slot.claim.load()));
  const uint64_t starter = slot.starter.load();
  if (done(record)) return true;
  const bool same = starter >> start_bits == uint64_t(process);
  if (process == getpid() || !is_gone(process, same ? starter & start_mask : 0)) return false;
  if (slot.raise_done(record))
    log::warn("process %d ended before an event that it recorded was reached", process);
  return true;
}

void SharedEvent::wait(uint64_t record) const {
  if (done(record)) return;
  page_->sleepers.fetch_add(1);
  for (;;) {
    const uint32_t epoch = page_->epoch.load();
    if (done(record)) break;
    // The other process may be killed at any time: nobody would wake us then.
    constexpr timespec look_again{0, 50'000'000};
    syscall(SYS_futex, &page_->epoch, FUTEX_WAIT, epoch, &look_again, nullptr, 0);
    if (reached(record)) break;
  }
  page_->sleepers.fetch_sub(1);
}

void record_shared(const std::shared_ptr<SharedEvent>& event, Stream& stream) {
  const uint64_t record = event->begin();
  // Also when the context has failed: another process must not wait for ever.
  stream.task([event, record] { event->finish(record); }, true, false, true);
}

void wait_for_shared(const std::shared_ptr<SharedEvent>& event, Stream& stream) {
  const uint64_t record = event->latest();
  if (event->done(record)) return;
  stream.task([event, record] { event->wait(record); }, false, true);
}

}  // namespace limen::cpu
