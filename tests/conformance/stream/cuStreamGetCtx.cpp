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
  expect_code("no result", cuStreamGetCtx(stream, nullptr, &green), CUDA_SUCCESS);
}

CONFORM(cuStreamGetCtx, is_the_context_of_its_creation) {
  CUcontext primary = nullptr, made = nullptr, context = nullptr;
  CUstream stream = nullptr;
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(foreign_memory());
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("asks", cuStreamGetCtx(stream, &context, &green), CUDA_SUCCESS);
  expect_true("the primary", context == primary);
  expect_true("no green context", green == nullptr);
  expect_code("null", cuStreamGetCtx(nullptr, &context, &green), CUDA_SUCCESS);
  expect_true("the current", context == made);
  context = nullptr;
  expect_code("per thread", cuStreamGetCtx(CU_STREAM_PER_THREAD, &context, &green), CUDA_SUCCESS);
  expect_true("the current too", context == made);
  context = nullptr;
  expect_code("no place for a green one", cuStreamGetCtx(stream, &context, nullptr), CUDA_SUCCESS);
  expect_code("no result", cuStreamGetCtx(stream, nullptr, &green), CUDA_SUCCESS);
  auto first =
      reinterpret_cast<CUresult (*)(CUstream, CUcontext*)>(driver_symbol("cuStreamGetCtx"));
  context = nullptr;
  expect_code("first ABI", first(stream, &context), CUDA_SUCCESS);
  expect_true("first ABI's answer", context == primary);
  expect_code("first ABI, no result", first(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuStreamGetCtx(stream, &context, &green), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamGetCtx, needs_a_context, initialised) {
  CUcontext context;
  CUgreenCtx green;
  expect_code("no context", cuStreamGetCtx(nullptr, &context, &green), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamGetCtx, needs_cuInit, nothing) {
  CUcontext context;
  CUgreenCtx green;
  expect_code("not initialised", cuStreamGetCtx(nullptr, &context, &green),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
