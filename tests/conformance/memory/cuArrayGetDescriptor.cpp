#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuArrayGetDescriptor, as_created) {
  CUDA_ARRAY_DESCRIPTOR desc{};
  expect_code("asks", cuArrayGetDescriptor(&desc, plain_array(20, 10)), CUDA_SUCCESS);
  expect("width", desc.Width, size_t{20});
  expect("height", desc.Height, size_t{10});
  expect("format", desc.Format, CU_AD_FORMAT_FLOAT);
  expect("channels", desc.NumChannels, 1u);
}

CONFORM(cuArrayGetDescriptor, wrong_arguments) {
  CUDA_ARRAY_DESCRIPTOR desc{};
  expect_code("no result", cuArrayGetDescriptor(nullptr, plain_array()), CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuArrayGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
