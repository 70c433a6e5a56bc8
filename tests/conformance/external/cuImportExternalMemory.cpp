#include <fcntl.h>

#include "conformance/external/external.h"

namespace limen::conform {

CONFORM(cuImportExternalMemory, takes_the_descriptor) {
  const int descriptor = make_file();
  volatile uint32_t* owner = owners_view(descriptor);
  owner[3] = 30;
  CUexternalMemory memory = import(descriptor);
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC all{};
  all.size = external_bytes;
  CUdeviceptr address = 0;
  REQUIRE(cuExternalMemoryGetMappedBuffer(&address, memory, &all));
  expect("the owner's value", read<uint32_t>(address + 12), 30u);
  expect_code("ends", cuDestroyExternalMemory(memory), CUDA_SUCCESS);
  expect_true("and with it the descriptor", fcntl(descriptor, F_GETFD) < 0);
}

CONFORM(cuImportExternalMemory, wrong_arguments) {
  CUexternalMemory memory = nullptr;
  const int descriptor = make_file();
  auto desc = describe(descriptor);
  expect_code("no result", cuImportExternalMemory(nullptr, &desc), CUDA_ERROR_INVALID_VALUE);
  expect_code("no description", cuImportExternalMemory(&memory, nullptr), CUDA_ERROR_INVALID_VALUE);
  desc.size = 0;
  expect_code("no bytes", cuImportExternalMemory(&memory, &desc),
              CUDA_ERROR_INVALID_VALUE);
  desc = describe(descriptor);
  desc.type = static_cast<CUexternalMemoryHandleType>(0);
  expect_code("no type", cuImportExternalMemory(&memory, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = describe(-1);
  expect_code("no descriptor", cuImportExternalMemory(&memory, &desc), CUDA_ERROR_UNKNOWN);
  expect_true("the descriptor is still open", fcntl(descriptor, F_GETFD) >= 0);
}

CONFORM_WITH(cuImportExternalMemory, needs_a_context, initialised) {
  CUexternalMemory memory = nullptr;
  auto desc = describe(make_file());
  expect_code("no context", cuImportExternalMemory(&memory, &desc), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
