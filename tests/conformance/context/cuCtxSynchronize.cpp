#include "conformance/conform.h"
#include "conformance/gate.h"

#include <chrono>
#include <thread>

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
  expect_code("foreign", cuCtxSynchronize(foreign_handle<CUcontext>()),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM(cuCtxSynchronize, tells_of_a_failure) {
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  expect_code("first", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("again", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuCtxSynchronize, waits_for_every_stream) {
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_DEFAULT));
  HostWord first, second, third;
  CUfunction store = common_kernel("store");
  CUhostFn nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  REQUIRE(cuLaunchHostFunc(one, nap, nullptr));
  REQUIRE(launch(store, 1, 1, one, first.at(), 1u));
  REQUIRE(cuLaunchHostFunc(two, nap, nullptr));
  REQUIRE(launch(store, 1, 1, two, second.at(), 2u));
  REQUIRE(launch(store, 1, 1, nullptr, third.at(), 3u));
  expect_code("waits", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect("non-blocking stream", first.value(), 1u);
  expect("blocking stream", second.value(), 2u);
  expect("legacy stream", third.value(), 3u);
  expect_code("nothing to wait for", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuCtxSynchronize, of_a_named_context) {
  CUcontext primary = nullptr, made = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  HostWord word;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, word.at(), 7u));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("the other context", cuCtxSynchronize(primary), CUDA_SUCCESS);
  expect("its work is over", word.value(), 7u);
  REQUIRE(cuCtxDestroy(made));
  expect_code("a destroyed one", cuCtxSynchronize(made), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  auto first = reinterpret_cast<CUresult (*)()>(driver_symbol("cuCtxSynchronize"));
  expect_code("first ABI", first(), CUDA_SUCCESS);
}

CONFORM(cuCtxSynchronize, a_failed_kernel_stays) {
  CUfunction trap = common_kernel("trap");
  expect_code("launches", launch(trap, 1, 1, nullptr), CUDA_SUCCESS);
  expect_code("the failure", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("once more", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  CUdeviceptr address = 0;
  expect_code("memory", cuMemAlloc(&address, 16), CUDA_ERROR_LAUNCH_FAILED);
  CUstream stream = nullptr;
  expect_code("a stream", cuStreamCreate(&stream, 0), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("a launch", launch(trap, 1, 1, nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuCtxSynchronize, foreign_memory) {
  expect_code("refused", cuCtxSynchronize(foreign_handle<CUcontext>()),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxSynchronize, needs_a_context, initialised) {
  expect_code("no context", cuCtxSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxSynchronize, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxSynchronize(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
