#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphGetEdges, both_ends_of_each) {
  CUgraph graph = new_graph();
  CUgraphNode one = add_empty(graph), two = add_empty(graph, {one}),
              three = add_empty(graph, {one});
  CUgraphNode from[4], to[4];
  size_t count = 4;
  expect_code("asks", cuGraphGetEdges(graph, from, to, nullptr, &count), CUDA_SUCCESS);
  expect("count", count, 2u);
  expect_true("from the first", from[0] == one && from[1] == one);
  expect_true("to the others",
              (to[0] == two && to[1] == three) || (to[0] == three && to[1] == two));
  expect("null beyond", from[2], nullptr);
}

CONFORM(cuGraphGetEdges, data_must_not_get_lost) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode one = add_kernel(graph, {}, "store", out, 1),
              two = add_kernel(graph, {}, "store", out, 2);
  CUgraphEdgeData data{}, got[1];
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  REQUIRE(cuGraphAddDependencies(graph, &one, &two, &data, 1));
  CUgraphNode from, to;
  size_t count = 1;
  expect_code("without room for it", cuGraphGetEdges(graph, &from, &to, nullptr, &count),
              CUDA_ERROR_LOSSY_QUERY);
  count = 1;
  expect_code("with room", cuGraphGetEdges(graph, &from, &to, got, &count), CUDA_SUCCESS);
  expect("port", int{got[0].from_port}, 1);
  expect("type", int{got[0].type}, 1);
}

CONFORM(cuGraphGetEdges, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  size_t count = 1;
  expect_code("one end only", cuGraphGetEdges(graph, &node, nullptr, nullptr, &count),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no count", cuGraphGetEdges(graph, nullptr, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
