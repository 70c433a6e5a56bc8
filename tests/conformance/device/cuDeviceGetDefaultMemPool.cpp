#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetDefaultMemPool, is_one_for_the_device, initialised) {
  CUmemoryPool one = nullptr, two = nullptr;
  expect_code("once", cuDeviceGetDefaultMemPool(&one, 0), CUDA_SUCCESS);
  expect_code("again", cuDeviceGetDefaultMemPool(&two, 0), CUDA_SUCCESS);
  expect_true("a pool", one != nullptr);
  expect_true("the same", one == two);
  cuuint64_t threshold = 1;
  expect_code("it has attributes",
              cuMemPoolGetAttribute(one, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
              CUDA_SUCCESS);
  expect("keeps nothing by default", threshold, 0u);
  expect_code("no result", cuDeviceGetDefaultMemPool(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetDefaultMemPool(&one, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetDefaultMemPool, needs_cuInit, nothing) {
  CUmemoryPool pool;
  expect_code("not initialised", cuDeviceGetDefaultMemPool(&pool, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
