#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemPoolTrimTo, gives_back_what_is_idle) {
  CUmemoryPool pool = make_pool();
  set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, ~uint64_t{0});
  const CUdeviceptr kept = take(pool, 64 * mega), freed = take(pool, 64 * mega);
  write<uint32_t>(kept, 4u);
  REQUIRE(cuMemFreeAsync(freed, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  const uint64_t before = attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  expect_true("the threshold keeps it", before >= 128 * mega);
  expect_code("trims", cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  const uint64_t after = attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  expect_true("less is reserved", after <= before - 64 * mega);
  expect_true("what is used stays", after >= 64 * mega);
  expect("with its contents", read<uint32_t>(kept), 4u);
}

CONFORM(cuMemPoolTrimTo, keeps_what_it_is_told) {
  CUmemoryPool pool = make_pool();
  set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, ~uint64_t{0});
  CUdeviceptr blocks[4];
  for (CUdeviceptr& block : blocks) block = take(pool, 64 * mega);
  for (CUdeviceptr block : blocks) REQUIRE(cuMemFreeAsync(block, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("more than there is", cuMemPoolTrimTo(pool, size_t{1} << 40), CUDA_SUCCESS);
  expect_true("nothing goes", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 256 * mega);
  expect_code("a half", cuMemPoolTrimTo(pool, 128 * mega), CUDA_SUCCESS);
  expect_true("at least that", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 128 * mega);
  expect_code("all", cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  expect("nothing", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
}

CONFORM(cuMemPoolTrimTo, no_pool) {
  expect_code("null", cuMemPoolTrimTo(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("an empty one", cuMemPoolTrimTo(make_pool(), 0), CUDA_SUCCESS);
}

}  // namespace limen::conform
