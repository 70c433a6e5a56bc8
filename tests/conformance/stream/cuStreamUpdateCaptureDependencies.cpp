#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuStreamUpdateCaptureDependencies, adds_nodes_made_by_hand) {
  Buffer out(8);
  CUfunction add = common_kernel("add");
  CUstream stream = new_stream();
  CUgraph graph = nullptr, inside = nullptr;
  CUstreamCaptureStatus status;
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  REQUIRE(cuStreamGetCaptureInfo(stream, &status, nullptr, &inside, nullptr, nullptr, nullptr));
  CUgraphNode fill = add_fill(inside, {}, out, 7);
  expect_code("adds",
              cuStreamUpdateCaptureDependencies(stream, &fill, nullptr, 1,
                                                CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
              CUDA_SUCCESS);
  REQUIRE(launch(add, 1, 1, stream, out.at(), 1u));
  expect_code("sets",
              cuStreamUpdateCaptureDependencies(stream, &fill, nullptr, 1,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              CUDA_SUCCESS);
  REQUIRE(cuMemcpyDtoDAsync(out.at(4), out, 4, stream));
  expect_code("ends, although the kernel is not joined", cuStreamEndCapture(stream, &graph),
              CUDA_SUCCESS);
  size_t count = 0;
  REQUIRE(cuGraphNodeGetDependentNodes(fill, nullptr, nullptr, &count));
  expect("both follow the fill", count, 2u);
  run(graph);
  expect("sum", read<uint32_t>(out), 8u);
}

CONFORM(cuStreamUpdateCaptureDependencies, wrong_arguments) {
  CUstream stream = new_stream();
  CUgraphNode other = add_empty(new_graph());
  expect_code("not capturing", cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 0),
              CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect_code("another graph's node",
              cuStreamUpdateCaptureDependencies(stream, &other, nullptr, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 9),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
