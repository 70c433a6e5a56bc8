#include "conformance/conform.h"
#include "conformance/gate.h"

#include <chrono>
#include <thread>

namespace limen::conform {
namespace {

/// A stream that a kernel holds until open() is called.
struct Held {
  Held() {
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    *static_cast<volatile uint32_t*>(memory) = 0;
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  }
  void open() { *static_cast<volatile uint32_t*>(memory) = 1; }
  CUstream stream = nullptr;
  void* memory = nullptr;
};

CUstream destroyed() {
  CUstream gone = nullptr;
  REQUIRE(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(gone));
  return gone;
}

}  // namespace

CONFORM(cuStreamWaitEvent, orders_streams) {
  Held first;
  CUstream second = nullptr;
  REQUIRE(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuEventRecord(event, first.stream));
  expect_code("wait", cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  expect_code("held", cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  first.open();
  expect_code("goes on", cuStreamSynchronize(second), CUDA_SUCCESS);
  CUevent fresh = nullptr;
  REQUIRE(cuEventCreate(&fresh, 0));
  expect_code("never recorded", cuStreamWaitEvent(second, fresh, 0), CUDA_SUCCESS);
  expect_code("no event", cuStreamWaitEvent(second, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("unknown flag", cuStreamWaitEvent(second, event, 8), CUDA_ERROR_INVALID_VALUE);
  expect_code("destroyed stream", cuStreamWaitEvent(destroyed(), event, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamWaitEvent, later_work_waits) {
  CUstream one = nullptr, two = nullptr;
  CUevent event = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUfunction store = common_kernel("store");
  HostWord before, after;
  Gate gate(one);
  REQUIRE(cuEventRecord(event, one));
  REQUIRE(launch(store, 1, 1, two, before.at(), 1u));
  expect_code("waits", cuStreamWaitEvent(two, event, CU_EVENT_WAIT_DEFAULT), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, two, after.at(), 2u));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect("earlier work runs", before.value(), 1u);
  expect("later work waits", after.value(), 0u);
  expect_code("the stream is busy", cuStreamQuery(two), CUDA_ERROR_NOT_READY);
  gate.open();
  REQUIRE(cuStreamSynchronize(two));
  expect("later work at last", after.value(), 2u);
}

CONFORM(cuStreamWaitEvent, the_record_of_the_call_counts) {
  CUstream one = nullptr, two = nullptr;
  CUevent event = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  expect_code("never recorded", cuStreamWaitEvent(two, event, 0), CUDA_SUCCESS);
  REQUIRE(cuEventRecord(event, one));
  REQUIRE(cuStreamSynchronize(one));
  expect_code("already over", cuStreamWaitEvent(two, event, 0), CUDA_SUCCESS);
  Gate gate(one);
  REQUIRE(cuEventRecord(event, one));
  expect_code("two goes on", cuStreamSynchronize(two), CUDA_SUCCESS);
  expect_code("the new record", cuStreamWaitEvent(two, event, 0), CUDA_SUCCESS);
  REQUIRE(cuEventDestroy(event));
  expect_code("the event may go", cuStreamQuery(two), CUDA_ERROR_NOT_READY);
  gate.open();
  expect_code("and it ends", cuStreamSynchronize(two), CUDA_SUCCESS);
}

CONFORM(cuStreamWaitEvent, default_and_own_stream) {
  CUstream one = nullptr;
  CUevent event = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  Gate gate(one);
  REQUIRE(cuEventRecord(event, one));
  expect_code("itself", cuStreamWaitEvent(one, event, 0), CUDA_SUCCESS);
  expect_code("null", cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
  expect_code("the legacy stream waits", cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  expect_code("per thread", cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0), CUDA_SUCCESS);
  gate.open();
  expect_code("all end", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuStreamWaitEvent, wrong_arguments) {
  CUstream stream = nullptr, gone = nullptr;
  CUevent event = nullptr, old = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuStreamCreate(&gone, 0));
  REQUIRE(cuStreamDestroy(gone));
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuEventCreate(&old, 0));
  REQUIRE(cuEventDestroy(old));
  expect_code("flags", cuStreamWaitEvent(stream, event, 2), CUDA_ERROR_INVALID_VALUE);
  expect_code("no event", cuStreamWaitEvent(stream, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("a destroyed event", cuStreamWaitEvent(stream, old, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("a destroyed stream", cuStreamWaitEvent(gone, event, 0), CUDA_ERROR_INVALID_HANDLE);
  CUcontext other = nullptr;
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  expect_code("an event of another context", cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
}

CONFORM(cuStreamWaitEvent, foreign_memory) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("refused", cuStreamWaitEvent(stream, foreign_handle<CUevent>(), 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamWaitEvent, needs_a_context, initialised) {
  expect_code("no context", cuStreamWaitEvent(nullptr, nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamWaitEvent, needs_cuInit, nothing) {
  expect_code("not initialised", cuStreamWaitEvent(nullptr, nullptr, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
