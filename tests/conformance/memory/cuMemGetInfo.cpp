#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemGetInfo, allocations_count) {
  size_t before = 0, during = 0, after = 0, total = 0;
  expect_code("asks", cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  expect_true("less is free than there is", before <= total && before > 0);
  CUdeviceptr address = 0;
  const size_t bytes = size_t{64} << 20;
  REQUIRE(cuMemAlloc(&address, bytes));
  REQUIRE(cuMemGetInfo(&during, &total));
  expect_true("64 MiB less", before - during >= bytes);
  REQUIRE(cuMemFree(address));
  REQUIRE(cuMemGetInfo(&after, &total));
  expect_true("and back", after >= before);
}

CONFORM(cuMemGetInfo, the_device_is_as_large) {
  size_t free = 0, total = 0, of_device = 0;
  expect_code("asks", cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  REQUIRE(cuDeviceTotalMem(&of_device, 0));
  expect("total", total, of_device);
}

CONFORM_WITH(cuMemGetInfo, needs_a_context, initialised) {
  size_t free = 0, total = 0;
  expect_code("no context", cuMemGetInfo(&free, &total), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
