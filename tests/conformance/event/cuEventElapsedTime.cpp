#include <chrono>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuEventElapsedTime, is_what_passed_on_the_stream) {
  CUevent start = nullptr, end = nullptr;
  REQUIRE(cuEventCreate(&start, 0));
  REQUIRE(cuEventCreate(&end, 0));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Pinned<uint32_t> open(1);
  REQUIRE(cuEventRecord(start, stream));
  REQUIRE(cuEventSynchronize(start));
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, open.address()));
  REQUIRE(cuEventRecord(end, stream));
  float time = -1;
  expect_code("while a kernel runs", cuEventElapsedTime(&time, start, end), CUDA_ERROR_NOT_READY);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  open[0] = 1;
  REQUIRE(cuEventSynchronize(end));
  expect_code("after it", cuEventElapsedTime(&time, start, end), CUDA_SUCCESS);
  expect_true("60 ms and less than 10 s", time >= 59 && time < 10000);
  float back = 0;
  expect_code("backwards", cuEventElapsedTime(&back, end, start), CUDA_SUCCESS);
  expect_true("is its negative", back == -time);
}

CONFORM(cuEventElapsedTime, events_that_have_no_time) {
  CUevent never = nullptr, done = nullptr, plain = nullptr;
  REQUIRE(cuEventCreate(&never, 0));
  REQUIRE(cuEventCreate(&done, 0));
  REQUIRE(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuEventRecord(done, nullptr));
  REQUIRE(cuEventRecord(plain, nullptr));
  REQUIRE(cuStreamSynchronize(nullptr));
  float time = 5;
  expect_code("start not recorded", cuEventElapsedTime(&time, never, done),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("end not recorded", cuEventElapsedTime(&time, done, never),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("start without timing", cuEventElapsedTime(&time, plain, done),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("end without timing", cuEventElapsedTime(&time, done, plain),
              CUDA_ERROR_INVALID_HANDLE);
  expect("the place is as it was", time, 5.0f);
}

CONFORM(cuEventElapsedTime, arguments_that_are_none) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuEventRecord(event, nullptr));
  REQUIRE(cuEventSynchronize(event));
  float time = 0;
  expect_code("no start", cuEventElapsedTime(&time, nullptr, event), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no end", cuEventElapsedTime(&time, event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", cuEventElapsedTime(&time, foreign_handle<CUevent>(), event),
              CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no place", cuEventElapsedTime(nullptr, event, event), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuEventElapsedTime, of_two_contexts) {
  CUevent here = nullptr, there = nullptr;
  REQUIRE(cuEventCreate(&here, 0));
  REQUIRE(cuEventRecord(here, nullptr));
  REQUIRE(cuEventSynchronize(here));
  CUcontext other = nullptr;
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  REQUIRE(cuEventCreate(&there, 0));
  REQUIRE(cuEventRecord(there, nullptr));
  REQUIRE(cuEventSynchronize(there));
  float time = 0;
  expect_code("refused", cuEventElapsedTime(&time, here, there), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuEventElapsedTime, needs_cuInit, nothing) {
  float time = 0;
  expect_code("not initialised", cuEventElapsedTime(&time, nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
