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

CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, flags));
  return event;
}

CUevent destroyed() {
  CUevent gone = make_event();
  REQUIRE(cuEventDestroy(gone));
  return gone;
}

}  // namespace

CONFORM(cuEventRecord, the_latest_counts) {
  Held held;
  CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  expect_code("behind a kernel", cuEventRecord(event, held.stream), CUDA_SUCCESS);
  expect_code("not done", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  CUstream idle = nullptr;
  REQUIRE(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
  expect_code("again elsewhere", cuEventRecord(event, idle), CUDA_SUCCESS);
  expect_code("done", cuEventSynchronize(event), CUDA_SUCCESS);
  held.open();
  expect_code("no event", cuEventRecord(nullptr, idle), CUDA_ERROR_INVALID_HANDLE);
  expect_code("destroyed", cuEventRecord(destroyed(), idle), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuEventRecord, of_another_context) {
  CUevent event = make_event();
  CUcontext other = nullptr;
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("record", cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
