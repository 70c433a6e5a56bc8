#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuMemPrefetchAsync, told_back_and_harmless) {
  Managed memory;
  CUstream stream = own_stream();
  memory.word(7) = 70;
  expect_code("to the device",
              cuMemPrefetchAsync(memory.address, Managed::bytes, device_place, 0, stream),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("there", memory.last_prefetch(), 0);
  expect_code("to the host",
              cuMemPrefetchAsync(memory.address, Managed::bytes, host_place, 0, stream),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("here", memory.last_prefetch(), CU_DEVICE_CPU);
  expect("contents stay", memory.word(7), 70u);
}

CONFORM(cuMemPrefetchAsync, wrong_arguments) {
  Managed memory;
  CUstream stream = own_stream();
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no address", cuMemPrefetchAsync(0, 64, device_place, 0, stream), bad);
  expect_code("no bytes", cuMemPrefetchAsync(memory.address, 0, device_place, 0, stream), bad);
  expect_code("too long",
              cuMemPrefetchAsync(memory.address, 2 * Managed::bytes, device_place, 0, stream), bad);
  expect_code("flags", cuMemPrefetchAsync(memory.address, 64, device_place, 1, stream), bad);
  CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_DEVICE, 1000};
  expect_code("no such device", cuMemPrefetchAsync(memory.address, 64, nowhere, 0, stream),
              CUDA_ERROR_INVALID_DEVICE);
  Buffer buffer(4096);
  expect_code("not managed", cuMemPrefetchAsync(buffer, 4096, device_place, 0, stream), bad);
}

}  // namespace limen::conform
