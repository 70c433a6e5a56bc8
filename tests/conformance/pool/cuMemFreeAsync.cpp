#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemFreeAsync, takes_the_block) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAllocAsync(&address, mega, nullptr));
  expect_code("frees", cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  uint32_t value = 0;
  expect_code("not the program's any more", cuMemcpyDtoH(&value, address, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("not twice", cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemFreeAsync, work_before_it_is_done) {
  CUmemoryPool pool = make_pool();
  CUstream stream = new_stream(), other = new_stream();
  Flag flag;
  Buffer result(4);
  const CUdeviceptr address = take(pool, mega, stream);
  REQUIRE(cuMemsetD32Async(address, 5, 1, stream));
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, flag.address()));
  REQUIRE(cuMemcpyDtoDAsync(result, address, 4, stream));
  expect_code("frees", cuMemFreeAsync(address, stream), CUDA_SUCCESS);
  // Another stream may not get the block while the first one still uses it.
  int off = 0;
  REQUIRE(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &off));
  const CUdeviceptr second = take(pool, mega, other);
  expect_true("another block", second != address);
  REQUIRE(cuMemsetD32Async(second, 6, 1, other));
  REQUIRE(cuStreamSynchronize(other));
  *flag.word = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("the copy saw its value", read<uint32_t>(result), 5u);
}

CONFORM(cuMemFreeAsync, memory_of_cuMemAlloc) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, mega));
  expect_code("frees", cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("gone", cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemFreeAsync, wrong_arguments) {
  expect_code("no address", cuMemFreeAsync(0, nullptr), CUDA_SUCCESS);
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 64));
  expect_code("host memory", cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(host), nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  REQUIRE(cuMemAllocAsync(&address, mega, nullptr));
  expect_code("from the middle", cuMemFreeAsync(address + 256, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
