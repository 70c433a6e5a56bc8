#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuStreamGetCaptureInfo, shows_graph_and_dependencies) {
  Buffer out(4);
  CUstream stream = new_stream();
  CUgraph graph = nullptr, inside = nullptr;
  CUstreamCaptureStatus status;
  cuuint64_t id = 0, other_id = 0;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* data = nullptr;
  size_t count = 9;
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect_code("at first",
              cuStreamGetCaptureInfo(stream, &status, &id, &inside, &nodes, &data, &count),
              CUDA_SUCCESS);
  expect("no dependencies", count, 0u);
  REQUIRE(cuMemsetD32Async(out, 1, 1, stream));
  expect_code("then",
              cuStreamGetCaptureInfo(stream, &status, &other_id, nullptr, &nodes, &data, &count),
              CUDA_SUCCESS);
  expect("active", status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  expect("one dependency", count, 1u);
  expect_true("the fill", count == 1 && nodes[0] == first_node(inside));
  expect_true("the same id", id == other_id);
  REQUIRE(cuStreamEndCapture(stream, &graph));
  expect_true("the graph", graph == inside);
  expect_code("after",
              cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr),
              CUDA_SUCCESS);
  expect("none", status, CU_STREAM_CAPTURE_STATUS_NONE);
}

CONFORM(cuStreamGetCaptureInfo, wrong_arguments) {
  CUstream stream = new_stream();
  CUstreamCaptureStatus status;
  const CUgraphEdgeData* data = nullptr;
  expect_code("no status",
              cuStreamGetCaptureInfo(stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("data without nodes",
              cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, &data, nullptr),
              CUDA_SUCCESS);
}

}  // namespace limen::conform
