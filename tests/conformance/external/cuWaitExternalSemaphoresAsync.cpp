#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuWaitExternalSemaphoresAsync, wrong_arguments) {
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params{};
  expect_code("no semaphores", cuWaitExternalSemaphoresAsync(nullptr, &params, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing", cuWaitExternalSemaphoresAsync(nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuWaitExternalSemaphoresAsync, needs_a_context, initialised) {
  expect_code("no context", cuWaitExternalSemaphoresAsync(nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
