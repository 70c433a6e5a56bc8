#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuArray3DGetDescriptor, of_every_kind_of_array) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  CUarray array = make_array(24, 12, 6, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_SURFACE_LDST);
  expect_code("three dimensions", cuArray3DGetDescriptor(&desc, array), CUDA_SUCCESS);
  expect("width", desc.Width, 24u);
  expect("height", desc.Height, 12u);
  expect("depth", desc.Depth, 6u);
  expect("format", desc.Format, CU_AD_FORMAT_HALF);
  expect("channels", desc.NumChannels, 4u);
  expect("flags", desc.Flags, unsigned(CUDA_ARRAY3D_SURFACE_LDST));
  expect_code("no result", cuArray3DGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuArray3DGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuArrayDestroy(array));
  expect_code("destroyed", cuArray3DGetDescriptor(&desc, array), CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY_DESCRIPTOR plane{9, 8, CU_AD_FORMAT_FLOAT, 1};
  REQUIRE(cuArrayCreate(&array, &plane));
  expect_code("of cuArrayCreate", cuArray3DGetDescriptor(&desc, array), CUDA_SUCCESS);
  expect("no depth", desc.Depth, 0u);
  expect("no flags", desc.Flags, 0u);
}

CONFORM(cuArray3DGetDescriptor, foreign_memory) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  expect_code("refused", cuArray3DGetDescriptor(&desc, foreign_handle<CUarray>()),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuArray3DGetDescriptor, needs_a_context, initialised) {
  CUDA_ARRAY3D_DESCRIPTOR desc;
  expect_code("no context", cuArray3DGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuArray3DGetDescriptor, needs_cuInit, nothing) {
  CUDA_ARRAY3D_DESCRIPTOR desc;
  expect_code("not initialised", cuArray3DGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
