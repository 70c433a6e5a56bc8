#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuDestroyExternalSemaphore, no_semaphore) {
  expect_code("null", cuDestroyExternalSemaphore(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
