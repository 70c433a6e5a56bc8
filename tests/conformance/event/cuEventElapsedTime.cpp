#include <chrono>
#include <thread>

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

CONFORM(cuEventElapsedTime, of_a_kernel) {
  Held held;
  CUevent end = make_event(), begin = make_event();
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventRecord(begin, stream));
  REQUIRE(cuStreamSynchronize(stream));
  REQUIRE(cuEventRecord(end, held.stream));
  float milliseconds = -1;
  expect_code("not done", cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_NOT_READY);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  held.open();
  REQUIRE(cuEventSynchronize(end));
  expect_code("done", cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
  expect_true("at least the pause", milliseconds >= 29.0f && milliseconds < 20000.0f);
  expect_code("backwards", cuEventElapsedTime(&milliseconds, end, begin), CUDA_SUCCESS);
  expect_true("is negative", milliseconds < 0.0f);
  expect_code("never recorded", cuEventElapsedTime(&milliseconds, begin, make_event()),
              CUDA_ERROR_INVALID_HANDLE);
  CUevent untimed = make_event(CU_EVENT_DISABLE_TIMING);
  REQUIRE(cuEventRecord(untimed, stream));
  REQUIRE(cuEventSynchronize(untimed));
  expect_code("without timing", cuEventElapsedTime(&milliseconds, begin, untimed),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("destroyed", cuEventElapsedTime(&milliseconds, begin, destroyed()),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
