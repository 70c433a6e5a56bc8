#include "conformance/conform.h"

#include <thread>

namespace limen::conform {

namespace {

alignas(4096) char memory[2 * 4096];

}  // namespace

CONFORM(cuMemHostUnregister, memory_is_plain_again) {
  REQUIRE(cuMemHostRegister(memory, sizeof memory, 0));
  expect_code("unregisters", cuMemHostUnregister(memory), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("nothing is known of it", cuMemHostGetDevicePointer(&address, memory, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("twice", cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  expect_code("it may be registered again", cuMemHostRegister(memory, 4096, 0), CUDA_SUCCESS);
  memory[5] = 7;
  expect("the host keeps it", int{memory[5]}, 7);
}

CONFORM(cuMemHostUnregister, wrong_addresses) {
  void* pinned = nullptr;
  REQUIRE(cuMemHostAlloc(&pinned, 4096, 0));
  REQUIRE(cuMemHostRegister(memory, sizeof memory, 0));
  expect_code("none", cuMemHostUnregister(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("inside", cuMemHostUnregister(memory + 4096), CUDA_ERROR_INVALID_VALUE);
  expect_code("never registered", cuMemHostUnregister(foreign_memory()),
              CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  expect_code("pinned memory", cuMemHostUnregister(pinned), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemHostUnregister, none_needs_no_context, initialised) {
  expect_code("none", cuMemHostUnregister(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemHostUnregister, needs_a_context, initialised) {
  expect_code("no context", cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CONFORM(cuMemHostUnregister, by_a_thread_without_a_context) {
  REQUIRE(cuMemHostRegister(memory, sizeof memory, 0));
  std::thread([] { expect_code("unregisters", cuMemHostUnregister(memory), CUDA_SUCCESS); }).join();
}

CONFORM_WITH(cuMemHostUnregister, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemHostUnregister(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
