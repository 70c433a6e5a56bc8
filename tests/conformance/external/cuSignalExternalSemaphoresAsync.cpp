#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuSignalExternalSemaphoresAsync, wrong_arguments) {
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params{};
  expect_code("no semaphores", cuSignalExternalSemaphoresAsync(nullptr, &params, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing", cuSignalExternalSemaphoresAsync(nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuSignalExternalSemaphoresAsync, needs_a_context, initialised) {
  expect_code("no context", cuSignalExternalSemaphoresAsync(nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
