#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuGreenCtxRecordEvent, waits_for_all_its_streams) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuGreenCtxStreamCreate(&one, green, CU_STREAM_NON_BLOCKING, 0));
  REQUIRE(cuGreenCtxStreamCreate(&two, green, CU_STREAM_NON_BLOCKING, 0));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, two, memory));
  expect_code("record", cuGreenCtxRecordEvent(green, event), CUDA_SUCCESS);
  expect_code("one stream is busy", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("until it is not", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("no event", cuGreenCtxRecordEvent(green, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no context", cuGreenCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
