#include "conformance/memory/mipmap_case.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayGetMemoryRequirements, at_least_its_texels) {
  auto desc = mipmap_descriptor();
  desc.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
  CUmipmappedArray array = nullptr;
  // As for arrays: NVIDIA's driver answers for memory that comes later only.
  if (cuMipmappedArrayCreate(&array, &desc, 3) != CUDA_SUCCESS) array = mipmapped(3);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("asks", cuMipmappedArrayGetMemoryRequirements(&needs, array, 0), CUDA_SUCCESS);
  expect_true("size", needs.size >= size_t{32 * 16 + 16 * 8 + 8 * 4} * 4);
  expect_true("alignment", needs.alignment != 0);
}

CONFORM(cuMipmappedArrayGetMemoryRequirements, wrong_arguments) {
  expect_code("no result", cuMipmappedArrayGetMemoryRequirements(nullptr, mipmapped(), 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
