#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAlloc, memory_holds_what_is_written) {
  CUdeviceptr address = 0;
  expect_code("allocates", cuMemAlloc(&address, 4096), CUDA_SUCCESS);
  expect("aligned to 256 bytes", address % 256, 0u);
  write<uint64_t>(address + 4088, 0x1234567890abcdefu);
  expect("last word", read<uint64_t>(address + 4088), 0x1234567890abcdefu);
}

CONFORM(cuMemAlloc, allocations_do_not_overlap) {
  CUdeviceptr one = 0, two = 0;
  expect_code("first", cuMemAlloc(&one, 1), CUDA_SUCCESS);
  expect_code("second", cuMemAlloc(&two, 1), CUDA_SUCCESS);
  expect_true("apart", one != two);
  write<uint8_t>(one, 7);
  write<uint8_t>(two, 9);
  expect("first keeps its value", int{read<uint8_t>(one)}, 7);
}

CONFORM(cuMemAlloc, sizes_that_cannot_be) {
  CUdeviceptr address = 0;
  expect_code("no bytes", cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuMemAlloc(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemAlloc(&address, ~size_t{0}), CUDA_ERROR_OUT_OF_MEMORY);
  expect_code("more than any device has", cuMemAlloc(&address, size_t{1} << 46),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM_WITH(cuMemAlloc, needs_a_context, initialised) {
  CUdeviceptr address = 0;
  expect_code("no context", cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemAlloc, needs_cuInit, nothing) {
  CUdeviceptr address = 0;
  expect_code("not initialised", cuMemAlloc(&address, 16), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
