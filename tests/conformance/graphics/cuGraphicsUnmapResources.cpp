#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsUnmapResources, no_resources) {
  CUgraphicsResource none = nullptr;
  expect_code("no list", cuGraphicsUnmapResources(0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("an empty list", cuGraphicsUnmapResources(0, &none, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a null resource", cuGraphicsUnmapResources(1, &none, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
