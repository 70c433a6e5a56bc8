#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuEventRecordWithFlags, stands_behind_earlier_work) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  HeldStream stream;
  expect_code("behind a kernel", cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT),
              CUDA_SUCCESS);
  expect_code("not reached", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  stream.open();
  expect_code("reached", cuEventQuery(event), CUDA_SUCCESS);
}

CONFORM(cuEventRecordWithFlags, stands_before_later_work) {
  CUevent event = nullptr;
  CUstream stream = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Pinned<uint32_t> open(1);
  expect_code("recorded", cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT),
              CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, open.address()));
  expect_code("reached while the kernel runs", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("which it does", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  open[0] = 1;
  REQUIRE(cuStreamSynchronize(stream));
  float time = -1;
  expect_code("it has a time", cuEventElapsedTime(&time, event, event), CUDA_SUCCESS);
}

CONFORM(cuEventRecordWithFlags, default_streams) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  float time = -1;
  for (CUstream stream : {CUstream{nullptr}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    const std::string label = std::to_string(reinterpret_cast<uintptr_t>(stream));
    expect_code("stream " + label, cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT),
                CUDA_SUCCESS);
    REQUIRE(cuEventSynchronize(event));
    expect_code("recorded on " + label, cuEventElapsedTime(&time, event, event), CUDA_SUCCESS);
  }
}

// The legacy stream's record comes after all blocking streams.
CONFORM(cuEventRecordWithFlags, on_the_legacy_stream_waits_for_blocking_ones) {
  CUevent event = nullptr;
  CUstream stream = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  Pinned<uint32_t> open(1);
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, open.address()));
  expect_code("recorded", cuEventRecordWithFlags(event, nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_SUCCESS);
  expect_code("not reached", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  open[0] = 1;
  expect_code("reached", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("the stream is done", cuStreamQuery(stream), CUDA_SUCCESS);
}

CONFORM(cuEventRecordWithFlags, handles_that_are_none) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  expect_code("no event", cuEventRecordWithFlags(nullptr, nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("a foreign event",
              cuEventRecordWithFlags(foreign_handle<CUevent>(), nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_CONTEXT);
  expect_code("a destroyed stream",
              cuEventRecordWithFlags(event, destroyed_stream(), CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("a foreign stream",
              cuEventRecordWithFlags(event, foreign_handle<CUstream>(), CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuEventDestroy(event));
  expect_code("a destroyed event", cuEventRecordWithFlags(event, nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuEventRecordWithFlags, event_and_stream_of_two_contexts) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  CUcontext other = nullptr;
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  expect_code("a stream of another", cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("the default stream of another",
              cuEventRecordWithFlags(event, nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuEventRecordWithFlags, needs_a_context, initialised) {
  expect_code("no context",
              cuEventRecordWithFlags(foreign_handle<CUevent>(), nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuEventRecordWithFlags, needs_cuInit, nothing) {
  expect_code("not initialised", cuEventRecordWithFlags(nullptr, nullptr, CU_EVENT_RECORD_DEFAULT),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuEventRecordWithFlags, flags) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  expect_code("external, no capture",
              cuEventRecordWithFlags(event, nullptr, CU_EVENT_RECORD_EXTERNAL),
              CUDA_ERROR_ILLEGAL_STATE);
  expect_code("unknown", cuEventRecordWithFlags(event, nullptr, 2), CUDA_ERROR_INVALID_VALUE);
  float time = 0;
  expect_code("nothing was recorded", cuEventElapsedTime(&time, event, event),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
