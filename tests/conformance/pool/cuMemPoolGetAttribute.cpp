#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemPoolGetAttribute, use_and_reserve) {
  CUmemoryPool pool = make_pool();
  const CUdeviceptr one = take(pool, 8 * mega);
  uint64_t used = 0, reserved = 0;
  expect_code("used", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used),
              CUDA_SUCCESS);
  expect_code("reserved",
              cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
              CUDA_SUCCESS);
  expect("as allocated", used, 8 * mega);
  expect_true("at least as much", reserved >= used);
  REQUIRE(cuMemFreeAsync(one, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("none", attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  expect("the mark stays", attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 8 * mega);
  expect_true("that of the reserve, too",
              attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) >= reserved);
}

CONFORM(cuMemPoolGetAttribute, wrong_arguments) {
  CUmemoryPool pool = make_pool();
  uint64_t value = 0;
  expect_code("no result", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolGetAttribute(nullptr, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no attribute",
              cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(1000), &value),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
