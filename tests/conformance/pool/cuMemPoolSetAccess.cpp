#include "conformance/pool/pool.h"

namespace limen::conform {

static CUmemAccessDesc of_device(int device, CUmemAccess_flags flags) {
  CUmemAccessDesc desc{};
  desc.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  desc.flags = flags;
  return desc;
}

CONFORM(cuMemPoolSetAccess, for_another_device) {
  int devices = 0;
  REQUIRE(cuDeviceGetCount(&devices));
  if (devices < 2) skip("needs two devices");
  CUmemoryPool pool = make_pool();
  CUmemLocation other{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  CUmemAccess_flags flags{};
  CUmemAccessDesc desc = of_device(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("allows", cuMemPoolSetAccess(pool, &desc, 1), CUDA_SUCCESS);
  REQUIRE(cuMemPoolGetAccess(&flags, pool, &other));
  expect("told back", flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  desc.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  expect_code("revokes", cuMemPoolSetAccess(pool, &desc, 1), CUDA_SUCCESS);
  REQUIRE(cuMemPoolGetAccess(&flags, pool, &other));
  expect("none", flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

CONFORM(cuMemPoolSetAccess, devices_to_a_host_pool) {
  CUmemPoolProps props = pool_properties();
  props.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool pool = nullptr;
  REQUIRE(cuMemPoolCreate(&pool, &props));
  CUmemAccessDesc desc = of_device(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("allows", cuMemPoolSetAccess(pool, &desc, 1), CUDA_SUCCESS);
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccess_flags flags{};
  REQUIRE(cuMemPoolGetAccess(&flags, pool, &device));
  expect("told back", flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

CONFORM(cuMemPoolSetAccess, wrong_arguments) {
  CUmemoryPool pool = make_pool();
  CUmemAccessDesc own = of_device(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("its own device", cuMemPoolSetAccess(pool, &own, 1), CUDA_SUCCESS);
  own.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  expect_code("cannot be revoked", cuMemPoolSetAccess(pool, &own, 1), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no descriptors", cuMemPoolSetAccess(pool, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolSetAccess(nullptr, &own, 1), CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc nobody = of_device(1000, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  expect_code("no such device", cuMemPoolSetAccess(pool, &nobody, 1), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
