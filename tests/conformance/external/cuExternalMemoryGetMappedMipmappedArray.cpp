#include "conformance/external/external.h"

namespace limen::conform {

CONFORM(cuExternalMemoryGetMappedMipmappedArray, wrong_arguments) {
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc{};
  CUmipmappedArray array = nullptr;
  expect_code("no memory", cuExternalMemoryGetMappedMipmappedArray(&array, nullptr, &desc),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing", cuExternalMemoryGetMappedMipmappedArray(nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
