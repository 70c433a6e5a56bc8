#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxWaitEvent, holds_all_streams) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  CUstream first = nullptr, second = nullptr;
  REQUIRE(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, first, memory));
  REQUIRE(cuEventRecord(event, first));
  expect_code("wait", cuCtxWaitEvent(context, event), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(cuMemsetD32Async(word, 5, 1, second));
  expect_code("held", cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("goes on", cuStreamSynchronize(second), CUDA_SUCCESS);
  expect("work was done", read<uint32_t>(word), 5u);
  expect_code("no context", cuCtxWaitEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
