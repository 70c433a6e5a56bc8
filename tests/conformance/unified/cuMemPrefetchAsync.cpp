#include "conformance/unified/range.h"

namespace limen::conform {

CONFORM(cuMemPrefetchAsync, the_place_can_be_asked_for) {
  Managed memory;
  auto asked = [&](CUmem_range_attribute attribute) {
    return range_number(attribute, memory, 16 * page);
  };
  const auto number = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  const auto type = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
  expect("at first", asked(number), CU_DEVICE_INVALID);
  expect_code("to device 0", cuMemPrefetchAsync(memory, 16 * page, device_location(0), 0, nullptr),
              CUDA_SUCCESS);
  expect("device", asked(number), 0);
  expect("device's type", asked(type), int{CU_MEM_LOCATION_TYPE_DEVICE});
  expect("device's id", asked(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID), 0);
  expect_code("to the host", cuMemPrefetchAsync(memory, 16 * page, host_location(), 0, nullptr),
              CUDA_SUCCESS);
  expect("host", asked(number), CU_DEVICE_CPU);
  expect("host's type", asked(type), int{CU_MEM_LOCATION_TYPE_HOST});
  expect_code(
      "to node 0",
      cuMemPrefetchAsync(memory, 16 * page, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 0, nullptr),
      CUDA_SUCCESS);
  expect("node's type", asked(type), int{CU_MEM_LOCATION_TYPE_HOST_NUMA});
  REQUIRE(cuStreamSynchronize(nullptr));
}

CONFORM(cuMemPrefetchAsync, values_stay) {
  Managed memory;
  for (size_t i = 0; i < 16 * page / 4; ++i) memory.word(i) = static_cast<uint32_t>(i * 3);
  expect_code("to the device",
              cuMemPrefetchAsync(memory, 16 * page, device_location(0), 0, nullptr), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("add"), 1, 32, nullptr, memory.at(4), 1u));
  expect_code("and back", cuMemPrefetchAsync(memory, 16 * page, host_location(), 0, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("the word that the kernel added to", uint32_t{memory.word(1)}, 35u);
  size_t kept = 0;
  for (size_t i = 2; i < 16 * page / 4; ++i) kept += memory.word(i) == i * 3;
  expect("the others", kept, 16 * page / 4 - 2);
  expect("the last place", range_number(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 1),
         CU_DEVICE_CPU);
}

CONFORM(cuMemPrefetchAsync, of_a_part) {
  constexpr size_t half = 2 << 20;
  Managed memory(2 * half);
  expect_code("the first half", cuMemPrefetchAsync(memory, half, device_location(0), 0, nullptr),
              CUDA_SUCCESS);
  const auto number = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  expect("first half", range_number(number, memory, half), 0);
  expect("second half", range_number(number, memory.at(half), half), CU_DEVICE_INVALID);
  expect("both", range_number(number, memory, 2 * half), CU_DEVICE_INVALID);
}

CONFORM(cuMemPrefetchAsync, arguments_that_cannot_be) {
  Managed memory;
  Buffer device(16 * page);
  auto answers = [&](const char* label, CUresult expected, CUdeviceptr address, size_t bytes,
                     CUmemLocation location, unsigned flags, CUstream stream) {
    expect_code(label, cuMemPrefetchAsync(address, bytes, location, flags, stream), expected);
  };
  const CUresult value = CUDA_ERROR_INVALID_VALUE;
  const CUmemLocation here = device_location(0);
  answers("no bytes", value, memory, 0, here, 0, nullptr);
  answers("no memory", value, 0, page, here, 0, nullptr);
  answers("beyond the block", value, memory, 3 << 20, here, 0, nullptr);
  answers("end that wraps", CUDA_SUCCESS, memory, ~size_t{0} - 8, here, 0, nullptr);
  answers("device memory", value, device, page, here, 0, nullptr);
  answers("device 99", CUDA_ERROR_INVALID_DEVICE, memory, page, device_location(99), 0, nullptr);
  answers("no place", value, memory, page, no_location(), 0, nullptr);
  answers("flags", value, memory, page, here, 1, nullptr);
  answers("a destroyed stream", CUDA_ERROR_INVALID_HANDLE, memory, page, here, 0,
          destroyed_stream());
  answers("a foreign stream", CUDA_ERROR_INVALID_HANDLE, memory, page, here, 0,
          foreign_handle<CUstream>());
}

CONFORM(cuMemPrefetchAsync, first_abi) {
  Managed memory;
  auto old = reinterpret_cast<CUresult (*)(CUdeviceptr, size_t, CUdevice, CUstream)>(
      driver_symbol("cuMemPrefetchAsync"));
  const auto number = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  expect_code("device 0", old(memory, 16 * page, 0, nullptr), CUDA_SUCCESS);
  expect("its number", range_number(number, memory, 16 * page), 0);
  expect_code("the host", old(memory, 16 * page, CU_DEVICE_CPU, nullptr), CUDA_SUCCESS);
  expect("its number is -1", range_number(number, memory, 16 * page), CU_DEVICE_CPU);
  expect_code("device 99", old(memory, 16 * page, 99, nullptr), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuMemPrefetchAsync, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemPrefetchAsync(page, page, device_location(0), 0, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
