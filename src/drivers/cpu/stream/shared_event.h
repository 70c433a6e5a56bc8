// SharedEvent: an event that several processes record and wait for: a page of shared memory with
// the number of the latest record and, for the last ones, whether they are done. A record's waiters
// are told by futex. Knows nothing of streams. Invariant: a record is done exactly when its slot
// holds its number or a later one; a number is given out only when the slot's former one is done.
// Thread rule: any thread of any process. docs: design/memory_sharing.md
#pragma once
#include <cstdint>
#include <memory>

#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {

class SharedEvent {
 public:
  static std::shared_ptr<SharedEvent> create();
  /// Of another process; nullptr when the file is no event's.
  static std::shared_ptr<SharedEvent> open(std::shared_ptr<SharedFile> file);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  const SharedFile& file() const { return *file_; }
  /// The latest record's number; 0: never recorded.
  uint64_t latest() const;
  bool done(uint64_t record) const;
  /// Done, or never to be: the process that made the record is gone.
  bool reached(uint64_t record) const;
  /// A new record's number. Waits while as many records as there are slots are under way.
  uint64_t begin();
  void finish(uint64_t record);
  /// Blocks the calling thread until the record is done or the process that made it is gone.
  void wait(uint64_t record) const;

 private:
  struct Page;
  SharedEvent(std::shared_ptr<SharedFile> file, Page* page) : file_(std::move(file)), page_(page) {}
  static std::shared_ptr<SharedEvent> map(std::shared_ptr<SharedFile> file);

  std::shared_ptr<SharedFile> file_;
  Page* page_;
};

class Stream;
/// Queues a record of the event on the stream.
void record_shared(const std::shared_ptr<SharedEvent>& event, Stream& stream);
/// Makes later work of the stream wait for the latest record, whichever process made it.
void wait_for_shared(const std::shared_ptr<SharedEvent>& event, Stream& stream);

}  // namespace limen::cpu
