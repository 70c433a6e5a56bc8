#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuEventDestroy, the_handle_is_gone) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  expect_code("destroyed", cuEventDestroy(event), CUDA_SUCCESS);
  expect_code("again", cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  expect_code("query", cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  expect_code("record", cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("wait", cuStreamWaitEvent(nullptr, event, 0), CUDA_ERROR_INVALID_HANDLE);
}

// The call does not wait, and who waits for the event goes on doing so.
CONFORM(cuEventDestroy, while_it_is_pending) {
  Buffer memory(4);
  write<uint32_t>(memory, 1);
  CUevent event = nullptr;
  CUstream other = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  HeldStream stream;
  REQUIRE(cuEventRecord(event, stream));
  REQUIRE(cuStreamWaitEvent(other, event, 0));
  REQUIRE(cuMemsetD32Async(memory, 2, 1, other));
  expect_code("destroyed", cuEventDestroy(event), CUDA_SUCCESS);
  expect_code("the stream still waits", cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  expect("and so does its work", read<uint32_t>(memory), 1u);
  stream.open();
  REQUIRE(cuStreamSynchronize(other));
  expect("which is done in the end", read<uint32_t>(memory), 2u);
  expect_code("again", cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuEventDestroy, handles_that_are_none) {
  expect_code("null", cuEventDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", cuEventDestroy(foreign_handle<CUevent>()), CUDA_ERROR_INVALID_CONTEXT);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("a stream", cuEventDestroy(reinterpret_cast<CUevent>(stream)),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("the stream lives", cuStreamSynchronize(stream), CUDA_SUCCESS);
}

CONFORM(cuEventDestroy, from_a_thread_without_a_context) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  expect_code("elsewhere", on_a_bare_thread([&] { return cuEventDestroy(event); }), CUDA_SUCCESS);
  // NVIDIA's driver reads what the event has left behind.
  expect_true("it is gone here, too", cuEventDestroy(event) != CUDA_SUCCESS);
}

CONFORM_WITH(cuEventDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuEventDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
