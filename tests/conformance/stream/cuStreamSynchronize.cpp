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

CONFORM(cuStreamSynchronize, waits) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Buffer word(4);
  write<uint32_t>(word, 0);
  REQUIRE(launch(common_kernel("add"), 512, 128, stream, word.at(), 1u));
  expect_code("wait", cuStreamSynchronize(stream), CUDA_SUCCESS);
  expect_code("idle", cuStreamQuery(stream), CUDA_SUCCESS);
  expect("done", read<uint32_t>(word), 65536u);
  expect_code("destroyed", cuStreamSynchronize(destroyed()), CUDA_ERROR_INVALID_HANDLE);
  Held held;
  expect_code("another stream's work is not waited for", cuStreamSynchronize(stream), CUDA_SUCCESS);
  held.open();
}

}  // namespace limen::conform
