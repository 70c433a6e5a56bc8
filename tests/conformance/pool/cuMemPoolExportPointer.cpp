#include "conformance/pool/share.h"

namespace limen::conform {

CONFORM(cuMemPoolExportPointer, each_block_has_its_own_data) {
  CUmemoryPool pool = make_pool(true);
  const CUdeviceptr one = take(pool, mega), two = take(pool, mega);
  CUmemPoolPtrExportData first{}, second{};
  expect_code("before the pool", cuMemPoolExportPointer(&first, one), CUDA_ERROR_INVALID_VALUE);
  exported(pool);
  expect_code("one", cuMemPoolExportPointer(&first, one), CUDA_SUCCESS);
  expect_code("two", cuMemPoolExportPointer(&second, two), CUDA_SUCCESS);
  expect_true("differ", std::memcmp(&first, &second, sizeof first) != 0);
}

CONFORM(cuMemPoolExportPointer, wrong_arguments) {
  CUmemPoolPtrExportData data{};
  CUmemoryPool pool = make_pool(true);
  exported(pool);
  const CUdeviceptr block = take(pool, mega), plain = take(make_pool(), mega);
  Buffer buffer(64);
  expect_code("no result", cuMemPoolExportPointer(nullptr, block), CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemPoolExportPointer(&data, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("of a pool that cannot be exported", cuMemPoolExportPointer(&data, plain),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("of no pool", cuMemPoolExportPointer(&data, buffer), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
