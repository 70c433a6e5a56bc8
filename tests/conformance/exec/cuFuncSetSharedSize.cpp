#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuFuncSetSharedSize, is_the_memory_of_the_launch) {
  CUfunction dynamic = function_of(load_module(launches_text), "dynamic");
  Buffer word(4);
  set_address(dynamic, word);
  REQUIRE(cuParamSeti(dynamic, 8, 8188));
  REQUIRE(cuParamSetSize(dynamic, 12));
  REQUIRE(cuFuncSetBlockShape(dynamic, 1, 1, 1));
  expect_code("8 KiB", cuFuncSetSharedSize(dynamic, 8192), CUDA_SUCCESS);
  REQUIRE(cuLaunch(dynamic));
  expect("its last word", read<uint32_t>(word), 8189u);
  expect_code("more than there is", cuFuncSetSharedSize(dynamic, 1 << 20),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no function", cuFuncSetSharedSize(nullptr, 16), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetSharedSize, needs_a_context, initialised) {
  expect_code("no context", cuFuncSetSharedSize(nullptr, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuFuncSetSharedSize, needs_cuInit, nothing) {
  expect_code("not initialised", cuFuncSetSharedSize(nullptr, 16), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
