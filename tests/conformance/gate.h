// A gate: work of a stream behind it does not start before it is opened, or its scope ends. Kernels
// are loaded before: a GPU's driver may wait for what runs when it loads one (load_kernel checks).
#pragma once
#include <atomic>

#include "conformance/conform.h"

namespace limen::conform {

inline std::atomic<int> closed_gates{0};

class Gate {
 public:
  explicit Gate(CUstream stream) {
    void* word = nullptr;
    REQUIRE(cuMemHostAlloc(&word, 4, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    open_ = static_cast<volatile uint32_t*>(word);
    *open_ = 0;
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream, word));
    ++closed_gates;
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() {
    if (*open_ == 0) --closed_gates;
    *open_ = 1;
  }

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
