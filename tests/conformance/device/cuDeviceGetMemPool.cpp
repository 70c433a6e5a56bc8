#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetMemPool, is_the_default_pool_at_first, initialised) {
  CUmemoryPool now = nullptr, first = nullptr;
  expect_code("asks", cuDeviceGetMemPool(&now, 0), CUDA_SUCCESS);
  REQUIRE(cuDeviceGetDefaultMemPool(&first, 0));
  expect_true("the default", now == first && now);
  expect_code("no result", cuDeviceGetMemPool(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetMemPool(&now, 99), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative device", cuDeviceGetMemPool(&now, -1), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuDeviceGetMemPool, is_the_pool_that_was_set) {
  CUmemPoolProps props;
  std::memset(&props, 0, sizeof props);
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemoryPool made = nullptr, now = nullptr, first = nullptr;
  REQUIRE(cuMemPoolCreate(&made, &props));
  REQUIRE(cuDeviceSetMemPool(0, made));
  expect_code("asks", cuDeviceGetMemPool(&now, 0), CUDA_SUCCESS);
  expect_true("the new one", now == made);
  REQUIRE(cuMemPoolDestroy(made));
  REQUIRE(cuDeviceGetDefaultMemPool(&first, 0));
  expect_code("after its destruction", cuDeviceGetMemPool(&now, 0), CUDA_SUCCESS);
  expect_true("the default again", now == first);
}

CONFORM_WITH(cuDeviceGetMemPool, needs_cuInit, nothing) {
  CUmemoryPool pool;
  expect_code("not initialised", cuDeviceGetMemPool(&pool, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
