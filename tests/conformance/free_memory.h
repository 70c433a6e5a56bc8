// How free memory changes over a call. Other processes take and give device memory at any time, so
// one of several tries must see the change alone. Thread rule: as conform.h.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

struct FreeMemory {
  static constexpr int tries = 50;
  bool seen = false;  ///< in one of the tries

  void begin() { before_ = now(); }
  void fell_by(size_t bytes) { seen |= is_about(before_ - now(), bytes); }
  void rose_by(size_t bytes) { seen |= is_about(now() - before_, bytes); }

 private:
  /// A GPU's memory comes with tables.
  static bool is_about(size_t change, size_t bytes) {
    return change >= bytes && change <= bytes + (bytes ? size_t{2} << 20 : 0);
  }
  static size_t now() {
    size_t free = 0, total = 0;
    REQUIRE(cuMemGetInfo(&free, &total));
    return free;
  }
  size_t before_ = 0;
};

}  // namespace limen::conform
