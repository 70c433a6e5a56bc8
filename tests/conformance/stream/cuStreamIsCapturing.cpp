#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuStreamIsCapturing, from_beginning_to_end) {
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  auto status = static_cast<CUstreamCaptureStatus>(9);
  expect_code("before", cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  expect("none", status, CU_STREAM_CAPTURE_STATUS_NONE);
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect_code("during", cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  expect("active", status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  REQUIRE(cuStreamEndCapture(stream, &graph));
  expect_code("after", cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  expect("none again", status, CU_STREAM_CAPTURE_STATUS_NONE);
}

CONFORM(cuStreamIsCapturing, the_legacy_stream_beside_a_blocking_one) {
  CUstream blocking = nullptr;
  CUgraph graph = nullptr;
  REQUIRE(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  REQUIRE(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureStatus status;
  expect_code("cannot be asked", cuStreamIsCapturing(nullptr, &status),
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_code("which invalidates nothing", cuStreamEndCapture(blocking, &graph), CUDA_SUCCESS);
}

CONFORM(cuStreamIsCapturing, wrong_arguments) {
  CUstreamCaptureStatus status;
  expect_code("no result", cuStreamIsCapturing(new_stream(), nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no stream", cuStreamIsCapturing(foreign_handle<CUstream>(), &status),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
