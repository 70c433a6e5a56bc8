#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemAddressReserve, gives_an_aligned_range) {
  CUdeviceptr address = 0;
  const size_t step = granularity();
  expect_code("reserves", cuMemAddressReserve(&address, 4 * step, 0, 0, 0), CUDA_SUCCESS);
  expect("aligned to the granularity", address % step, 0u);
  // The whole range can be mapped into: at its end, too.
  CUmemGenericAllocationHandle handle = create(step);
  expect_code("maps at the end", cuMemMap(address + 3 * step, step, 0, handle, 0), CUDA_SUCCESS);
  expect_code("not behind it", cuMemMap(address + 4 * step, step, 0, handle, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemAddressReserve, keeps_to_an_alignment) {
  CUdeviceptr address = 0;
  const size_t step = granularity();
  expect_code("64 granules", cuMemAddressReserve(&address, step, 64 * step, 0, 0), CUDA_SUCCESS);
  expect("aligned", address % (64 * step), 0u);
  expect_code("no power of two", cuMemAddressReserve(&address, step, 3 * step, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemAddressReserve, ranges_do_not_overlap) {
  const size_t bytes = 8 * granularity();
  const CUdeviceptr one = reserve(bytes), two = reserve(bytes);
  expect_code("third", cuMemAddressReserve(nullptr, bytes, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_true("apart", one + bytes <= two || two + bytes <= one);
}

CONFORM(cuMemAddressReserve, takes_a_hint) {
  const size_t step = granularity();
  const CUdeviceptr one = reserve(step);
  REQUIRE(cuMemAddressFree(one, step));
  CUdeviceptr two = 0;
  expect_code("where one was", cuMemAddressReserve(&two, step, 0, one, 0), CUDA_SUCCESS);
  expect_true("there", two == one);
  CUdeviceptr three = 0;
  expect_code("a hint that is taken", cuMemAddressReserve(&three, step, 0, one, 0), CUDA_SUCCESS);
  expect_true("elsewhere", three != one && three != 0);
}

CONFORM(cuMemAddressReserve, nothing_is_accessible) {
  const size_t step = granularity();
  const CUdeviceptr address = reserve(step);
  CUdeviceptr other = 0;
  expect_code("another", cuMemAddressReserve(&other, step, 0, 0, 0), CUDA_SUCCESS);
  int value = 0;
  expect_code("copy out", cuMemcpyDtoH(&value, address, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("fill", cuMemsetD8(address, 1, 4), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address, 7u));
  expect_code("store by a kernel", cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuMemAddressReserve, wrong_arguments) {
  CUdeviceptr address = 0;
  const size_t step = granularity();
  expect_code("no bytes", cuMemAddressReserve(&address, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuMemAddressReserve(&address, step, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("half a page", cuMemAddressReserve(&address, 2048, 0, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("all there is", cuMemAddressReserve(&address, size_t{1} << 60, 0, 0, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM_WITH(cuMemAddressReserve, needs_no_context, initialised) {
  CUdeviceptr address = 0;
  expect_code("without a context", cuMemAddressReserve(&address, size_t{2} << 20, 0, 0, 0),
              CUDA_SUCCESS);
}

}  // namespace limen::conform
