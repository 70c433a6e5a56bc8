#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuGreenCtxWaitEvent, holds_all_its_streams) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]);
  CUstream inside = nullptr, outside = nullptr;
  REQUIRE(cuGreenCtxStreamCreate(&inside, green, CU_STREAM_NON_BLOCKING, 0));
  REQUIRE(cuStreamCreate(&outside, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, outside, memory));
  REQUIRE(cuEventRecord(event, outside));
  expect_code("wait", cuGreenCtxWaitEvent(green, event), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(cuMemsetD32Async(word, 7, 1, inside));
  expect_code("held", cuStreamQuery(inside), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("goes on", cuStreamSynchronize(inside), CUDA_SUCCESS);
  expect("work was done", read<uint32_t>(word), 7u);
  expect_code("no event", cuGreenCtxWaitEvent(green, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no context", cuGreenCtxWaitEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
