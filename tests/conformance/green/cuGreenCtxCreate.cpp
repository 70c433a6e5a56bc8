#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM_WITH(cuGreenCtxCreate, activates_the_primary_context, initialised) {
  Halves halves;
  CUdevResourceDesc description = describe(halves.groups[0]);
  CUgreenCtx green = nullptr;
  expect_code("create", cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
              CUDA_SUCCESS);
  unsigned flags = 0;
  int active = 0;
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("primary is active", active, 1);
  CUcontext current = nullptr;
  REQUIRE(cuCtxGetCurrent(&current));
  expect("nothing is current", current, nullptr);
  REQUIRE(cuGreenCtxDestroy(green));
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("and goes with it", active, 0);
}

CONFORM(cuGreenCtxCreate, wrong_arguments) {
  Halves halves;
  CUdevResourceDesc description = describe(halves.groups[0]);
  CUgreenCtx green = nullptr;
  expect_code("no result", cuGreenCtxCreate(nullptr, description, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("without default stream", cuGreenCtxCreate(&green, description, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuGreenCtxCreate(&green, description, 0, 3),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no such device", cuGreenCtxCreate(&green, description, 999, 1),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM(cuGreenCtxCreate, without_a_description) {
  CUgreenCtx green = nullptr;
  expect_code("create", cuGreenCtxCreate(&green, nullptr, 0, 1), CUDA_SUCCESS);
  CUdevResource has{};
  REQUIRE(cuGreenCtxGetDevResource(green, &has, CU_DEV_RESOURCE_TYPE_SM));
  expect_true("everything", has.sm.smCount == device_sms().sm.smCount);
}

}  // namespace limen::conform
