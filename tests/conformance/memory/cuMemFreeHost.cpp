#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemFreeHost, takes_the_memory) {
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 1 << 20));
  expect_code("frees", cuMemFreeHost(host), CUDA_SUCCESS);
  expect_code("not twice", cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
  unsigned flags = 0;
  expect_code("unknown now", cuMemHostGetFlags(&flags, host), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemFreeHost, what_is_no_pinned_memory) {
  expect_code("null", cuMemFreeHost(nullptr), CUDA_SUCCESS);
  expect_code("foreign memory", cuMemFreeHost(foreign_memory()), CUDA_ERROR_INVALID_VALUE);
  Buffer buffer(64);
  expect_code("device memory", cuMemFreeHost(reinterpret_cast<void*>(buffer.at())),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
