#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxRecordEvent, completes_with_all_streams) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  expect_code("record", cuCtxRecordEvent(context, event), CUDA_SUCCESS);
  expect_code("not yet", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("then", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("no context", cuCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
