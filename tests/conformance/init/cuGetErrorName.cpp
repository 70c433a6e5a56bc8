#include "conformance/conform.h"

namespace limen::conform {

namespace {

std::string name(int code) {
  const char* text = nullptr;
  if (cuGetErrorName(static_cast<CUresult>(code), &text)) return "refused";
  return text ? text : "null";
}

}  // namespace

CONFORM_WITH(cuGetErrorName, names_are_those_of_the_header, nothing) {
  expect("0", name(0), "CUDA_SUCCESS");
  expect("1", name(1), "CUDA_ERROR_INVALID_VALUE");
  expect("2", name(2), "CUDA_ERROR_OUT_OF_MEMORY");
  expect("100", name(100), "CUDA_ERROR_NO_DEVICE");
  expect("201", name(201), "CUDA_ERROR_INVALID_CONTEXT");
  expect("209", name(209), "CUDA_ERROR_NO_BINARY_FOR_GPU");
  expect("400", name(400), "CUDA_ERROR_INVALID_HANDLE");
  expect("600", name(600), "CUDA_ERROR_NOT_READY");
  expect("700", name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  expect("801", name(801), "CUDA_ERROR_NOT_SUPPORTED");
  expect("999", name(999), "CUDA_ERROR_UNKNOWN");
}

CONFORM_WITH(cuGetErrorName, numbers_that_are_no_code, nothing) {
  for (int code : {-1, 50, 998, 1000, 1 << 30}) {
    const char* text = "kept";
    const std::string label = std::to_string(code);
    expect_code(label, cuGetErrorName(static_cast<CUresult>(code), &text),
                CUDA_ERROR_INVALID_VALUE);
    expect_true(label + ": no text", text == nullptr);
  }
}

CONFORM(cuGetErrorName, one_place_a_name) {
  const char *one = nullptr, *two = nullptr;
  expect_code("first", cuGetErrorName(CUDA_ERROR_ASSERT, &one), CUDA_SUCCESS);
  expect_code("second", cuGetErrorName(CUDA_ERROR_ASSERT, &two), CUDA_SUCCESS);
  expect_true("the same text", one && one == two);
}

}  // namespace limen::conform
