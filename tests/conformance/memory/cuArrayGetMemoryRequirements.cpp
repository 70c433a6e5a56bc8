#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuArrayGetMemoryRequirements, at_least_its_texels) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  desc.Width = 256, desc.Height = 128;
  desc.Format = CU_AD_FORMAT_FLOAT;
  desc.NumChannels = 1;
  desc.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
  CUarray array = nullptr;
  // NVIDIA's driver answers for arrays whose memory comes later only; ours for all.
  if (cuArray3DCreate(&array, &desc) != CUDA_SUCCESS) array = plain_array(256, 128);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("asks", cuArrayGetMemoryRequirements(&needs, array, 0), CUDA_SUCCESS);
  expect_true("size", needs.size >= size_t{256} * 128 * 4);
  expect_true("alignment", needs.alignment && (needs.alignment & (needs.alignment - 1)) == 0);
}

CONFORM(cuArrayGetMemoryRequirements, wrong_arguments) {
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("no result", cuArrayGetMemoryRequirements(nullptr, plain_array(), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no such device", cuArrayGetMemoryRequirements(&needs, plain_array(), 1000),
              CUDA_ERROR_INVALID_DEVICE);  // to measure on H200
}

}  // namespace limen::conform
