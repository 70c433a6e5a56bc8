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

CONFORM(cuEventRecordWithFlags, default_flags_record) {
  Held held;
  CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  expect_code("record", cuEventRecordWithFlags(event, held.stream, CU_EVENT_RECORD_DEFAULT),
              CUDA_SUCCESS);
  expect_code("not done", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  held.open();
  expect_code("done", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("unknown flag", cuEventRecordWithFlags(event, held.stream, 8),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("destroyed", cuEventRecordWithFlags(destroyed(), held.stream, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
