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
  Mapped range;
  size_t before = 0, after = 0, end = 0, total = 0;
  write<uint32_t>(range.address + 100, 0xabcdu);
  REQUIRE(cuMemGetInfo(&before, &total));
  expect_code("releases", cuMemRelease(range.handle), CUDA_SUCCESS);
  REQUIRE(cuMemGetInfo(&after, &total));
  expect("still used", after, before);
  expect("still there", read<uint32_t>(range.address + 100), 0xabcdu);
  REQUIRE(cuMemUnmap(range.address, range.bytes));
  REQUIRE(cuMemGetInfo(&end, &total));
  expect("then given back", end - before, range.bytes);
}

CONFORM(cuMemRelease, no_handle) {
  expect_code("zero", cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle handle = create(granularity());
  expect_code("a handle", cuMemRelease(handle), CUDA_SUCCESS);
}

}  // namespace limen::conform
