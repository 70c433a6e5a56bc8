// Answers a driver function that is not built: CUDA_ERROR_NOT_SUPPORTED, and its name once, on
// standard error or in the log of LIMEN_LOG. Constant-initialised and never destroyed.
#pragma once
#include <atomic>

#include "abi/cuda_abi.h"

namespace limen {

class Unsupported {
 public:
  CUresult answer(const char* name) {
    if (!said_.exchange(true, std::memory_order_relaxed)) say(name);
    return CUDA_ERROR_NOT_SUPPORTED;
  }

 private:
  static void say(const char* name);
  std::atomic<bool> said_{false};
};

}  // namespace limen
