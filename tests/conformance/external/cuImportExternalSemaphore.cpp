#include <fcntl.h>

#include "conformance/external/external.h"

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

// As cuImportExternalMemory answers an H200's user; for semaphores to be measured there.
CONFORM(cuImportExternalSemaphore, descriptors_of_something_else) {
  CUexternalSemaphore semaphore = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc{};
  const int file = make_file();
  desc.handle.fd = file;
  desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  expect_code("a binary one", cuImportExternalSemaphore(&semaphore, &desc), CUDA_ERROR_UNKNOWN);
  desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
  expect_code("a timeline", cuImportExternalSemaphore(&semaphore, &desc), CUDA_ERROR_UNKNOWN);
  desc.handle.fd = -1;
  expect_code("no descriptor", cuImportExternalSemaphore(&semaphore, &desc),
              CUDA_ERROR_INVALID_VALUE);
  expect("no semaphore", semaphore, nullptr);
  expect_true("the descriptor is still open", fcntl(file, F_GETFD) >= 0);
}

CONFORM_WITH(cuImportExternalSemaphore, needs_a_context, initialised) {
  expect_code("no context", cuImportExternalSemaphore(nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
