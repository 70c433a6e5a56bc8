#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuGetErrorName, of_codes, nothing) {
  const char* name = nullptr;
  expect_code("success", cuGetErrorName(CUDA_SUCCESS, &name), CUDA_SUCCESS);
  expect("its name", name ? name : "", "CUDA_SUCCESS");
  expect_code("700", cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name), CUDA_SUCCESS);
  expect("700's name", name ? name : "", "CUDA_ERROR_ILLEGAL_ADDRESS");
  expect_code("unknown", cuGetErrorName(static_cast<CUresult>(12345), &name),
              CUDA_ERROR_INVALID_VALUE);
  expect_true("null then", name == nullptr);
}

}  // namespace limen::conform
