#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemGetAccess, tells_what_was_set) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(step);
  REQUIRE(cuMemMap(address, step, 0, create(step), 0));
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 99;
  expect_code("at first", cuMemGetAccess(&flags, &device, address), CUDA_SUCCESS);
  expect("none", flags, unsigned(CU_MEM_ACCESS_FLAGS_PROT_NONE));
  allow(address, step);
  expect_code("then", cuMemGetAccess(&flags, &device, address + step - 1), CUDA_SUCCESS);
  expect("read and write", flags, unsigned(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  allow(address, step, CU_MEM_ACCESS_FLAGS_PROT_READ);
  expect_code("at last", cuMemGetAccess(&flags, &device, address), CUDA_SUCCESS);
  expect("read", flags, unsigned(CU_MEM_ACCESS_FLAGS_PROT_READ));
}

CONFORM(cuMemGetAccess, wrong_arguments) {
  Mapped range;
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 0;
  expect_code("no result", cuMemGetAccess(nullptr, &device, range.address),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no location", cuMemGetAccess(&flags, nullptr, range.address),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemGetAccess(&flags, &device, 0), CUDA_ERROR_INVALID_VALUE);
  device.id = 1000;
  expect_code("no such device", cuMemGetAccess(&flags, &device, range.address),
              CUDA_ERROR_INVALID_DEVICE);
  device.id = 0;
  const CUdeviceptr empty = reserve(range.bytes);
  expect_code("not mapped", cuMemGetAccess(&flags, &device, empty), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
