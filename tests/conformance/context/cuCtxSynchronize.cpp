#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxSynchronize, waits_for_all_streams) {
  CUstream streams[4];
  Buffer words(16);
  REQUIRE(cuMemsetD32(words, 0, 4));
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 4; ++i) {
    REQUIRE(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    REQUIRE(launch(add, 64, 64, streams[i], words.at(4 * static_cast<size_t>(i)), 1u));
  }
  expect_code("wait", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  for (int i = 0; i < 4; ++i)
    expect_code("stream " + std::to_string(i), cuStreamQuery(streams[i]), CUDA_SUCCESS);
  expect("work was done", read<uint32_t>(words.at(12)), 4096u);
  expect_code("foreign", cuCtxSynchronize(foreign_handle<CUcontext>()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxSynchronize, tells_of_a_failure) {
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  expect_code("first", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("again", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

}  // namespace limen::conform
