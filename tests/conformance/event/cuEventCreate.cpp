#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuEventCreate, every_kind) {
  for (unsigned flags : {unsigned{CU_EVENT_DEFAULT}, unsigned{CU_EVENT_BLOCKING_SYNC},
                         unsigned{CU_EVENT_DISABLE_TIMING},
                         unsigned{CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING}}) {
    const std::string label = "flags " + std::to_string(flags);
    CUevent event = nullptr;
    expect_code(label, cuEventCreate(&event, flags), CUDA_SUCCESS);
    expect_code(label + ": done before it is recorded", cuEventQuery(event), CUDA_SUCCESS);
    expect_code(label + ": can be recorded", cuEventRecord(event, nullptr), CUDA_SUCCESS);
    expect_code(label + ": can be waited for", cuEventSynchronize(event), CUDA_SUCCESS);
  }
}

CONFORM(cuEventCreate, only_events_with_timing_have_a_time) {
  CUevent timed = nullptr, plain = nullptr;
  expect_code("with", cuEventCreate(&timed, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  expect_code("without", cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  REQUIRE(cuEventRecord(timed, nullptr));
  REQUIRE(cuEventRecord(plain, nullptr));
  REQUIRE(cuEventSynchronize(plain));
  float time = -1;
  expect_code("with and with", cuEventElapsedTime(&time, timed, timed), CUDA_SUCCESS);
  expect("no time between", time, 0.0f);
  expect_code("with and without", cuEventElapsedTime(&time, timed, plain),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuEventCreate, wrong_arguments) {
  CUevent event = nullptr;
  expect_code("nowhere", cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuEventCreate(&event, 8), CUDA_ERROR_INVALID_VALUE);
  expect_code("all flags", cuEventCreate(&event, ~0u), CUDA_ERROR_INVALID_VALUE);
  expect_code("interprocess with timing", cuEventCreate(&event, CU_EVENT_INTERPROCESS),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuEventCreate, thousands_of_them) {
  std::vector<CUevent> events(5000);
  size_t made = 0;
  for (CUevent& event : events) made += cuEventCreate(&event, 0) == CUDA_SUCCESS;
  expect("made", made, events.size());
  size_t gone = 0;
  for (CUevent event : events) gone += cuEventDestroy(event) == CUDA_SUCCESS;
  expect("destroyed", gone, events.size());
}

CONFORM_WITH(cuEventCreate, needs_a_context, initialised) {
  CUevent event = nullptr;
  expect_code("no context", cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuEventCreate, needs_cuInit, nothing) {
  CUevent event = nullptr;
  expect_code("not initialised", cuEventCreate(&event, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
