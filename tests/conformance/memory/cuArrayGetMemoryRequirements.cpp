#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuArrayGetMemoryRequirements, only_of_deferred_arrays) {
  CUarray array = make_array(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("an array with memory", cuArrayGetMemoryRequirements(&needs, array, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuArrayGetMemoryRequirements(nullptr, array, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuArrayGetMemoryRequirements(&needs, array, 99),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuArrayGetMemoryRequirements(&needs, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuArrayDestroy(array));
  expect_code("destroyed", cuArrayGetMemoryRequirements(&needs, array, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuArrayGetMemoryRequirements, needs_cuInit, nothing) {
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
  expect_code("not initialised", cuArrayGetMemoryRequirements(&needs, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuArrayGetMemoryRequirements, of_a_deferred_array) {
  CUarray array = make_array(500, 300, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("asked", cuArrayGetMemoryRequirements(&needs, array, 0), CUDA_SUCCESS);
  expect_true("the texels fit", needs.size >= 500 * 300 * 4);
  expect_true("whole pieces", needs.alignment && needs.size % needs.alignment == 0);
  expect_code("no such device", cuArrayGetMemoryRequirements(&needs, array, 99), CUDA_SUCCESS);
  CUarray sparse = make_array(500, 300, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE);
  expect_code("a sparse array", cuArrayGetMemoryRequirements(&needs, sparse, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
