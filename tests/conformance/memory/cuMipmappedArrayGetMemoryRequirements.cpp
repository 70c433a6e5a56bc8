#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayGetMemoryRequirements, only_of_deferred_arrays) {
  CUDA_ARRAY3D_DESCRIPTOR desc{32, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&array, &desc, 4));
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("an array with memory", cuMipmappedArrayGetMemoryRequirements(&needs, array, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuMipmappedArrayGetMemoryRequirements(nullptr, array, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuMipmappedArrayGetMemoryRequirements(&needs, array, 99),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuMipmappedArrayGetMemoryRequirements(&needs, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMipmappedArrayDestroy(array));
  expect_code("destroyed", cuMipmappedArrayGetMemoryRequirements(&needs, array, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMipmappedArrayGetMemoryRequirements, needs_cuInit, nothing) {
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
  expect_code("not initialised", cuMipmappedArrayGetMemoryRequirements(&needs, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
