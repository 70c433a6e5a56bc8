#include "conformance/conform.h"
#include "conformance/gate.h"

#include <chrono>
#include <thread>

namespace limen::conform {

CONFORM(cuCtxWaitEvent, holds_all_streams) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  CUstream first = nullptr, second = nullptr;
  REQUIRE(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, first, memory));
  REQUIRE(cuEventRecord(event, first));
  expect_code("wait", cuCtxWaitEvent(context, event), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(cuMemsetD32Async(word, 5, 1, second));
  expect_code("held", cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("goes on", cuStreamSynchronize(second), CUDA_SUCCESS);
  expect("work was done", read<uint32_t>(word), 5u);
  expect_code("no context", cuCtxWaitEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxWaitEvent, streams_wait_that_exist_and_that_come) {
  CUcontext context = nullptr;
  CUevent event = nullptr, soon = nullptr, later = nullptr;
  CUstream gated = nullptr, old = nullptr, young = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuEventCreate(&soon, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuEventCreate(&later, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuStreamCreate(&gated, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&old, CU_STREAM_NON_BLOCKING));
  CUfunction store = common_kernel("store");
  HostWord first, second;
  Gate gate(gated);
  REQUIRE(cuEventRecord(event, gated));
  expect_code("waits", cuCtxWaitEvent(context, event), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, old, first.at(), 1u));
  REQUIRE(cuEventRecord(soon, old));
  REQUIRE(cuStreamCreate(&young, CU_STREAM_NON_BLOCKING));
  REQUIRE(launch(store, 1, 1, young, second.at(), 2u));
  REQUIRE(cuEventRecord(later, young));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect_code("the old stream waits", cuEventQuery(soon), CUDA_ERROR_NOT_READY);
  expect_code("a new stream waits", cuEventQuery(later), CUDA_ERROR_NOT_READY);
  expect("not stored", first.value(), 0u);
  gate.open();
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("stored at last", first.value(), 1u);
  expect("stored by the new stream", second.value(), 2u);
}

CONFORM(cuCtxWaitEvent, wrong_arguments) {
  CUcontext context = nullptr;
  CUevent event = nullptr, gone = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DEFAULT));
  REQUIRE(cuEventCreate(&gone, CU_EVENT_DEFAULT));
  REQUIRE(cuEventDestroy(gone));
  expect_code("an event without a record", cuCtxWaitEvent(context, event), CUDA_SUCCESS);
  expect_code("no context", cuCtxWaitEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no event", cuCtxWaitEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("a destroyed event", cuCtxWaitEvent(context, gone), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuCtxWaitEvent, needs_a_context, initialised) {
  expect_code("no context", cuCtxWaitEvent(nullptr, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxWaitEvent, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxWaitEvent(nullptr, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
