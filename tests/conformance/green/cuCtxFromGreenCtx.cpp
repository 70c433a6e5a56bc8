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

CONFORM(cuCtxFromGreenCtx, occupancy_counts_its_part) {
  Halves halves;
  CUcontext context = nullptr;
  expect_code("convert", cuCtxFromGreenCtx(&context, make_green(halves.groups[0])), CUDA_SUCCESS);
  CUfunction kernel = common_kernel("store");
  int grid = 0, block = 0, sms = 0;
  REQUIRE(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel, nullptr, 0, 0));
  REQUIRE(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  const int a_multiprocessor = grid / sms;
  REQUIRE(cuCtxPushCurrent(context));
  REQUIRE(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel, nullptr, 0, 0));
  expect_true("blocks of its multiprocessors",
              grid == a_multiprocessor * static_cast<int>(halves.groups[0].sm.smCount));
}

CONFORM(cuCtxFromGreenCtx, wrong_arguments) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUcontext context = nullptr;
  expect_code("no result", cuCtxFromGreenCtx(nullptr, green), CUDA_ERROR_INVALID_VALUE);
  expect_code("no context", cuCtxFromGreenCtx(&context, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
