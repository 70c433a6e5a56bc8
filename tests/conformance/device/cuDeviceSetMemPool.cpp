#include "conformance/conform.h"

namespace limen::conform {

namespace {

CUmemoryPool make_pool() {
  CUmemPoolProps props;
  std::memset(&props, 0, sizeof props);
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool = nullptr;
  REQUIRE(cuMemPoolCreate(&pool, &props));
  return pool;
}

}  // namespace

CONFORM(cuDeviceSetMemPool, allocations_come_from_the_pool) {
  CUmemoryPool pool = make_pool(), of_memory = nullptr, first = nullptr;
  expect_code("sets", cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  REQUIRE(cuMemAllocAsync(&address, 4096, nullptr));
  REQUIRE(cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  expect_true("from it", of_memory == pool);
  REQUIRE(cuMemFreeAsync(address, nullptr));
  REQUIRE(cuDeviceGetDefaultMemPool(&first, 0));
  expect_code("sets the default again", cuDeviceSetMemPool(0, first), CUDA_SUCCESS);
  REQUIRE(cuMemAllocAsync(&address, 4096, nullptr));
  REQUIRE(cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  expect_true("from the default", of_memory == first);
}

CONFORM(cuDeviceSetMemPool, wrong_arguments) {
  expect_code("no pool", cuDeviceSetMemPool(0, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceSetMemPool(99, make_pool()), CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool gone = make_pool();
  REQUIRE(cuMemPoolDestroy(gone));
  expect_code("a destroyed pool", cuDeviceSetMemPool(0, gone), CUDA_SUCCESS);
}

CONFORM_WITH(cuDeviceSetMemPool, needs_cuInit, nothing) {
  expect_code("not initialised", cuDeviceSetMemPool(0, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
