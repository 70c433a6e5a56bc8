#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuCtxFromGreenCtx, works_as_the_primary_context) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUcontext context = nullptr, primary = nullptr, current = nullptr;
  expect_code("convert", cuCtxFromGreenCtx(&context, green), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_true("another handle", context != primary);
  REQUIRE(cuCtxPushCurrent(context));
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("current", current == context);
  CUdevice device = -1;
  REQUIRE(cuCtxGetDevice(&device, nullptr));
  expect("device", device, 0);
  Buffer word(4);
  write<uint32_t>(word, 0);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, word.at(), 6u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("default stream works", read<uint32_t>(word), 6u);
  CUstream made = nullptr;
  REQUIRE(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
  CUgreenCtx of = nullptr;
  REQUIRE(cuStreamGetGreenCtx(made, &of));
  expect_true("streams made now are its own", of == green);
  REQUIRE(cuCtxPopCurrent(&current));
  expect_true("popped", current == context);
  expect("memory outlives the switch", read<uint32_t>(word), 6u);
}

CONFORM(cuCtxFromGreenCtx, wrong_arguments) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUcontext context = nullptr;
  expect_code("no result", cuCtxFromGreenCtx(nullptr, green), CUDA_ERROR_INVALID_VALUE);
  expect_code("no context", cuCtxFromGreenCtx(&context, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);  // to measure on H200
}

}  // namespace limen::conform
