#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemGetMemPool, the_one_that_was_set) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool usual = nullptr, now = nullptr, own = make_pool();
  REQUIRE(cuDeviceGetDefaultMemPool(&usual, 0));
  expect_code("at first", cuMemGetMemPool(&now, &device, CU_MEM_ALLOCATION_TYPE_PINNED),
              CUDA_SUCCESS);
  expect_true("the default one", now == usual);
  REQUIRE(cuDeviceSetMemPool(0, own));
  expect_code("then", cuMemGetMemPool(&now, &device, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  expect_true("the own one", now == own);
}

CONFORM(cuMemGetMemPool, wrong_arguments) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 1000};
  CUmemoryPool pool = nullptr;
  const auto pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  expect_code("no such device", cuMemGetMemPool(&pool, &device, pinned), CUDA_ERROR_INVALID_VALUE);
  device.id = 0;
  expect_code("no result", cuMemGetMemPool(nullptr, &device, pinned), CUDA_ERROR_INVALID_VALUE);
  expect_code("no location", cuMemGetMemPool(&pool, nullptr, pinned), CUDA_ERROR_INVALID_VALUE);
  expect_code("no type", cuMemGetMemPool(&pool, &device, CU_MEM_ALLOCATION_TYPE_INVALID),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
