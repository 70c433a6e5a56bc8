#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuStreamBeginCaptureToGraph, adds_to_a_graph_of_the_program) {
  Buffer out(4);
  CUgraph graph = new_graph(), got = nullptr;
  CUgraphNode first = add_fill(graph, {}, out, 1);
  CUfunction add = common_kernel("add");
  CUstream stream = new_stream();
  expect_code(
      "begins",
      cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  REQUIRE(launch(add, 1, 1, stream, out.at(), 4u));
  REQUIRE(cuStreamEndCapture(stream, &got));
  expect_true("the same graph", got == graph);
  expect("nodes", count_nodes(graph), 2u);
  expect("edges", count_edges(graph), 1u);
  run(graph);
  expect("value", read<uint32_t>(out), 5u);
}

CONFORM(cuStreamBeginCaptureToGraph, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode other = add_empty(new_graph());
  CUstream stream = new_stream();
  auto begin = [&](CUstream on, CUgraph to, const CUgraphNode* nodes, size_t count) {
    return cuStreamBeginCaptureToGraph(on, to, nodes, nullptr, count,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL);
  };
  expect_code("no graph", begin(stream, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("another graph's node", begin(stream, graph, &other, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("the legacy stream", begin(nullptr, graph, nullptr, 0),
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_code("begins", begin(stream, graph, nullptr, 0), CUDA_SUCCESS);
  expect_code("a graph that is captured to", begin(new_stream(), graph, nullptr, 0),
              CUDA_ERROR_ILLEGAL_STATE);
}

}  // namespace limen::conform
