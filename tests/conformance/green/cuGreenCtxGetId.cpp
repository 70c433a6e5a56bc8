#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuGreenCtxGetId, unique) {
  Halves halves;
  CUgreenCtx one = make_green(halves.groups[0]), two = make_green(halves.groups[1]);
  unsigned long long first = 0, second = 0, current = 0;
  expect_code("first", cuGreenCtxGetId(one, &first), CUDA_SUCCESS);
  expect_code("second", cuGreenCtxGetId(two, &second), CUDA_SUCCESS);
  expect_true("differ", first != second);
  CUcontext context = nullptr;
  REQUIRE(cuCtxFromGreenCtx(&context, one));
  REQUIRE(cuCtxPushCurrent(context));
  expect_code("of the current one", cuGreenCtxGetId(nullptr, &current), CUDA_SUCCESS);
  expect_true("is the first's", current == first);
  REQUIRE(cuCtxPopCurrent(nullptr));
  expect_code("none is current", cuGreenCtxGetId(nullptr, &current), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no result", cuGreenCtxGetId(one, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
