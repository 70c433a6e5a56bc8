#include "conformance/unified/managed.h"

namespace limen::conform {

static int range_attribute(const Managed& memory, CUmem_range_attribute which) {
  int value = -9;
  REQUIRE(cuMemRangeGetAttribute(&value, sizeof value, which, memory.address, Managed::bytes));
  return value;
}

CONFORM(cuMemAdvise, advice_is_told_back) {
  Managed memory;
  auto advise = [&](CUmem_advise advice, CUmemLocation where) {
    return cuMemAdvise(memory.address, Managed::bytes, advice, where);
  };
  expect_code("read mostly", advise(CU_MEM_ADVISE_SET_READ_MOSTLY, device_place), CUDA_SUCCESS);
  expect("is", range_attribute(memory, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  expect_code("no more", advise(CU_MEM_ADVISE_UNSET_READ_MOSTLY, device_place), CUDA_SUCCESS);
  expect("is not", range_attribute(memory, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  expect_code("preferred on the device", advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device_place),
              CUDA_SUCCESS);
  expect("device 0", range_attribute(memory, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), 0);
  expect_code("preferred on the host", advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host_place),
              CUDA_SUCCESS);
  expect("the host", range_attribute(memory, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
         CU_DEVICE_CPU);
  expect_code("nowhere", advise(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host_place), CUDA_SUCCESS);
  expect("no place", range_attribute(memory, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
         CU_DEVICE_INVALID);
}

CONFORM(cuMemAdvise, wrong_arguments) {
  Managed memory;
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  const auto advice = CU_MEM_ADVISE_SET_READ_MOSTLY;
  expect_code("no address", cuMemAdvise(0, 64, advice, device_place), bad);
  expect_code("no bytes", cuMemAdvise(memory.address, 0, advice, device_place), bad);
  expect_code("too long", cuMemAdvise(memory.address, 2 * Managed::bytes, advice, device_place),
              bad);
  expect_code("no advice",
              cuMemAdvise(memory.address, 64, static_cast<CUmem_advise>(77), device_place), bad);
  CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_DEVICE, 1000};
  expect_code("no such device",
              cuMemAdvise(memory.address, 64, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
