#include "conformance/conform.h"
#include "conformance/gate.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuLaunchGridAsync, as_before_cuda_4) {
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(add, 32, 1, 1));
  REQUIRE(cuParamSetv(add, 0, &address, 8));
  REQUIRE(cuParamSeti(add, 8, 2));
  REQUIRE(cuParamSetSize(add, 12));
  expect_code("launch", cuLaunchGridAsync(add, 5, 1, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("all threads ran", read<uint32_t>(word), 320u);
  expect_code("no function", cuLaunchGridAsync(nullptr, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLaunchGridAsync, in_stream_order) {
  CUfunction store = common_kernel("store");
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  HostWord word;
  set_address(store, word.at());
  REQUIRE(cuParamSeti(store, 8, 5));
  REQUIRE(cuParamSetSize(store, 12));
  REQUIRE(cuFuncSetBlockShape(store, 1, 1, 1));
  Gate gate(stream);
  expect_code("launches", cuLaunchGridAsync(store, 2, 1, stream), CUDA_SUCCESS);
  expect("waits", word.value(), 0u);
  gate.open();
  REQUIRE(cuStreamSynchronize(stream));
  expect("ran", word.value(), 5u);
  expect_code("no width", cuLaunchGridAsync(store, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  expect_code("no height", cuLaunchGridAsync(store, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuLaunchGridAsync(nullptr, 1, 1, stream), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuLaunchGridAsync(store, 1, 1, stream), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLaunchGridAsync, needs_a_context, initialised) {
  expect_code("no context", cuLaunchGridAsync(nullptr, 1, 1, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLaunchGridAsync, needs_cuInit, nothing) {
  expect_code("not initialised", cuLaunchGridAsync(nullptr, 1, 1, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
