#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsMapResources, no_resources) {
  CUgraphicsResource none = nullptr;
  expect_code("no list", cuGraphicsMapResources(0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("an empty list", cuGraphicsMapResources(0, &none, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("a null resource", cuGraphicsMapResources(1, &none, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
