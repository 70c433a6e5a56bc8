// The page of a shared event and the futexes on it. Thread rule: see the header.
#include "drivers/cpu/stream/shared_event.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <fstream>
#include <string>

#include "base/log.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

namespace {
constexpr uint64_t page_bytes = 8192;
constexpr uint64_t slot_count = 400;
constexpr uint64_t event_magic = 0x746e6576456e6d4c;
/// Whether nobody will finish what the process began. One that was killed stays a zombie until its
/// parent asks for it.
bool is_gone(int process) {
  if (kill(process, 0) != 0 && errno == ESRCH) return true;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() &&
         (line[name_end + 2] == 'Z' || line[name_end + 2] == 'X');
}

}  // namespace

struct SharedEvent::Page {
  std::atomic<uint64_t> magic;
  std::atomic<uint64_t> recorded;
  std::atomic<uint32_t> epoch, sleepers;
  struct Slot {
    std::atomic<uint64_t> done;
    std::atomic<int32_t> process;  ///< who recorded last
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
  const uint64_t record = page_->recorded.fetch_add(1) + 1;
  if (record > slot_count) wait(record - slot_count);
  page_->slots[record % slot_count].process = getpid();
  return record;
}

void SharedEvent::finish(uint64_t record) {
  page_->slots[record % slot_count].done.store(record);
  page_->epoch.fetch_add(1);
  if (page_->sleepers.load())
    syscall(SYS_futex, &page_->epoch, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
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
    const int process = page_->slots[record % slot_count].process.load();
    if (!done(record) && process && process != getpid() && is_gone(process)) {
      log::warn("process %d ended before an event that it recorded was reached", process);
      page_->slots[record % slot_count].done.store(record);
      break;
    }
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
