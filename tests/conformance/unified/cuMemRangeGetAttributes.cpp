#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuMemRangeGetAttributes, several_at_once) {
  Managed memory;
  REQUIRE(cuMemAdvise(memory.address, Managed::bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device_place));
  int mostly = -9, preferred = -9;
  void* results[] = {&mostly, &preferred};
  size_t sizes[] = {sizeof mostly, sizeof preferred};
  CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                   CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  expect_code("asks",
              cuMemRangeGetAttributes(results, sizes, which, 2, memory.address, Managed::bytes),
              CUDA_SUCCESS);
  expect("read mostly", mostly, 1);
  expect("preferred", preferred, CU_DEVICE_INVALID);
}

CONFORM(cuMemRangeGetAttributes, wrong_arguments) {
  Managed memory;
  int value = 0;
  void* results[] = {&value};
  size_t sizes[] = {sizeof value};
  CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no results", cuMemRangeGetAttributes(nullptr, sizes, which, 1, memory.address, 64),
              bad);
  expect_code("no sizes", cuMemRangeGetAttributes(results, nullptr, which, 1, memory.address, 64),
              bad);
  expect_code("no names", cuMemRangeGetAttributes(results, sizes, nullptr, 1, memory.address, 64),
              bad);
  expect_code("none", cuMemRangeGetAttributes(results, sizes, which, 0, memory.address, 64), bad);
}

}  // namespace limen::conform
