#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemPoolGetAccess, at_first) {
  CUmemoryPool pool = make_pool();
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_MAX;
  expect_code("its own device", cuMemPoolGetAccess(&flags, pool, &device), CUDA_SUCCESS);
  expect("read and write", flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

CONFORM(cuMemPoolGetAccess, wrong_arguments) {
  CUmemoryPool pool = make_pool();
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 1000};
  CUmemAccess_flags flags{};
  expect_code("no such device", cuMemPoolGetAccess(&flags, pool, &device),
              CUDA_ERROR_INVALID_VALUE);
  device.id = 0;
  expect_code("no result", cuMemPoolGetAccess(nullptr, pool, &device), CUDA_ERROR_INVALID_VALUE);
  expect_code("no location", cuMemPoolGetAccess(&flags, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolGetAccess(&flags, nullptr, &device), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
