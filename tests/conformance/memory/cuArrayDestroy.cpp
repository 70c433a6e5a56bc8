#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuArrayDestroy, ends_the_handle) {
  CUarray array = plain_array();
  CUDA_ARRAY_DESCRIPTOR desc{};
  expect_code("destroys", cuArrayDestroy(array), CUDA_SUCCESS);
  expect_code("unknown now", cuArrayGetDescriptor(&desc, array), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuArrayDestroy, gives_the_memory_back) {
  size_t before = 0, after = 0, total = 0;
  CUarray array = plain_array(16384, 4096);
  REQUIRE(cuMemGetInfo(&before, &total));
  expect_code("destroys", cuArrayDestroy(array), CUDA_SUCCESS);
  REQUIRE(cuMemGetInfo(&after, &total));
  expect_true("256 MiB", after - before >= size_t{256} << 20);
}

CONFORM(cuArrayDestroy, no_array) {
  expect_code("null", cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
