#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemMap, one_memory_at_two_addresses) {
  const size_t step = granularity();
  Mapped range;
  const CUdeviceptr other = reserve(step);
  expect_code("maps again", cuMemMap(other, step, 0, range.handle, 0), CUDA_SUCCESS);
  allow(other, step);
  write<uint32_t>(range.address + 64, 4711u);
  expect("seen at the other address", read<uint32_t>(other + 64), 4711u);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, other + 64, 12u));
  expect("a kernel's store comes back", read<uint32_t>(range.address + 64), 12u);
}

CONFORM(cuMemMap, allocations_one_behind_the_other) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(2 * step);
  CUmemGenericAllocationHandle one = create(step), two = create(step);
  expect_code("second first", cuMemMap(address + step, step, 0, two, 0), CUDA_SUCCESS);
  expect_code("first second", cuMemMap(address, step, 0, one, 0), CUDA_SUCCESS);
  allow(address, 2 * step);
  // A fill over the border, then the halves alone.
  REQUIRE(cuMemsetD8(address + step - 16, 0x5a, 32));
  expect("before the border", int{read<uint8_t>(address + step - 1)}, 0x5a);
  expect("behind the border", int{read<uint8_t>(address + step + 15)}, 0x5a);
  Buffer copy(64);
  REQUIRE(cuMemcpyDtoD(copy, address + step - 8, 16));
  expect("a copy over the border", read<uint64_t>(copy.at(8)), 0x5a5a5a5a5a5a5a5au);
}

CONFORM(cuMemMap, growing_in_place) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(3 * step);
  for (size_t i = 0; i < 3; ++i) {
    expect_code("granule " + std::to_string(i),
                cuMemMap(address + i * step, step, 0, create(step), 0), CUDA_SUCCESS);
    allow(address + i * step, step);
    write<uint32_t>(address + i * step, static_cast<uint32_t>(i + 1));
  }
  expect("the first is kept", read<uint32_t>(address), 1u);
  expect("the last is there", read<uint32_t>(address + 2 * step), 3u);
}

CONFORM(cuMemMap, needs_access_before_use) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(step);
  expect_code("maps", cuMemMap(address, step, 0, create(step), 0), CUDA_SUCCESS);
  uint32_t value = 0;
  expect_code("copy in", cuMemcpyHtoD(address, &value, 4), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address, 7u));
  expect_code("store by a kernel", cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuMemMap, part_of_an_allocation) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(2 * step);
  CUmemGenericAllocationHandle handle = create(2 * step);
  expect_code("its beginning", cuMemMap(address, step, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
  // The header calls an offset "currently must be zero".
  expect_code("its end", cuMemMap(address + step, step, step, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
  expect_code("all of it", cuMemMap(address, 2 * step, 0, handle, 0), CUDA_SUCCESS);
  allow(address, 2 * step);
  write<uint32_t>(address + step, 8u);
  expect("to its end", read<uint32_t>(address + step), 8u);
}

CONFORM(cuMemMap, not_over_what_is_mapped) {
  Mapped range(2);
  const size_t step = granularity();
  CUmemGenericAllocationHandle other = create(step);
  expect_code("first half", cuMemMap(range.address, step, 0, other, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("second half", cuMemMap(range.address + step, step, 0, other, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemMap, wrong_arguments) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(4 * step);
  CUmemGenericAllocationHandle handle = create(2 * step), one = create(step);
  expect_code("no handle", cuMemMap(address, step, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemMap(0, step, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemMap(address, 0, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuMemMap(address, step, 0, handle, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than the allocation", cuMemMap(address, 3 * step, 0, handle, 0),
              CUDA_ERROR_NOT_SUPPORTED);
  expect_code("off the granularity", cuMemMap(address + 4096, step, 0, one, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("not reserved", cuMemMap(address + (step << 20), step, 0, one, 0),
              CUDA_ERROR_INVALID_VALUE);
  Buffer buffer(2 * step);
  expect_code("into cuMemAlloc's memory", cuMemMap(buffer, step, 0, one, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
