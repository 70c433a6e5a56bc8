#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamGetCtx, where_it_was_made) {
  CUcontext primary = nullptr, other = nullptr, of = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  CUgreenCtx green = foreign_handle<CUgreenCtx>();
  expect_code("stream", cuStreamGetCtx(stream, &of, &green), CUDA_SUCCESS);
  expect_true("its context", of == primary);
  expect("not green", green, nullptr);
  expect_code("default stream", cuStreamGetCtx(nullptr, &of, &green), CUDA_SUCCESS);
  expect_true("of the current one", of == other);
  expect_code("no result", cuStreamGetCtx(stream, nullptr, &green), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
