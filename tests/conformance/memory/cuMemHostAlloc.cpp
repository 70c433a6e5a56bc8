#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostAlloc, every_flag) {
  constexpr unsigned all[] = {
      0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED,
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED};
  for (unsigned flags : all) {
    void* memory = nullptr;
    unsigned got = 0;
    std::string of = " of " + std::to_string(flags);
    expect_code("allocates" + of, cuMemHostAlloc(&memory, 100, flags), CUDA_SUCCESS);
    REQUIRE(cuMemHostGetFlags(&got, memory));
    expect("flags" + of, got, flags | CU_MEMHOSTALLOC_DEVICEMAP);
    static_cast<volatile char*>(memory)[99] = 3;
    REQUIRE(cuMemFreeHost(memory));
  }
}

CONFORM(cuMemHostAlloc, kernels_use_its_address) {
  void* memory = nullptr;
  expect_code("allocates", cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  auto* word = static_cast<volatile uint32_t*>(memory);
  *word = 1;
  REQUIRE(launch(common_kernel("add"), 1, 32, nullptr, memory, 2u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("added", *word, 65u);
}

CONFORM(cuMemHostAlloc, wrong_arguments) {
  void* memory = foreign_memory();
  expect_code("no result", cuMemHostAlloc(nullptr, 16, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemHostAlloc(&memory, 0, 0), CUDA_SUCCESS);  // to measure on H200
  expect_code("unknown flag", cuMemHostAlloc(&memory, 16, 8), CUDA_ERROR_INVALID_VALUE);
  expect_code("all flags", cuMemHostAlloc(&memory, 16, ~0u), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than there is", cuMemHostAlloc(&memory, size_t{1} << 46, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM_WITH(cuMemHostAlloc, needs_a_context, initialised) {
  void* memory;
  expect_code("no context", cuMemHostAlloc(&memory, 16, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemHostAlloc, needs_cuInit, nothing) {
  void* memory;
  expect_code("not initialised", cuMemHostAlloc(&memory, 16, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
