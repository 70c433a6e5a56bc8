#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuArrayGetDescriptor, of_every_kind_of_array) {
  CUDA_ARRAY_DESCRIPTOR desc{};
  CUarray array = make_array(24, 12, 0, CU_AD_FORMAT_SIGNED_INT16, 2, 0);
  expect_code("two dimensions", cuArrayGetDescriptor(&desc, array), CUDA_SUCCESS);
  expect("width", desc.Width, 24u);
  expect("height", desc.Height, 12u);
  expect("format", desc.Format, CU_AD_FORMAT_SIGNED_INT16);
  expect("channels", desc.NumChannels, 2u);
  expect_code("no result", cuArrayGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuArrayGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
  array = make_array(24, 12, 6, CU_AD_FORMAT_FLOAT, 1, 0);
  desc = {};
  expect_code("three dimensions", cuArrayGetDescriptor(&desc, array), CUDA_SUCCESS);
  expect("its height", desc.Height, 12u);
  REQUIRE(cuArrayDestroy(array));
  expect_code("destroyed", cuArrayGetDescriptor(&desc, array), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuArrayGetDescriptor, foreign_memory) {
  CUDA_ARRAY_DESCRIPTOR desc{};
  expect_code("refused", cuArrayGetDescriptor(&desc, foreign_handle<CUarray>()),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuArrayGetDescriptor, needs_a_context, initialised) {
  CUDA_ARRAY_DESCRIPTOR desc;
  expect_code("no context", cuArrayGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuArrayGetDescriptor, needs_cuInit, nothing) {
  CUDA_ARRAY_DESCRIPTOR desc;
  expect_code("not initialised", cuArrayGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
