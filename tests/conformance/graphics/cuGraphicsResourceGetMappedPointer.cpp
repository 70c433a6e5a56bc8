#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsResourceGetMappedPointer, no_resource) {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("null", cuGraphicsResourceGetMappedPointer(&address, &bytes, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
