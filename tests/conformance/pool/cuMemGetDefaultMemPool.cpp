#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemGetDefaultMemPool, of_a_device) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr, known = nullptr;
  expect_code("asks", cuMemGetDefaultMemPool(&pool, &device, CU_MEM_ALLOCATION_TYPE_PINNED),
              CUDA_SUCCESS);
  REQUIRE(cuDeviceGetDefaultMemPool(&known, 0));
  expect_true("cuDeviceGetDefaultMemPool's", pool == known);
}

CONFORM(cuMemGetDefaultMemPool, of_the_host) {
  CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool pool = nullptr, again = nullptr;
  expect_code("asks", cuMemGetDefaultMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED),
              CUDA_SUCCESS);
  expect_code("again", cuMemGetDefaultMemPool(&again, &host, CU_MEM_ALLOCATION_TYPE_PINNED),
              CUDA_SUCCESS);
  expect_true("the same", pool == again);
  const CUdeviceptr address = take(pool, 4096);
  REQUIRE(cuCtxSynchronize(nullptr));
  *reinterpret_cast<volatile uint32_t*>(address) = 3;  // the host's, and no device's yet
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  expect_code("a device's access", cuMemPoolGetAccess(&flags, pool, &device), CUDA_SUCCESS);
  expect("none", flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

CONFORM(cuMemGetDefaultMemPool, of_managed_memory) {
  CUmemLocation anywhere{CU_MEM_LOCATION_TYPE_NONE, 0};
  CUmemoryPool pool = nullptr;
  expect_code("asks", cuMemGetDefaultMemPool(&pool, &anywhere, CU_MEM_ALLOCATION_TYPE_MANAGED),
              CUDA_SUCCESS);
  const CUdeviceptr address = take(pool, 4096);
  REQUIRE(cuCtxSynchronize(nullptr));
  *reinterpret_cast<volatile uint32_t*>(address) = 5;
  unsigned managed = 0;
  REQUIRE(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  expect("managed", managed, 1u);
}

CONFORM(cuMemGetDefaultMemPool, wrong_arguments) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  const auto pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  expect_code("no result", cuMemGetDefaultMemPool(nullptr, &device, pinned),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no location", cuMemGetDefaultMemPool(&pool, nullptr, pinned),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no type", cuMemGetDefaultMemPool(&pool, &device, CU_MEM_ALLOCATION_TYPE_INVALID),
              CUDA_ERROR_INVALID_VALUE);
  device.id = 1000;
  expect_code("no such device", cuMemGetDefaultMemPool(&pool, &device, pinned),
              CUDA_ERROR_INVALID_VALUE);
  CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_NONE, 0};
  expect_code("pinned nowhere", cuMemGetDefaultMemPool(&pool, &nowhere, pinned),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
