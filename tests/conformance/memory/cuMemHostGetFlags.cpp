#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostGetFlags, as_allocated) {
  void *plain = nullptr, *portable = nullptr;
  unsigned flags = 99;
  REQUIRE(cuMemAllocHost(&plain, 64));
  REQUIRE(cuMemHostAlloc(&portable, 64, CU_MEMHOSTALLOC_PORTABLE));
  expect_code("plain", cuMemHostGetFlags(&flags, plain), CUDA_SUCCESS);
  expect("mapped", flags, unsigned(CU_MEMHOSTALLOC_DEVICEMAP));
  expect_code("portable", cuMemHostGetFlags(&flags, portable), CUDA_SUCCESS);
  expect("both", flags, unsigned(CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
}

CONFORM(cuMemHostGetFlags, wrong_arguments) {
  void* host = nullptr;
  unsigned flags = 0;
  REQUIRE(cuMemAllocHost(&host, 64));
  expect_code("no result", cuMemHostGetFlags(nullptr, host), CUDA_ERROR_INVALID_VALUE);
  expect_code("no memory", cuMemHostGetFlags(&flags, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign memory", cuMemHostGetFlags(&flags, foreign_memory()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
