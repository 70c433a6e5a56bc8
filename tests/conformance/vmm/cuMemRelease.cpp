#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemRelease, ends_a_handle) {
  const size_t step = granularity();
  CUmemGenericAllocationHandle handle = create(step);
  expect_code("releases", cuMemRelease(handle), CUDA_SUCCESS);
  const CUdeviceptr address = reserve(step);
  expect_code("cannot be mapped any more", cuMemMap(address, step, 0, handle, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemRelease, mappings_keep_the_memory) {
  FreeMemory kept, given_back;
  for (int i = 0; i < FreeMemory::tries && !(kept.seen && given_back.seen); ++i) {
    Mapped range(16);
    write<uint32_t>(range.address + 100, 0xabcdu);
    kept.begin();
    CUresult released = cuMemRelease(range.handle);
    kept.rose_by(0);
    uint32_t value = read<uint32_t>(range.address + 100);
    if (i == 0) {
      expect_code("releases", released, CUDA_SUCCESS);
      expect("still there", value, 0xabcdu);
    }
    given_back.begin();
    REQUIRE(cuMemUnmap(range.address, range.bytes));
    given_back.rose_by(range.bytes);
  }
  expect_true("still used", kept.seen);
  expect_true("then given back", given_back.seen);
}

CONFORM(cuMemRelease, no_handle) {
  expect_code("zero", cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle handle = create(granularity());
  expect_code("a handle", cuMemRelease(handle), CUDA_SUCCESS);
}

}  // namespace limen::conform
