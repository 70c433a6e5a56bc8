#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemGetAllocationPropertiesFromHandle, what_it_was_made_with) {
  CUmemGenericAllocationHandle handle = create(granularity(), true);
  CUmemAllocationProp prop{};
  expect_code("asks", cuMemGetAllocationPropertiesFromHandle(&prop, handle), CUDA_SUCCESS);
  expect("type", prop.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  expect("where", prop.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  expect("device", prop.location.id, 0);
  expect("handle types", prop.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

CONFORM(cuMemGetAllocationPropertiesFromHandle, wrong_arguments) {
  CUmemGenericAllocationHandle handle = create(granularity());
  CUmemAllocationProp prop{};
  expect_code("no result", cuMemGetAllocationPropertiesFromHandle(nullptr, handle),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no handle", cuMemGetAllocationPropertiesFromHandle(&prop, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
