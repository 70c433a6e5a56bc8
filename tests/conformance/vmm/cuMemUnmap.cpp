#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemUnmap, takes_the_memory_away) {
  Mapped range;
  write<uint32_t>(range.address, 1u);
  REQUIRE(cuCtxSynchronize(nullptr));  // a small copy may still be under way after its call
  expect_code("unmaps", cuMemUnmap(range.address, range.bytes), CUDA_SUCCESS);
  uint32_t value = 0;
  expect_code("copy out", cuMemcpyDtoH(&value, range.address, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("not twice", cuMemUnmap(range.address, range.bytes), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, range.address, 7u));
  expect_code("store by a kernel", cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuMemUnmap, the_handle_keeps_the_contents) {
  Mapped range;
  write<uint32_t>(range.address + 8, 77u);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("unmaps", cuMemUnmap(range.address, range.bytes), CUDA_SUCCESS);
  REQUIRE(cuMemMap(range.address, range.bytes, 0, range.handle, 0));
  uint32_t value = 0;
  expect_code("access starts anew", cuMemcpyDtoH(&value, range.address, 4),
              CUDA_ERROR_INVALID_VALUE);
  allow(range.address, range.bytes);
  expect("kept", read<uint32_t>(range.address + 8), 77u);
}

CONFORM(cuMemUnmap, waits_for_work) {
  Mapped range;
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 64; ++i) REQUIRE(launch(add, 64, 256, nullptr, range.address, 1u));
  expect_code("unmaps", cuMemUnmap(range.address, range.bytes), CUDA_SUCCESS);
  expect_code("nothing faulted", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  REQUIRE(cuMemMap(range.address, range.bytes, 0, range.handle, 0));
  allow(range.address, range.bytes);
  expect("all was added", read<uint32_t>(range.address), 64u * 64 * 256);
}

CONFORM(cuMemUnmap, several_at_once) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(3 * step);
  for (size_t i = 0; i < 3; ++i) REQUIRE(cuMemMap(address + i * step, step, 0, create(step), 0));
  expect_code("all three", cuMemUnmap(address, 3 * step), CUDA_SUCCESS);
  expect_code("the reservation is left", cuMemAddressFree(address, 3 * step), CUDA_SUCCESS);
}

CONFORM(cuMemUnmap, whole_mappings_only) {
  Mapped range(2);
  const size_t step = granularity();
  expect_code("half", cuMemUnmap(range.address, step), CUDA_ERROR_INVALID_VALUE);
  expect_code("the other half", cuMemUnmap(range.address + step, step), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemUnmap(range.address, 0), CUDA_ERROR_INVALID_VALUE);
  write<uint32_t>(range.address + step, 5u);
  expect("still mapped", read<uint32_t>(range.address + step), 5u);
  // Holes do not matter, nor does the end of the reservation.
  expect_code("too much", cuMemUnmap(range.address, 3 * step), CUDA_SUCCESS);
  uint32_t value = 0;
  expect_code("gone", cuMemcpyHtoD(range.address, &value, 4), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
