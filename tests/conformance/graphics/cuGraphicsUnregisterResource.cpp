#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsUnregisterResource, no_resource) {
  expect_code("null", cuGraphicsUnregisterResource(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
