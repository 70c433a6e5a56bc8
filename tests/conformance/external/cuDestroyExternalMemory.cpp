#include "conformance/external/external.h"

namespace limen::conform {

CONFORM(cuDestroyExternalMemory, ends_the_handle) {
  CUexternalMemory memory = import(make_file());
  expect_code("destroys", cuDestroyExternalMemory(memory), CUDA_SUCCESS);
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc{};
  desc.size = 4096;
  CUdeviceptr address = 0;
  expect_code("nothing can be mapped", cuExternalMemoryGetMappedBuffer(&address, memory, &desc),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuDestroyExternalMemory, no_memory) {
  expect_code("null", cuDestroyExternalMemory(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
