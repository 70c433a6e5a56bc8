#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsResourceGetMappedMipmappedArray, no_resource) {
  CUmipmappedArray mipmap = nullptr;
  expect_code("null", cuGraphicsResourceGetMappedMipmappedArray(&mipmap, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
