#include "conformance/external/external.h"

namespace limen::conform {

CONFORM(cuExternalMemoryGetMappedBuffer, both_sides_see_it) {
  const int descriptor = make_file();
  volatile uint32_t* owner = owners_view(descriptor);
  CUexternalMemory memory = import(descriptor);
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc{};
  desc.offset = 65536 + 256;
  desc.size = 4096;
  CUdeviceptr address = 0;
  expect_code("maps", cuExternalMemoryGetMappedBuffer(&address, memory, &desc), CUDA_SUCCESS);
  owner[desc.offset / 4] = 7;
  expect("the owner's value", read<uint32_t>(address), 7u);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + 4, 8u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("a kernel's value", owner[desc.offset / 4 + 1], 8u);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  REQUIRE(cuMemGetAddressRange(&base, &bytes, address + 100));
  expect_true("begins there", base == address);
  expect("as long as asked for", bytes, size_t{4096});
  expect_code("cuMemFree ends it", cuMemFree(address), CUDA_SUCCESS);
  uint32_t value = 0;
  expect_code("gone", cuMemcpyDtoH(&value, address, 4), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuExternalMemoryGetMappedBuffer, outlives_the_memory_object) {
  CUexternalMemory memory = import(make_file());
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc{};
  desc.size = external_bytes;
  CUdeviceptr address = 0;
  expect_code("maps", cuExternalMemoryGetMappedBuffer(&address, memory, &desc), CUDA_SUCCESS);
  REQUIRE(cuDestroyExternalMemory(memory));
  write<uint32_t>(address + external_bytes - 4, 6u);
  expect("still mapped", read<uint32_t>(address + external_bytes - 4), 6u);
}

CONFORM(cuExternalMemoryGetMappedBuffer, wrong_arguments) {
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc{};
  desc.size = 4096;
  CUdeviceptr address = 0;
  expect_code("no memory", cuExternalMemoryGetMappedBuffer(&address, nullptr, &desc),
              CUDA_ERROR_INVALID_VALUE);
  CUexternalMemory memory = import(make_file());
  expect_code("no result", cuExternalMemoryGetMappedBuffer(nullptr, memory, &desc),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no description", cuExternalMemoryGetMappedBuffer(&address, memory, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  desc.size = external_bytes + 4096;
  expect_code("too long", cuExternalMemoryGetMappedBuffer(&address, memory, &desc),
              CUDA_ERROR_INVALID_VALUE);
  desc.size = 4096;
  desc.flags = 1;
  expect_code("flags", cuExternalMemoryGetMappedBuffer(&address, memory, &desc),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
