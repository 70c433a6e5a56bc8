#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuDevResourceGenerateDesc, one_and_several_groups) {
  Halves halves;
  CUdevResourceDesc one = nullptr, both = nullptr;
  expect_code("one", cuDevResourceGenerateDesc(&one, &halves.groups[0], 1), CUDA_SUCCESS);
  expect_code("two of one split", cuDevResourceGenerateDesc(&both, halves.groups, 2), CUDA_SUCCESS);
  CUgreenCtx green = nullptr;
  REQUIRE(cuGreenCtxCreate(&green, both, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CUdevResource has{};
  REQUIRE(cuGreenCtxGetDevResource(green, &has, CU_DEV_RESOURCE_TYPE_SM));
  expect_true("both", has.sm.smCount == halves.groups[0].sm.smCount + halves.groups[1].sm.smCount);
}

CONFORM(cuDevResourceGenerateDesc, wrong_arguments) {
  Halves halves, others;
  CUdevResourceDesc description = nullptr;
  expect_code("no result", cuDevResourceGenerateDesc(nullptr, halves.groups, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no resources", cuDevResourceGenerateDesc(&description, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("none of them", cuDevResourceGenerateDesc(&description, halves.groups, 0),
              CUDA_ERROR_INVALID_VALUE);
  CUdevResource mixed[2] = {halves.groups[0], others.groups[1]};
  expect_code("of two splits", cuDevResourceGenerateDesc(&description, mixed, 2), CUDA_SUCCESS);
  CUdevResource twice[2] = {halves.groups[0], halves.groups[0]};
  expect_code("one group twice", cuDevResourceGenerateDesc(&description, twice, 2), CUDA_SUCCESS);
  CUdevResource nothing{};
  expect_code("no type", cuDevResourceGenerateDesc(&description, &nothing, 1),
              CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

}  // namespace limen::conform
