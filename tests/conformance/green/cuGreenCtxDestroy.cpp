#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuGreenCtxDestroy, its_streams_are_gone) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUstream stream = nullptr;
  REQUIRE(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  Buffer word(4);
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, word.at(), 9u));
  expect_code("destroy", cuGreenCtxDestroy(green), CUDA_SUCCESS);
  expect_code("query", cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("destroy the stream", cuStreamDestroy(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("twice", cuGreenCtxDestroy(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM(cuGreenCtxDestroy, while_current) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUcontext context = nullptr;
  REQUIRE(cuCtxFromGreenCtx(&context, green));
  REQUIRE(cuCtxPushCurrent(context));
  expect_code("destroy", cuGreenCtxDestroy(green), CUDA_SUCCESS);
  expect_code("then", cuCtxSynchronize(nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  REQUIRE(cuCtxPopCurrent(nullptr));
  expect_code("the primary one lives", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect_code("null", cuGreenCtxDestroy(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
