#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuEventQuery, tells_pending_from_done) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  expect_code("never recorded", cuEventQuery(event), CUDA_SUCCESS);
  HeldStream stream;
  REQUIRE(cuEventRecord(event, stream));
  expect_code("behind a kernel", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  stream.open();
  expect_code("reached", cuEventQuery(event), CUDA_SUCCESS);
}

CONFORM(cuEventQuery, counts_the_last_record) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  HeldStream stream;
  REQUIRE(cuEventRecord(event, stream));
  CUstream idle = nullptr;
  REQUIRE(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventRecord(event, idle));
  REQUIRE(cuStreamSynchronize(idle));
  expect_code("recorded again elsewhere", cuEventQuery(event), CUDA_SUCCESS);
  REQUIRE(cuEventRecord(event, stream));
  expect_code("and behind the kernel again", cuEventQuery(event), CUDA_ERROR_NOT_READY);
}

CONFORM(cuEventQuery, from_a_thread_without_a_context) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  HeldStream stream;
  REQUIRE(cuEventRecord(event, stream));
  expect_code("pending", on_a_bare_thread([&] { return cuEventQuery(event); }),
              CUDA_ERROR_NOT_READY);
  stream.open();
  expect_code("done", on_a_bare_thread([&] { return cuEventQuery(event); }), CUDA_SUCCESS);
}

CONFORM(cuEventQuery, handles_that_are_none) {
  expect_code("null", cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", cuEventQuery(foreign_handle<CUevent>()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuEventQuery, of_a_context_that_ended) {
  CUcontext own = nullptr;
  REQUIRE(cuCtxCreate(&own, nullptr, 0, 0));
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuCtxDestroy(own));
  expect_code("its event", cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM(cuEventQuery, after_a_kernel_that_failed) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  cuEventRecord(event, nullptr);
  cuStreamSynchronize(nullptr);
  expect_code("the event", cuEventQuery(event), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM_WITH(cuEventQuery, needs_cuInit, nothing) {
  expect_code("not initialised", cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
