#include "conformance/vmm/vmm.h"

namespace limen::conform {

static void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CONFORM(cuMemRetainAllocationHandle, the_same_handle) {
  Mapped range(2);
  CUmemGenericAllocationHandle handle = 0;
  expect_code("from the middle",
              cuMemRetainAllocationHandle(&handle, pointer(range.address + range.bytes / 2 + 5)),
              CUDA_SUCCESS);
  expect_true("the same", handle == range.handle);
  expect_code("one release", cuMemRelease(handle), CUDA_SUCCESS);
  expect_code("and another", cuMemRelease(handle), CUDA_SUCCESS);
}

CONFORM(cuMemRetainAllocationHandle, after_the_release) {
  Mapped range;
  REQUIRE(cuMemRelease(range.handle));
  CUmemGenericAllocationHandle handle = 0;
  expect_code("a mapping is enough", cuMemRetainAllocationHandle(&handle, pointer(range.address)),
              CUDA_SUCCESS);
  const CUdeviceptr other = reserve(range.bytes);
  expect_code("it can be mapped", cuMemMap(other, range.bytes, 0, handle, 0), CUDA_SUCCESS);
  allow(other, range.bytes);
  write<uint32_t>(range.address, 13u);
  expect("the same memory", read<uint32_t>(other), 13u);
}

CONFORM(cuMemRetainAllocationHandle, wrong_arguments) {
  Mapped range;
  CUmemGenericAllocationHandle handle = 0;
  expect_code("no result", cuMemRetainAllocationHandle(nullptr, pointer(range.address)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemRetainAllocationHandle(&handle, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("not mapped", cuMemRetainAllocationHandle(&handle, pointer(reserve(range.bytes))),
              CUDA_ERROR_INVALID_VALUE);
  Buffer buffer(64);
  expect_code("of cuMemAlloc", cuMemRetainAllocationHandle(&handle, pointer(buffer)),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
