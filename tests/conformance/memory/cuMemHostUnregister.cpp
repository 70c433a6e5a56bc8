#include <cstdlib>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostUnregister, ends_a_registration) {
  void* host = std::aligned_alloc(4096, 8192);
  REQUIRE(cuMemHostRegister(host, 8192, 0));
  expect_code("ends", cuMemHostUnregister(host), CUDA_SUCCESS);
  unsigned flags = 0;
  expect_code("unknown now", cuMemHostGetFlags(&flags, host), CUDA_ERROR_INVALID_VALUE);
  expect_code("not twice", cuMemHostUnregister(host), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  expect_code("it can be registered again", cuMemHostRegister(host, 8192, 0), CUDA_SUCCESS);
}

CONFORM(cuMemHostUnregister, what_is_not_registered) {
  expect_code("null", cuMemHostUnregister(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign memory", cuMemHostUnregister(foreign_memory()),
              CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

}  // namespace limen::conform
