#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemAllocFromPoolAsync, from_that_pool) {
  CUmemoryPool pool = make_pool(), other = nullptr;
  CUdeviceptr address = 0;
  expect_code("allocates", cuMemAllocFromPoolAsync(&address, mega, pool, nullptr), CUDA_SUCCESS);
  REQUIRE(cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  expect_true("its handle", pool == other);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + mega - 4, 3u));
  expect("a kernel stores", read<uint32_t>(address + mega - 4), 3u);
  expect_true("counted", attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) >= mega);
}

CONFORM(cuMemAllocFromPoolAsync, an_exportable_pool_works_like_any) {
  CUmemoryPool pool = make_pool(true);
  const CUdeviceptr small = take(pool, 100), large = take(pool, 4 * mega);
  CUdeviceptr third = 0;
  expect_code("allocates", cuMemAllocFromPoolAsync(&third, 8, pool, nullptr), CUDA_SUCCESS);
  REQUIRE(cuMemsetD8(large, 3, 4 * mega));
  write<uint32_t>(small, 8u);
  write<uint32_t>(third, 9u);
  expect("large", int{read<uint8_t>(large + 4 * mega - 1)}, 3);
  expect("small", read<uint32_t>(small), 8u);
  uint64_t types = 0;
  REQUIRE(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, large));
  expect("handle types", types, unsigned(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  REQUIRE(cuMemFree(small));
  REQUIRE(cuMemFreeAsync(large, nullptr));
}

CONFORM(cuMemAllocFromPoolAsync, not_beyond_its_size) {
  CUmemoryPool pool = make_pool(false, 64 * mega);
  CUdeviceptr address = 0;
  expect_code("within", cuMemAllocFromPoolAsync(&address, 48 * mega, pool, nullptr), CUDA_SUCCESS);
  expect_code("beyond", cuMemAllocFromPoolAsync(&address, 48 * mega, pool, nullptr),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM(cuMemAllocFromPoolAsync, host_memory) {
  CUmemPoolProps props = pool_properties();
  props.location.type = CU_MEM_LOCATION_TYPE_HOST;
  CUmemoryPool pool = nullptr;
  REQUIRE(cuMemPoolCreate(&pool, &props));
  CUdeviceptr address = 0;
  expect_code("allocates", cuMemAllocFromPoolAsync(&address, mega, pool, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  *reinterpret_cast<volatile uint32_t*>(address) = 44;
  unsigned type = 0;
  REQUIRE(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  expect("host memory", type, unsigned(CU_MEMORYTYPE_HOST));
  REQUIRE(cuMemFreeAsync(address, nullptr));
}

CONFORM(cuMemAllocFromPoolAsync, wrong_arguments) {
  CUmemoryPool pool = make_pool();
  CUdeviceptr address = 0;
  expect_code("no result", cuMemAllocFromPoolAsync(nullptr, 64, pool, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemAllocFromPoolAsync(&address, 64, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
