// Readers behind Source. The one for process memory lets the kernel do the access, so that a wild
// pointer is an answer and not a signal: process_vm_readv on ourselves or, where a sandbox forbids
// that call, a pipe (write() reports EFAULT for memory it cannot read).
// This file makes system calls, as an exception to the room's rule; nothing else here does.
// Threads: the readers have no state.
#include "compiler/fatbin/source.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace limen::fatbin {
namespace {

constexpr size_t page_bytes = 4096;  // the smallest page; larger pages only make the steps shorter

class KnownMemory : public Source {
 public:
  KnownMemory(const uint8_t* data, size_t size, std::shared_ptr<const void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}

  bool read(uint64_t address, void* to, size_t size) const override {
    if (address > size_ || size > size_ - address) return false;
    if (size) std::memcpy(to, data_ + address, size);
    return true;
  }
  size_t read_some(uint64_t address, void* to, size_t size) const override {
    if (address >= size_) return 0;
    size = std::min<uint64_t>(size, size_ - address);
    std::memcpy(to, data_ + address, size);
    return size;
  }
  bool is_process() const override { return false; }

 private:
  const uint8_t* data_;
  uint64_t size_;
  std::shared_ptr<const void> owner_;
};

/// Copies one chunk that lies within a page through a pipe. A pipe holds at least a page.
bool read_through_pipe(uint64_t address, void* to, size_t size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  ssize_t written;
  do written = write(ends[1], reinterpret_cast<const void*>(address), size);
  while (written < 0 && errno == EINTR);
  bool good = written == static_cast<ssize_t>(size);
  if (good) {
    ssize_t got;
    do got = ::read(ends[0], to, size);
    while (got < 0 && errno == EINTR);
    good = got == static_cast<ssize_t>(size);
  }
  close(ends[0]);
  close(ends[1]);
  return good;
}

/// Page by page through a pipe.
class PipedMemory : public Source {
 public:
  size_t read_some(uint64_t address, void* to, size_t size) const override {
    if (size > UINT64_MAX - address) size = UINT64_MAX - address;
    size_t done = 0;
    while (done < size) {
      size_t step = std::min(size - done, page_bytes - (address + done) % page_bytes);
      if (!read_through_pipe(address + done, static_cast<uint8_t*>(to) + done, step)) return done;
      done += step;
    }
    return done;
  }
  bool read(uint64_t address, void* to, size_t size) const override {
    return read_some(address, to, size) == size;
  }
  bool is_process() const override { return true; }
};

class ProcessMemory : public PipedMemory {
 public:
  size_t read_some(uint64_t address, void* to, size_t size) const override {
    if (size > UINT64_MAX - address) size = UINT64_MAX - address;
    size_t done = 0;
    while (done < size) {
      // The kernel stops one call at 2 GiB.
      size_t step = std::min<size_t>(size - done, size_t{1} << 30);
      iovec local{static_cast<uint8_t*>(to) + done, step};
      iovec remote{reinterpret_cast<void*>(address + done), step};
      ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
      if (got > 0) {
        done += static_cast<size_t>(got);
      } else if (got == 0 || errno == EFAULT) {
        return done;
      } else if (errno != EINTR) {  // EPERM, ENOSYS: not allowed here
        return done + PipedMemory::read_some(address + done, local.iov_base, size - done);
      }
    }
    return done;
  }
};

}  // namespace

std::shared_ptr<const Source> known_memory(const void* data, size_t size) {
  return std::make_shared<KnownMemory>(static_cast<const uint8_t*>(data), size, nullptr);
}

std::shared_ptr<const Source> owned_memory(std::shared_ptr<const std::vector<uint8_t>> bytes) {
  const uint8_t* data = bytes->data();
  size_t size = bytes->size();
  return std::make_shared<KnownMemory>(data, size, std::move(bytes));
}

std::shared_ptr<const Source> process_memory() {
  // Leaked: images may outlive static destruction (NVIDIA's runtime unloads from its own atexit).
  static const auto* reader = new std::shared_ptr<const Source>(std::make_shared<ProcessMemory>());
  return *reader;
}

std::shared_ptr<const Source> process_memory_through_pipe() {
  return std::make_shared<PipedMemory>();
}

}  // namespace limen::fatbin
