#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemGetAddressRange, of_a_block) {
  Buffer buffer(1000);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  expect_code("from the middle", cuMemGetAddressRange(&base, &bytes, buffer.at(500)), CUDA_SUCCESS);
  expect_true("its beginning", base == buffer.at());
  expect("its length", bytes, size_t{1000});
  bytes = 0;
  expect_code("length only", cuMemGetAddressRange(nullptr, &bytes, buffer), CUDA_SUCCESS);
  expect("the same", bytes, size_t{1000});
}

CONFORM(cuMemGetAddressRange, of_pinned_memory) {
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 5000));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  expect_code("asks",
              cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(host) + 100),
              CUDA_SUCCESS);
  expect_true("its beginning", base == reinterpret_cast<CUdeviceptr>(host));
}

CONFORM(cuMemGetAddressRange, of_nothing) {
  CUdeviceptr base = 0;
  size_t bytes = 0;
  expect_code("no results", cuMemGetAddressRange(nullptr, nullptr, 0), CUDA_SUCCESS);
  expect_code("foreign memory",
              cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(foreign_memory())),
              CUDA_ERROR_NOT_FOUND);
  expect_code("null", cuMemGetAddressRange(&base, &bytes, 0), CUDA_ERROR_NOT_FOUND);
}

}  // namespace limen::conform
