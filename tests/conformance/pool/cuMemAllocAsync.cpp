#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemAllocAsync, memory_in_stream_order) {
  CUstream stream = new_stream();
  CUdeviceptr address = 0;
  expect_code("allocates", cuMemAllocAsync(&address, 4 * mega, stream), CUDA_SUCCESS);
  REQUIRE(cuMemsetD32Async(address, 17, mega, stream));
  REQUIRE(launch(common_kernel("add"), 1, 32, stream, address + 4 * mega - 4, 1u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("first", read<uint32_t>(address), 17u);
  expect("last", read<uint32_t>(address + 4 * mega - 4), 49u);
}

CONFORM(cuMemAllocAsync, a_freed_block_comes_back_in_the_same_stream) {
  CUstream stream = new_stream();
  CUdeviceptr one = 0, two = 0;
  expect_code("first", cuMemAllocAsync(&one, mega, stream), CUDA_SUCCESS);
  REQUIRE(cuMemFreeAsync(one, stream));
  expect_code("second", cuMemAllocAsync(&two, mega, stream), CUDA_SUCCESS);
  expect_true("the same", one == two);
}

CONFORM(cuMemAllocAsync, the_pool_is_told) {
  CUdeviceptr address = 0;
  expect_code("allocates", cuMemAllocAsync(&address, mega, nullptr), CUDA_SUCCESS);
  CUmemoryPool pool = nullptr, current = nullptr;
  REQUIRE(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  REQUIRE(cuDeviceGetMemPool(&current, 0));
  expect_true("the current one", pool == current);
}

CONFORM(cuMemAllocAsync, sizes) {
  CUdeviceptr address = 1;
  expect_code("no bytes", cuMemAllocAsync(&address, 0, nullptr), CUDA_SUCCESS);
  expect("no address", address, 0u);
  expect_code("more than there is", cuMemAllocAsync(&address, size_t{1} << 46, nullptr),
              CUDA_ERROR_OUT_OF_MEMORY);
  expect_code("no result", cuMemAllocAsync(nullptr, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
