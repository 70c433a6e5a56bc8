#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuCtxGetDevResource, of_primary_and_green) {
  Halves halves;
  CUcontext primary = nullptr, green = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxFromGreenCtx(&green, make_green(halves.groups[0])));
  CUdevResource has{};
  expect_code("primary", cuCtxGetDevResource(primary, &has, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  expect_true("everything", has.sm.smCount == device_sms().sm.smCount);
  expect_code("green", cuCtxGetDevResource(green, &has, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  expect_true("its part", has.sm.smCount == halves.groups[0].sm.smCount);
  expect_code("no result", cuCtxGetDevResource(primary, nullptr, CU_DEV_RESOURCE_TYPE_SM),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no context", cuCtxGetDevResource(nullptr, &has, CU_DEV_RESOURCE_TYPE_SM),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
