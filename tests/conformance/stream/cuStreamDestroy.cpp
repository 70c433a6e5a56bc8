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

CONFORM(cuStreamDestroy, work_goes_on) {
  Held held;
  Buffer word(4);
  write<uint32_t>(word, 0);
  REQUIRE(cuMemsetD32Async(word, 6, 1, held.stream));
  expect_code("destroy", cuStreamDestroy(held.stream), CUDA_SUCCESS);
  expect_code("gone", cuStreamQuery(held.stream), CUDA_ERROR_INVALID_HANDLE);
  held.open();
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("its work was done", read<uint32_t>(word), 6u);
  expect_code("twice", cuStreamDestroy(destroyed()), CUDA_ERROR_INVALID_HANDLE);
  expect_code("the default stream", cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
