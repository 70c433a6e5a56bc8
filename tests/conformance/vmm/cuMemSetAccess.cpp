#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemSetAccess, read_and_write) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(step);
  REQUIRE(cuMemMap(address, step, 0, create(step), 0));
  CUmemAccessDesc desc = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("allows", cuMemSetAccess(address, step, &desc, 1), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + step - 4, 3u));
  expect("a kernel stores", read<uint32_t>(address + step - 4), 3u);
}

CONFORM(cuMemSetAccess, read_only) {
  Mapped range;
  write<uint32_t>(range.address, 41u);
  REQUIRE(cuCtxSynchronize(nullptr));  // a small copy may still be under way after its call
  CUmemAccessDesc desc = access_of(CU_MEM_ACCESS_FLAGS_PROT_READ);
  expect_code("read only", cuMemSetAccess(range.address, range.bytes, &desc, 1), CUDA_SUCCESS);
  expect("can be read", read<uint32_t>(range.address), 41u);
  uint32_t value = 1;
  expect_code("a copy cannot write", cuMemcpyHtoD(range.address, &value, 4),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, range.address, 7u));
  expect_code("nor a kernel", cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuMemSetAccess, access_taken_away) {
  Mapped range;
  CUmemAccessDesc desc = access_of(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  expect_code("none", cuMemSetAccess(range.address, range.bytes, &desc, 1), CUDA_SUCCESS);
  uint32_t value = 1;
  expect_code("no copy", cuMemcpyHtoD(range.address, &value, 4), CUDA_ERROR_INVALID_VALUE);
  desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  expect_code("and back", cuMemSetAccess(range.address, range.bytes, &desc, 1), CUDA_SUCCESS);
  write<uint32_t>(range.address, 6u);
  expect("usable again", read<uint32_t>(range.address), 6u);
}

CONFORM(cuMemSetAccess, over_several_mappings) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(3 * step);
  REQUIRE(cuMemMap(address, step, 0, create(step), 0));
  REQUIRE(cuMemMap(address + step, step, 0, create(step), 0));
  CUmemAccessDesc desc = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("with a hole", cuMemSetAccess(address, 3 * step, &desc, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("both", cuMemSetAccess(address, 2 * step, &desc, 1), CUDA_SUCCESS);
  REQUIRE(cuMemsetD8(address, 9, 2 * step));
  expect("filled", int{read<uint8_t>(address + 2 * step - 1)}, 9);
}

CONFORM(cuMemSetAccess, wrong_arguments) {
  Mapped range;
  CUmemAccessDesc desc = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("no descriptors", cuMemSetAccess(range.address, range.bytes, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("none of them", cuMemSetAccess(range.address, range.bytes, &desc, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemSetAccess(range.address, 0, &desc, 1), CUDA_ERROR_INVALID_VALUE);
  desc.location.id = 1000;
  expect_code("no such device", cuMemSetAccess(range.address, range.bytes, &desc, 1),
              CUDA_ERROR_INVALID_VALUE);
  desc = access_of(static_cast<CUmemAccess_flags>(2));
  expect_code("write only", cuMemSetAccess(range.address, range.bytes, &desc, 1),
              CUDA_ERROR_INVALID_VALUE);
  desc = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  desc.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  expect_code("the host, on device memory", cuMemSetAccess(range.address, range.bytes, &desc, 1),
              CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace limen::conform
