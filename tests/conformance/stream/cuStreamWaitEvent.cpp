#include "conformance/conform.h"

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

}  // namespace limen::conform
