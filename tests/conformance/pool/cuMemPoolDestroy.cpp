#include "conformance/free_memory.h"
#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemPoolDestroy, ends_the_handle) {
  CUmemoryPool pool = make_pool();
  expect_code("destroys", cuMemPoolDestroy(pool), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("no more from it", cuMemAllocFromPoolAsync(&address, 64, pool, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemPoolDestroy, blocks_outlive_it) {
  for (bool exportable : {false, true}) {
    CUmemoryPool pool = make_pool(exportable);
    const std::string which = exportable ? "exportable " : "plain ";
    const CUdeviceptr address = take(pool, mega);
    write<uint32_t>(address, 5u);
    expect_code(which + "destroys", cuMemPoolDestroy(pool), CUDA_SUCCESS);
    expect(which + "still there", read<uint32_t>(address), 5u);
    expect_code(which + "frees", cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize(nullptr));
    uint32_t value = 0;
    expect_code(which + "gone", cuMemcpyDtoH(&value, address, 4), CUDA_ERROR_INVALID_VALUE);
  }
}

CONFORM(cuMemPoolDestroy, the_current_pool) {
  CUmemoryPool pool = make_pool(), now = nullptr, usual = nullptr;
  REQUIRE(cuDeviceSetMemPool(0, pool));
  expect_code("destroys", cuMemPoolDestroy(pool), CUDA_SUCCESS);
  REQUIRE(cuDeviceGetMemPool(&now, 0));
  REQUIRE(cuDeviceGetDefaultMemPool(&usual, 0));
  expect_true("the default one takes over", now == usual);
}

CONFORM(cuMemPoolDestroy, gives_the_memory_back) {
  FreeMemory given_back;
  for (int i = 0; i < FreeMemory::tries && !given_back.seen; ++i) {
    CUmemoryPool pool = make_pool(true);
    set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, ~uint64_t{0});
    REQUIRE(cuMemFreeAsync(take(pool, 64 * mega), nullptr));
    REQUIRE(cuCtxSynchronize(nullptr));
    given_back.begin();
    CUresult destroyed = cuMemPoolDestroy(pool);
    given_back.rose_by(64 * mega);
    if (i == 0) expect_code("destroys", destroyed, CUDA_SUCCESS);
  }
  expect_true("its idle memory", given_back.seen);
}

CONFORM(cuMemPoolDestroy, what_cannot_be_destroyed) {
  CUmemoryPool usual = nullptr, own = make_pool();
  REQUIRE(cuDeviceGetDefaultMemPool(&usual, 0));
  expect_code("the default pool", cuMemPoolDestroy(usual), CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("an own one", cuMemPoolDestroy(own), CUDA_SUCCESS);
}

}  // namespace limen::conform
