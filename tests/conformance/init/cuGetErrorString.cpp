#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuGetErrorString, of_codes, nothing) {
  const char* text = nullptr;
  expect_code("success", cuGetErrorString(CUDA_SUCCESS, &text), CUDA_SUCCESS);
  expect("its text", text ? text : "", "no error");
  expect_code("1", cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  expect("1's text", text ? text : "", "invalid argument");
  expect_code("unknown", cuGetErrorString(static_cast<CUresult>(12345), &text),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
