// What cuMemAdvise and cuMemPrefetchAsync said of each page of a range. Nothing acts on it: host
// and devices share one memory; programs read it back. Invariant: neighbouring runs of pages
// differ. Thread rule: none of its own, the caller locks.
#pragma once
#include <cstdint>
#include <map>

#include "abi/cuda_abi.h"

namespace limen::cpu {

/// As the range attributes answer it. measured H200, driver 580.x
inline constexpr CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};

struct Advice {
  bool read_mostly = false, accessed_by_host = false;
  uint64_t accessed_by = 0;  ///< bit i: device i
  CUmemLocation preferred = nowhere, last_prefetch = nowhere;
};

class PageAdvice {
 public:
  /// Changes the advice of every page that [address, address + bytes) touches.
  template <typename Change>
  void change(uint64_t address, uint64_t bytes, Change how) {
    const uint64_t first = address / page_bytes, end = end_page(address, bytes);
    split(first);
    split(end);
    for (auto run = runs_.find(first); run != runs_.end() && run->first < end; ++run)
      how(run->second);
    merge(first, end);
  }
  /// What holds for all pages of the range; where they differ, as if nothing had been said.
  Advice common(uint64_t address, uint64_t bytes) const;

 private:
  static constexpr uint64_t page_bytes = 4096;
  static uint64_t end_page(uint64_t address, uint64_t bytes) {
    return (address + bytes - 1) / page_bytes + 1;
  }
  const Advice& at(uint64_t page) const;
  void split(uint64_t page);
  void merge(uint64_t first, uint64_t end);

  std::map<uint64_t, Advice> runs_;  ///< first page -> advice up to the next run
};

}  // namespace limen::cpu
