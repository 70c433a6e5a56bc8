// Reserving, committing and releasing pages of the driver's address range. Accounting is not done
// here. Invariant: reserved pages that are not committed are PROT_NONE and cost no memory.
// Thread rule: see the header.
#include "drivers/cpu/memory/address_space.h"

#include <sys/mman.h>

#include <fmt/format.h>

namespace limen::cpu {

Result<void> AddressSpace::reserve(uint32_t partitions, uint64_t bytes_each) {
  constexpr uint64_t least_bytes = uint64_t{1} << 30;
  bytes_each = (bytes_each + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  for (; bytes_each >= least_bytes; bytes_each /= 2) {
    uint64_t bytes = partitions * bytes_each + chunk_bytes;
    void* memory =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    uint64_t start = reinterpret_cast<uint64_t>(memory);
    base_ = (start + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
    each_ = bytes_each;
    total_ = partitions * bytes_each;
    return {};
  }
  return Error{
      Code::operating_system,
      fmt::format("cannot reserve {} address ranges of at least {} bytes", partitions, least_bytes),
      "raise the address space limit (ulimit -v)"};
}

bool AddressSpace::commit(uint64_t address, uint64_t bytes, bool huge) {
  void* pages = reinterpret_cast<void*>(address);
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  if (huge) madvise(pages, bytes, MADV_HUGEPAGE);
  return true;
}

void AddressSpace::release(uint64_t address, uint64_t bytes) {
  // A fresh mapping drops the pages and the protection in one step. Should the system refuse (too
  // many mappings), dropping the contents alone keeps the accounting true.
  void* pages = reinterpret_cast<void*>(address);
  void* result =
      mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (result == MAP_FAILED) madvise(pages, bytes, MADV_DONTNEED);
}

}  // namespace limen::cpu
