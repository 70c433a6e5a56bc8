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

CONFORM(cuStreamGetFlags, as_created) {
  unsigned flags = 99;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  expect_code("get", cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  expect("non-blocking", flags, unsigned{CU_STREAM_NON_BLOCKING});
  expect_code("default stream", cuStreamGetFlags(nullptr, &flags), CUDA_SUCCESS);
  expect("none", flags, 0u);
  expect_code("no result", cuStreamGetFlags(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("destroyed", cuStreamGetFlags(destroyed(), &flags), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamGetFlags, of_a_busy_stream) {
  Held held;
  unsigned flags = 99;
  expect_code("get", cuStreamGetFlags(held.stream, &flags), CUDA_SUCCESS);
  held.open();
}

CONFORM(cuStreamGetFlags, of_every_kind_of_stream) {
  CUstream plain = nullptr, apart = nullptr;
  REQUIRE(cuStreamCreate(&plain, CU_STREAM_DEFAULT));
  REQUIRE(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
  unsigned flags = 99;
  expect_code("plain", cuStreamGetFlags(plain, &flags), CUDA_SUCCESS);
  expect("plain flags", flags, 0u);
  expect_code("non-blocking", cuStreamGetFlags(apart, &flags), CUDA_SUCCESS);
  expect("non-blocking flags", flags, 1u);
  expect_code("null", cuStreamGetFlags(nullptr, &flags), CUDA_SUCCESS);
  expect("null's flags", flags, 0u);
  flags = 99;
  expect_code("legacy", cuStreamGetFlags(CU_STREAM_LEGACY, &flags), CUDA_SUCCESS);
  expect("legacy's flags", flags, 0u);
  flags = 99;
  expect_code("per thread", cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags), CUDA_SUCCESS);
  expect("per thread's flags", flags, 0u);
  expect_code("no result", cuStreamGetFlags(plain, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(plain));
  expect_code("destroyed", cuStreamGetFlags(plain, &flags), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamGetFlags, needs_a_context, initialised) {
  unsigned flags;
  expect_code("no context", cuStreamGetFlags(nullptr, &flags), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamGetFlags, needs_cuInit, nothing) {
  unsigned flags;
  expect_code("not initialised", cuStreamGetFlags(nullptr, &flags), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
