#include "conformance/unified/range.h"

namespace limen::conform {

CONFORM(cuMemAdvise, read_mostly) {
  Managed memory;
  auto asked = [&] { return range_number(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 16 * page); };
  expect("at first", asked(), 0);
  expect_code("set", cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()),
              CUDA_SUCCESS);
  expect("after", asked(), 1);
  expect_code("unset",
              cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_UNSET_READ_MOSTLY, any_location()),
              CUDA_SUCCESS);
  expect("in the end", asked(), 0);
}

CONFORM(cuMemAdvise, preferred_location) {
  Managed memory;
  auto asked = [&](CUmem_range_attribute attribute) {
    return range_number(attribute, memory, 16 * page);
  };
  const auto set = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
  expect("at first", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
  expect_code("device 0", cuMemAdvise(memory, 16 * page, set, device_location(0)), CUDA_SUCCESS);
  expect("its number", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), 0);
  expect("its type", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
         int{CU_MEM_LOCATION_TYPE_DEVICE});
  expect("its id", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID), 0);
  expect_code("the host", cuMemAdvise(memory, 16 * page, set, host_location()), CUDA_SUCCESS);
  expect("host's number", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_CPU);
  expect("host's type", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
         int{CU_MEM_LOCATION_TYPE_HOST});
  expect_code(
      "unset",
      cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, any_location()),
      CUDA_SUCCESS);
  expect("in the end", asked(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
         int{CU_MEM_LOCATION_TYPE_INVALID});
}

CONFORM(cuMemAdvise, a_node_of_the_host) {
  Managed memory;
  expect_code("node 0",
              cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                          {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}),
              CUDA_SUCCESS);
  // It is taken, and not remembered.
  expect("type", range_number(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, 16 * page),
         int{CU_MEM_LOCATION_TYPE_INVALID});
  expect("id", range_number(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, memory, 16 * page),
         CU_DEVICE_INVALID);
  expect_code("is nobody who accesses",
              cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_ACCESSED_BY,
                          {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemAdvise, accessed_by) {
  Managed memory;
  std::vector<int> list(3);
  auto asked = [&] {
    REQUIRE(cuMemRangeGetAttribute(list.data(), 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory,
                                   16 * page));
    return listed(list);
  };
  expect("at first", asked(), "-2 -2 -2");
  expect_code("device 0",
              cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_ACCESSED_BY, device_location(0)),
              CUDA_SUCCESS);
  expect("one", asked(), "0 -2 -2");
  expect_code("the host",
              cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_ACCESSED_BY, host_location()),
              CUDA_SUCCESS);
  expect("two, the host last", asked(), "0 -1 -2");
  expect_code("device 0 no more",
              cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_UNSET_ACCESSED_BY, device_location(0)),
              CUDA_SUCCESS);
  expect("only the host", asked(), "-1 -2 -2");
}

// Advice is of pages: what is said of some is not said of others.
CONFORM(cuMemAdvise, of_a_part) {
  constexpr size_t half = 2 << 20;
  Managed memory(2 * half);
  expect_code("the second half",
              cuMemAdvise(memory.at(half), half, CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()),
              CUDA_SUCCESS);
  expect_code("device 0 for the first",
              cuMemAdvise(memory, half, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device_location(0)),
              CUDA_SUCCESS);
  const auto mostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  const auto preferred = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
  expect("first half", range_number(mostly, memory, half), 0);
  expect("second half", range_number(mostly, memory.at(half), half), 1);
  expect("both", range_number(mostly, memory, 2 * half), 0);
  expect("a byte of the second", range_number(mostly, memory.at(half + 77), 1), 1);
  expect("first half's place", range_number(preferred, memory, half), 0);
  expect("second half's place", range_number(preferred, memory.at(half), half), CU_DEVICE_INVALID);
  expect("both places", range_number(preferred, memory, 2 * half), CU_DEVICE_INVALID);
}

CONFORM(cuMemAdvise, is_forgotten_with_its_block) {
  CUdeviceptr first = 0;
  REQUIRE(cuMemAllocManaged(&first, 16 * page, CU_MEM_ATTACH_GLOBAL));
  expect_code("said of one",
              cuMemAdvise(first, 16 * page, CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()),
              CUDA_SUCCESS);
  REQUIRE(cuMemFree(first));
  Managed second;
  expect("not of the next", range_number(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, second, 16 * page), 0);
}

CONFORM(cuMemAdvise, arguments_that_cannot_be) {
  Managed memory;
  Buffer device(16 * page);
  const auto set = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
  auto refused = [&](const char* label, CUresult expected, CUdeviceptr address, size_t bytes,
                     CUmem_advise advice, CUmemLocation location) {
    expect_code(label, cuMemAdvise(address, bytes, advice, location), expected);
  };
  const CUresult value = CUDA_ERROR_INVALID_VALUE;
  refused("no bytes", value, memory, 0, set, device_location(0));
  refused("no memory", value, 0, page, set, device_location(0));
  refused("beyond the block", value, memory, 3 << 20, set, device_location(0));
  refused("end that wraps", value, memory, ~size_t{0} - 8, set, device_location(0));
  refused("device memory", value, device, page, set, device_location(0));
  refused("advice 0", value, memory, page, CUmem_advise(0), device_location(0));
  refused("advice 7", value, memory, page, CUmem_advise(7), device_location(0));
  refused("device 99", value, memory, page, set, device_location(99));
  refused("device -1", value, memory, page, set, device_location(-1));
  refused("no place", value, memory, page, set, no_location());
  refused("no place that would matter", value, memory, page, CU_MEM_ADVISE_SET_READ_MOSTLY,
          no_location());
  refused("place 77", value, memory, page, set, {CUmemLocationType(77), 0});
  refused("accessed by device 99", value, memory, page, CU_MEM_ADVISE_SET_ACCESSED_BY,
          device_location(99));
  expect_code("a place that does not matter",
              cuMemAdvise(memory, page, CU_MEM_ADVISE_SET_READ_MOSTLY, device_location(99)),
              CUDA_SUCCESS);
}

CONFORM(cuMemAdvise, plain_host_memory) {
  std::vector<char> bytes(4 * page);
  const auto address = reinterpret_cast<CUdeviceptr>(bytes.data());
  const CUresult expected = reaches_pageable_memory() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  expect_true("that is there or out of reach",
              cuMemAdvise(address, bytes.size(), CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()) ==
                  expected);
  expect_code("that is not", cuMemAdvise(page, page, CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()),
              CUDA_ERROR_INVALID_VALUE);
}

// The first ABI names a device, or the host by -1.
CONFORM(cuMemAdvise, first_abi) {
  Managed memory;
  auto old = reinterpret_cast<CUresult (*)(CUdeviceptr, size_t, CUmem_advise, CUdevice)>(
      driver_symbol("cuMemAdvise"));
  const auto set = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
  const auto place = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
  expect_code("device 0", old(memory, 16 * page, set, 0), CUDA_SUCCESS);
  expect("its number", range_number(place, memory, 16 * page), 0);
  expect_code("the host", old(memory, 16 * page, set, CU_DEVICE_CPU), CUDA_SUCCESS);
  expect("its number is -1", range_number(place, memory, 16 * page), CU_DEVICE_CPU);
  expect_code("device 99", old(memory, 16 * page, set, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuMemAdvise, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuMemAdvise(page, page, CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
