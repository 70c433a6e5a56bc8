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

CONFORM(cuEventDestroy, while_it_is_awaited) {
  Held held;
  CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  CUstream second = nullptr;
  REQUIRE(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventRecord(event, held.stream));
  REQUIRE(cuStreamWaitEvent(second, event, 0));
  expect_code("destroy", cuEventDestroy(event), CUDA_SUCCESS);
  expect_code("the wait holds", cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  held.open();
  expect_code("and ends", cuStreamSynchronize(second), CUDA_SUCCESS);
  expect_code("twice", cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  expect_code("its handle", cuEventQuery(destroyed()), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
