#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuGraphicsResourceSetMapFlags, no_resource) {
  expect_code("null", cuGraphicsResourceSetMapFlags(nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
