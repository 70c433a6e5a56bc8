#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuMemRangeGetAttribute, who_accesses_it) {
  Managed memory;
  int devices[3] = {7, 7, 7};
  const auto which = CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  expect_code(
      "at first",
      cuMemRangeGetAttribute(devices, sizeof devices, which, memory.address, Managed::bytes),
      CUDA_SUCCESS);
  expect("nobody", devices[0], CU_DEVICE_INVALID);
  REQUIRE(cuMemAdvise(memory.address, Managed::bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, device_place));
  expect_code(
      "then",
      cuMemRangeGetAttribute(devices, sizeof devices, which, memory.address, Managed::bytes),
      CUDA_SUCCESS);
  expect("device 0", devices[0], 0);
  expect("nobody else", devices[1], CU_DEVICE_INVALID);
}

CONFORM(cuMemRangeGetAttribute, wrong_arguments) {
  Managed memory;
  int value = 0;
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  const auto which = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  expect_code("no result", cuMemRangeGetAttribute(nullptr, 4, which, memory.address, 64), bad);
  expect_code("wrong size", cuMemRangeGetAttribute(&value, 3, which, memory.address, 64), bad);
  expect_code("no bytes", cuMemRangeGetAttribute(&value, 4, which, memory.address, 0), bad);
  expect_code(
      "no attribute",
      cuMemRangeGetAttribute(&value, 4, static_cast<CUmem_range_attribute>(99), memory.address, 64),
      bad);
}

}  // namespace limen::conform
