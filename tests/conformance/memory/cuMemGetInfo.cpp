#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemGetInfo, allocations_take_from_it) {
  size_t before = 0, after = 0, total = 0;
  expect_code("asks", cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  expect_true("free is part of all", before <= total && before > 0);
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, 64 << 20));
  expect_code("asks again", cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  expect_true("64 MiB less", before - after >= size_t{64} << 20);
  REQUIRE(cuMemFree(address));
  expect_code("after cuMemFree", cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  expect_true("given back", after >= before - (size_t{2} << 20));
  expect_code("no free", cuMemGetInfo(nullptr, &total), CUDA_SUCCESS);
  expect_code("no total", cuMemGetInfo(&after, nullptr), CUDA_SUCCESS);
  expect_code("neither", cuMemGetInfo(nullptr, nullptr), CUDA_SUCCESS);
  auto first = reinterpret_cast<CUresult (*)(unsigned*, unsigned*)>(driver_symbol("cuMemGetInfo"));
  unsigned few = 0, all = 0;
  expect_code("the 32-bit ABI", first(&few, &all), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemGetInfo, needs_a_context, initialised) {
  size_t left, total;
  expect_code("no context", cuMemGetInfo(&left, &total), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemGetInfo, needs_cuInit, nothing) {
  size_t left, total;
  expect_code("not initialised", cuMemGetInfo(&left, &total), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
