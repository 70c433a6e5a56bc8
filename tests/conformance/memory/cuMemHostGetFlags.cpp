#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostGetFlags, of_pinned_and_registered_memory) {
  void* pinned = nullptr;
  unsigned flags = 0;
  REQUIRE(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
  expect_code("pinned", cuMemHostGetFlags(&flags, pinned), CUDA_SUCCESS);
  expect("all three", flags, 7u);
  flags = 0;
  expect_code("inside", cuMemHostGetFlags(&flags, static_cast<char*>(pinned) + 4095), CUDA_SUCCESS);
  expect("the same", flags, 7u);
  alignas(4096) static char plain[4096];
  REQUIRE(cuMemHostRegister(plain, sizeof plain, CU_MEMHOSTREGISTER_PORTABLE));
  expect_code("registered", cuMemHostGetFlags(&flags, plain), CUDA_SUCCESS);
  expect("mapped and portable", flags, 3u);
}

CONFORM(cuMemHostGetFlags, wrong_arguments) {
  void* pinned = nullptr;
  CUdeviceptr device = 0;
  unsigned flags = 0;
  REQUIRE(cuMemHostAlloc(&pinned, 64, 0));
  REQUIRE(cuMemAlloc(&device, 64));
  expect_code("no result", cuMemHostGetFlags(nullptr, pinned), CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemHostGetFlags(&flags, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("host memory", cuMemHostGetFlags(&flags, foreign_memory()), CUDA_ERROR_INVALID_VALUE);
  expect_code("device memory", cuMemHostGetFlags(&flags, reinterpret_cast<void*>(device)),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemHostGetFlags, needs_a_context, initialised) {
  unsigned flags;
  expect_code("no context", cuMemHostGetFlags(&flags, foreign_memory()),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemHostGetFlags, needs_cuInit, nothing) {
  unsigned flags;
  expect_code("not initialised", cuMemHostGetFlags(&flags, foreign_memory()),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
