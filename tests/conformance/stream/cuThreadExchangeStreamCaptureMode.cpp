#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuThreadExchangeStreamCaptureMode, swaps) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  expect_code("sets", cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  expect("was global", mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUstream stream = new_stream();
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect_code("a relaxed thread may", cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  expect_code("ends well", cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  expect_code("back", cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  expect("was relaxed", mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CONFORM(cuThreadExchangeStreamCaptureMode, no_such_mode) {
  auto mode = static_cast<CUstreamCaptureMode>(5);
  // Whatever it is, it is kept and comes back.
  expect_code("refused", cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  expect("was global", mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  REQUIRE(cuThreadExchangeStreamCaptureMode(&mode));
  expect("kept", static_cast<int>(mode), 5);
}

}  // namespace limen::conform
