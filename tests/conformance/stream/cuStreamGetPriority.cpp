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

CUstream destroyed() {
  CUstream gone = nullptr;
  REQUIRE(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(gone));
  return gone;
}

}  // namespace

CONFORM(cuStreamGetPriority, as_created) {
  int priority = 99;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -4));
  expect_code("get", cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  expect("urgent", priority, -4);
  expect_code("default stream", cuStreamGetPriority(nullptr, &priority), CUDA_SUCCESS);
  expect("usual", priority, 0);
  expect_code("no result", cuStreamGetPriority(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("destroyed", cuStreamGetPriority(destroyed(), &priority), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamGetPriority, of_a_busy_stream) {
  Held held;
  int priority = 99;
  expect_code("get", cuStreamGetPriority(held.stream, &priority), CUDA_SUCCESS);
  expect("usual", priority, 0);
  held.open();
}

CONFORM(cuStreamGetPriority, of_every_kind_of_stream) {
  CUstream stream = nullptr;
  int priority = 99;
  REQUIRE(cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, -3));
  expect_code("asks", cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  expect("as it was made", priority, -3);
  expect_code("null", cuStreamGetPriority(nullptr, &priority), CUDA_SUCCESS);
  expect("null's", priority, 0);
  priority = 99;
  expect_code("legacy", cuStreamGetPriority(CU_STREAM_LEGACY, &priority), CUDA_SUCCESS);
  expect("legacy's", priority, 0);
  priority = 99;
  expect_code("per thread", cuStreamGetPriority(CU_STREAM_PER_THREAD, &priority), CUDA_SUCCESS);
  expect("per thread's", priority, 0);
  expect_code("no result", cuStreamGetPriority(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuStreamGetPriority(stream, &priority), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamGetPriority, needs_a_context, initialised) {
  int priority;
  expect_code("no context", cuStreamGetPriority(nullptr, &priority), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamGetPriority, needs_cuInit, nothing) {
  int priority;
  expect_code("not initialised", cuStreamGetPriority(nullptr, &priority),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
