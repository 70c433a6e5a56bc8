#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsSubResourceGetMappedArray, no_resource) {
  CUarray array = nullptr;
  expect_code("null", cuGraphicsSubResourceGetMappedArray(&array, nullptr, 0, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
