#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuImportExternalSemaphore, wrong_arguments) {
  CUexternalSemaphore semaphore = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc{};
  desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  desc.handle.fd = -1;
  expect_code("no result", cuImportExternalSemaphore(nullptr, &desc), CUDA_ERROR_INVALID_VALUE);
  expect_code("no description", cuImportExternalSemaphore(&semaphore, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  desc.type = static_cast<CUexternalSemaphoreHandleType>(0);
  expect_code("no type", cuImportExternalSemaphore(&semaphore, &desc), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuImportExternalSemaphore, needs_a_context, initialised) {
  expect_code("no context", cuImportExternalSemaphore(nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
