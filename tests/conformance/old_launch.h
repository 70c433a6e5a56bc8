// Launches as before CUDA 4: parameters, shape and sizes are set on the function.
#pragma once
#include "conformance/texts.h"

namespace limen::conform {

/// Sets the first parameter, an address, and a size for it alone.
inline void set_address(CUfunction function, CUdeviceptr address) {
  REQUIRE(cuParamSetv(function, 0, &address, sizeof address));
  REQUIRE(cuParamSetSize(function, sizeof address));
}

/// One thread with `bytes` of parameters.
inline void run_once(CUfunction function, unsigned bytes) {
  REQUIRE(cuParamSetSize(function, bytes));
  REQUIRE(cuFuncSetBlockShape(function, 1, 1, 1));
  REQUIRE(cuLaunch(function));
  REQUIRE(cuCtxSynchronize(nullptr));
}

}  // namespace limen::conform
