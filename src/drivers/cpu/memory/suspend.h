// Taking the contents of an allocator's pages away and bringing them back (checkpoints). What other
// processes or the program's own host code may use meanwhile (shared and managed memory) stays.
// Invariant: between suspend() and resume() nobody allocates, frees or touches the memory; the
// caller sees to that. Thread rule: as Allocator.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "drivers/cpu/memory/allocator.h"

namespace limen::cpu {

/// One region's pages.
struct SuspendedRegion {
  uint64_t base = 0, bytes = 0;
  bool huge = false;
  std::vector<uint64_t> pages;            ///< addresses of pages that are not all zero
  std::unique_ptr<unsigned char[]> data;  ///< their contents, one after the other
};

struct SuspendedMemory {
  std::vector<SuspendedRegion> regions;
};

}  // namespace limen::cpu
