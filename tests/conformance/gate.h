// A gate: work of a stream behind it does not start before it is opened, or its scope ends.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

class Gate {
 public:
  explicit Gate(CUstream stream) {
    void* word = nullptr;
    REQUIRE(cuMemHostAlloc(&word, 4, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    open_ = static_cast<volatile uint32_t*>(word);
    *open_ = 0;
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream, word));
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { *open_ = 1; }

 private:
  volatile uint32_t* open_ = nullptr;
};

/// A word of host memory that kernels write and the host reads while they run.
class HostWord {
 public:
  HostWord() {
    void* word = nullptr;
    REQUIRE(cuMemHostAlloc(&word, 8, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    word_ = static_cast<volatile uint32_t*>(word);
    *word_ = 0;
  }
  CUdeviceptr at() const { return reinterpret_cast<CUdeviceptr>(word_); }
  uint32_t value() const { return *word_; }
  void set(uint32_t value) { *word_ = value; }

 private:
  volatile uint32_t* word_ = nullptr;
};

}  // namespace limen::conform
