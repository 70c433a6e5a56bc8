#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuGreenCtxGetDevResource, gives_what_it_was_made_with) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[1]);
  CUdevResource has{};
  expect_code("get", cuGreenCtxGetDevResource(green, &has, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  expect_true("count", has.sm.smCount == halves.groups[1].sm.smCount);
  CUdevResource again{};
  unsigned count = 1;
  expect_code("may be split again",
              cuDevSmResourceSplitByCount(&again, &count, &has, nullptr,
                                          CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2),
              CUDA_SUCCESS);
  expect_code("no result", cuGreenCtxGetDevResource(green, nullptr, CU_DEV_RESOURCE_TYPE_SM),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no type", cuGreenCtxGetDevResource(green, &has, CU_DEV_RESOURCE_TYPE_INVALID),
              CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

}  // namespace limen::conform
