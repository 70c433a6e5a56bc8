#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemAddressFree, ends_a_reservation) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(2 * step);
  expect_code("frees", cuMemAddressFree(address, 2 * step), CUDA_SUCCESS);
  expect_code("not twice", cuMemAddressFree(address, 2 * step), CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle handle = create(step);
  expect_code("nothing can be mapped there", cuMemMap(address, step, 0, handle, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemAddressFree, whole_reservations_only) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(4 * step);
  expect_code("half", cuMemAddressFree(address, 2 * step), CUDA_ERROR_INVALID_VALUE);
  expect_code("from the middle", cuMemAddressFree(address + step, 3 * step),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemAddressFree(address, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("address 0", cuMemAddressFree(0, step), CUDA_ERROR_INVALID_VALUE);
  expect_code("all of it", cuMemAddressFree(address, 4 * step), CUDA_SUCCESS);
}

CONFORM(cuMemAddressFree, not_while_mapped) {
  Mapped range;
  expect_code("mapped", cuMemAddressFree(range.address, range.bytes), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemUnmap(range.address, range.bytes));
  expect_code("unmapped", cuMemAddressFree(range.address, range.bytes), CUDA_SUCCESS);
}

CONFORM(cuMemAddressFree, not_of_other_memory) {
  Buffer buffer(size_t{2} << 20);
  expect_code("of cuMemAlloc", cuMemAddressFree(buffer, size_t{2} << 20), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr address = reserve(granularity());
  expect_code("of its own", cuMemAddressFree(address, granularity()), CUDA_SUCCESS);
}

}  // namespace limen::conform
