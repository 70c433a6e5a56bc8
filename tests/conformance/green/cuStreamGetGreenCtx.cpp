#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuStreamGetGreenCtx, tells_green_streams_from_others) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]), of = nullptr;
  CUstream inside = nullptr, outside = nullptr;
  REQUIRE(cuGreenCtxStreamCreate(&inside, green, CU_STREAM_NON_BLOCKING, 0));
  REQUIRE(cuStreamCreate(&outside, CU_STREAM_NON_BLOCKING));
  expect_code("green", cuStreamGetGreenCtx(inside, &of), CUDA_SUCCESS);
  expect_true("its context", of == green);
  expect_code("plain", cuStreamGetGreenCtx(outside, &of), CUDA_SUCCESS);
  expect("no green context", of, nullptr);
  CUcontext context = nullptr;
  REQUIRE(cuCtxFromGreenCtx(&context, green));
  REQUIRE(cuCtxPushCurrent(context));
  expect_code("default stream", cuStreamGetGreenCtx(nullptr, &of), CUDA_SUCCESS);
  expect_true("of the current one", of == green);
  expect_code("per-thread stream", cuStreamGetGreenCtx(CU_STREAM_PER_THREAD, &of),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no result", cuStreamGetGreenCtx(inside, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
