#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuArray3DGetDescriptor, as_created) {
  CUDA_ARRAY3D_DESCRIPTOR made{}, desc{};
  made.Width = 20, made.Height = 10, made.Depth = 3;
  made.Format = CU_AD_FORMAT_SIGNED_INT16;
  made.NumChannels = 2;
  made.Flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST;
  CUarray array = nullptr;
  REQUIRE(cuArray3DCreate(&array, &made));
  expect_code("asks", cuArray3DGetDescriptor(&desc, array), CUDA_SUCCESS);
  expect("width", desc.Width, size_t{20});
  expect("height", desc.Height, size_t{10});
  expect("layers", desc.Depth, size_t{3});
  expect("format", desc.Format, CU_AD_FORMAT_SIGNED_INT16);
  expect("channels", desc.NumChannels, 2u);
  expect("flags", desc.Flags, made.Flags);
}

CONFORM(cuArray3DGetDescriptor, of_a_flat_array) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  expect_code("asks", cuArray3DGetDescriptor(&desc, plain_array(20, 10)), CUDA_SUCCESS);
  expect("no depth", desc.Depth, size_t{0});
}

CONFORM(cuArray3DGetDescriptor, wrong_arguments) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  expect_code("no result", cuArray3DGetDescriptor(nullptr, plain_array()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuArray3DGetDescriptor(&desc, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
