#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostAlloc, memory_of_both_sides) {
  void* host = nullptr;
  expect_code("allocates", cuMemHostAlloc(&host, 4096, 0), CUDA_SUCCESS);
  auto* words = static_cast<volatile uint32_t*>(host);
  words[0] = 5;
  words[1023] = 6;
  REQUIRE(
      launch(common_kernel("store"), 1, 1, nullptr, reinterpret_cast<CUdeviceptr>(host) + 4, 7u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the host's value", words[0], 5u);
  expect("a kernel's value", words[1], 7u);
  expect("the host's last", words[1023], 6u);
}

CONFORM(cuMemHostAlloc, flags_are_kept) {
  void* host = nullptr;
  unsigned flags = 0;
  expect_code("allocates",
              cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED),
              CUDA_SUCCESS);
  REQUIRE(cuMemHostGetFlags(&flags, host));
  expect("with the mapping that all have", flags,
         unsigned(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED |
                  CU_MEMHOSTALLOC_DEVICEMAP));
  expect_code("no such flag", cuMemHostAlloc(&host, 64, 8), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemHostAlloc, sizes) {
  void* host = foreign_memory();
  expect_code("no bytes", cuMemHostAlloc(&host, 0, 0), CUDA_SUCCESS);
  expect_true("no memory", host == nullptr);
  expect_code("no result", cuMemHostAlloc(nullptr, 64, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than there is", cuMemHostAlloc(&host, size_t{1} << 50, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM_WITH(cuMemHostAlloc, needs_a_context, initialised) {
  void* host = nullptr;
  expect_code("no context", cuMemHostAlloc(&host, 64, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
