#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuCtxDetach, the_last_one_destroys, initialised) {
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("detach", cuCtxDetach(made), CUDA_SUCCESS);
  CUcontext current = made;
  REQUIRE(cuCtxGetCurrent(&current));
  expect("nothing is current", current, nullptr);
  expect_code("null", cuCtxDetach(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxDetach, the_last_use_destroys) {
  CUcontext made = nullptr, attached = nullptr, now = nullptr, primary = nullptr;
  CUdeviceptr address = 0;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxAttach(&attached, 0));
  REQUIRE(cuMemAlloc(&address, 16));
  expect_code("one of two", cuCtxDetach(made), CUDA_SUCCESS);
  unsigned type = 0;
  expect_code("memory lives",
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
              CUDA_SUCCESS);
  expect_code("two of two", cuCtxDetach(made), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("popped", now == primary);
  expect_code("memory is gone",
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxDetach, wrong_contexts) {
  CUcontext made = nullptr;
  expect_code("none", cuCtxDetach(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxPopCurrent(&made));
  expect_code("not current", cuCtxDetach(made), CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(cuCtxDestroy(made));
  expect_code("destroyed", cuCtxDetach(made), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxDetach, needs_a_context, initialised) {
  expect_code("no context", cuCtxDetach(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxDetach, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxDetach(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
