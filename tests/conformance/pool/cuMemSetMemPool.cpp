#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemSetMemPool, where_cuMemAllocAsync_takes_from) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool own = make_pool(), of_block = nullptr;
  expect_code("sets", cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, own), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  REQUIRE(cuMemAllocAsync(&address, mega, nullptr));
  REQUIRE(cuPointerGetAttribute(&of_block, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  expect_true("from it", of_block == own);
}

CONFORM(cuMemSetMemPool, place_and_pool_must_agree) {
  CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 0}, device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool own = make_pool();
  const auto pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  expect_code("a device's pool for the host", cuMemSetMemPool(&host, pinned, own),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("for managed memory", cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_MANAGED, own),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no location", cuMemSetMemPool(nullptr, pinned, own), CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemSetMemPool(&device, pinned, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps props = pool_properties();
  props.location = host;
  CUmemoryPool on_host = nullptr;
  REQUIRE(cuMemPoolCreate(&on_host, &props));
  expect_code("the host's for the host", cuMemSetMemPool(&host, pinned, on_host), CUDA_SUCCESS);
  CUmemoryPool now = nullptr;
  REQUIRE(cuMemGetMemPool(&now, &host, pinned));
  expect_true("it is", now == on_host);
}

}  // namespace limen::conform
