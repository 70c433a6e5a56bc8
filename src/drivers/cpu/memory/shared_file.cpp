// memfd_create, its seals and its mappings. Every failure is logged with its number: what is out
// here is descriptors, mappings or address space, and programs see only "out of memory".
// Thread rule: see the header.
#include "drivers/cpu/memory/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace limen::cpu {

namespace {

/// Growing a file beyond RLIMIT_FSIZE would kill the process by SIGXFSZ.
bool size_is_allowed(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

}  // namespace

std::shared_ptr<SharedFile> SharedFile::create(const char* what, uint64_t bytes) {
  if (!size_is_allowed(bytes)) {
    log::warn("%s: a shared file of %llu bytes is above the file size limit (ulimit -f)", what,
              static_cast<unsigned long long>(bytes));
    return nullptr;
  }
  int descriptor = memfd_create(what, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  bool made = descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 &&
              fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (made) return std::shared_ptr<SharedFile>(new SharedFile(descriptor, bytes));
  log::warn("%s: no shared file of %llu bytes: %s", what, static_cast<unsigned long long>(bytes),
            std::strerror(errno));
  if (descriptor >= 0) close(descriptor);
  return nullptr;
}

std::shared_ptr<SharedFile> SharedFile::adopt(int descriptor, uint64_t least_bytes) {
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return nullptr;
  off_t end = S_ISREG(status.st_mode) ? status.st_size : lseek(descriptor, 0, SEEK_END);
  uint64_t bytes = end < 0 ? 0 : static_cast<uint64_t>(end);
  if (bytes == 0 || bytes < least_bytes) return nullptr;
  return std::shared_ptr<SharedFile>(new SharedFile(descriptor, bytes));
}

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

int SharedFile::duplicate() const { return fcntl(descriptor_, F_DUPFD_CLOEXEC, 0); }

bool SharedFile::map(uint64_t address, uint64_t bytes, uint64_t offset, int protection) const {
  void* at = reinterpret_cast<void*>(address);
  if (mmap(at, bytes, protection, MAP_SHARED | MAP_FIXED, descriptor_,
           static_cast<off_t>(offset)) == MAP_FAILED)
    return false;
  // Where the administrator allows it (transparent_hugepage/shmem_enabled = advise).
  if (bytes >= chunk_bytes) madvise(at, bytes, MADV_HUGEPAGE);
  return true;
}

void SharedFile::discard(uint64_t offset, uint64_t bytes) const {
  fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
}

bool SharedFile::read(uint64_t offset, void* data, uint64_t bytes) const {
  return pread(descriptor_, data, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

bool SharedFile::write(uint64_t offset, const void* data, uint64_t bytes) const {
  return pwrite(descriptor_, data, bytes, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(bytes);
}

bool FileParts::take(uint64_t bytes, std::shared_ptr<SharedFile>* file, uint64_t* offset) {
  std::lock_guard lock(mutex_);
  if (!file_) {
    constexpr uint64_t most_bytes = uint64_t{1} << 42;  // sparse: costs nothing
    file_ = SharedFile::create("limen-parts", most_bytes);
    if (!file_) return false;
    free_.emplace(0, most_bytes);
  }
  for (auto part = free_.begin(); part != free_.end(); ++part) {
    if (part->second < bytes) continue;
    *file = file_;
    *offset = part->first;
    if (part->second > bytes) free_.emplace(part->first + bytes, part->second - bytes);
    free_.erase(part);
    return true;
  }
  return false;
}

void FileParts::give_back(uint64_t offset, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  file_->discard(offset, bytes);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(offset, bytes);
}

}  // namespace limen::cpu
