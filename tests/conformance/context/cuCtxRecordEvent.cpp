#include "conformance/conform.h"
#include "conformance/gate.h"

namespace limen::conform {

CONFORM(cuCtxRecordEvent, completes_with_all_streams) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  expect_code("record", cuCtxRecordEvent(context, event), CUDA_SUCCESS);
  expect_code("not yet", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("then", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("no context", cuCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxRecordEvent, completes_with_all_streams_too) {
  CUcontext context = nullptr;
  CUevent event = nullptr;
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  // Everything is made before the first kernel runs: allocations and loads may wait for it.
  HostWord first, second;
  CUfunction spin = common_kernel("spin");
  REQUIRE(launch(spin, 1, 1, one, first.at()));
  REQUIRE(launch(spin, 1, 1, two, second.at()));
  expect_code("records", cuCtxRecordEvent(context, event), CUDA_SUCCESS);
  expect_code("both run", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  first.set(1);
  REQUIRE(cuStreamSynchronize(one));
  expect_code("one runs", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  second.set(1);
  REQUIRE(cuStreamSynchronize(two));
  expect_code("waiting ends", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("both are over", cuEventQuery(event), CUDA_SUCCESS);
}

CONFORM(cuCtxRecordEvent, wrong_arguments) {
  CUcontext context = nullptr, made = nullptr;
  CUevent event = nullptr, gone = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DEFAULT));
  REQUIRE(cuEventCreate(&gone, CU_EVENT_DEFAULT));
  REQUIRE(cuEventDestroy(gone));
  expect_code("no context", cuCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no event", cuCtxRecordEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("a destroyed event", cuCtxRecordEvent(context, gone), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("an event of another context", cuCtxRecordEvent(made, event),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuCtxRecordEvent, needs_a_context, initialised) {
  expect_code("no context", cuCtxRecordEvent(nullptr, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxRecordEvent, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxRecordEvent(nullptr, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
