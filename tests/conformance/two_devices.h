// For cases of Setup::nothing that need two devices: the CPU device shows as many as it is asked
// for; on a machine with one GPU the case is skipped.
#pragma once
#include <cstdlib>

#include "conformance/conform.h"

namespace limen::conform {

/// cuInit, and the primary contexts of the devices 0 (then current) and 1.
struct TwoContexts {
  CUcontext first = nullptr, second = nullptr;
  TwoContexts() {
    setenv("LIMEN_DEVICES", "2", 1);
    int count = 0;
    REQUIRE(cuInit(0));
    REQUIRE(cuDeviceGetCount(&count));
    if (count < 2) skip("needs two devices");
    REQUIRE(cuDevicePrimaryCtxRetain(&second, 1));
    REQUIRE(cuDevicePrimaryCtxRetain(&first, 0));
    REQUIRE(cuCtxSetCurrent(first));
  }
};

}  // namespace limen::conform
