#include "conformance/conform.h"

namespace limen::conform {
namespace {

void set_one(void* data) { *static_cast<volatile int*>(data) = 1; }

}  // namespace

CONFORM(cuLaunchHostFunc, in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  volatile int called = 0;
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  expect_code("queue", cuLaunchHostFunc(stream, set_one, const_cast<int*>(&called)), CUDA_SUCCESS);
  expect("not yet", int{called}, 0);
  *open = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("after the kernel", int{called}, 1);
  expect_code("no function", cuLaunchHostFunc(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
