#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphNodeGetType, of_each_node) {
  Buffer out(8);
  CUgraph graph = new_graph();
  CUgraphNodeType type;
  expect_code("empty", cuGraphNodeGetType(add_empty(graph), &type), CUDA_SUCCESS);
  expect("is empty", type, CU_GRAPH_NODE_TYPE_EMPTY);
  expect_code("kernel", cuGraphNodeGetType(add_kernel(graph, {}, "store", out, 1), &type),
              CUDA_SUCCESS);
  expect("is a kernel", type, CU_GRAPH_NODE_TYPE_KERNEL);
  expect_code("fill", cuGraphNodeGetType(add_fill(graph, {}, out, 1), &type), CUDA_SUCCESS);
  expect("is a fill", type, CU_GRAPH_NODE_TYPE_MEMSET);
  expect_code("copy", cuGraphNodeGetType(add_copy(graph, {}, out.at(4), out), &type), CUDA_SUCCESS);
  expect("is a copy", type, CU_GRAPH_NODE_TYPE_MEMCPY);
}

CONFORM(cuGraphNodeGetType, wrong_arguments) {
  CUgraphNodeType type;
  expect_code("no node", cuGraphNodeGetType(nullptr, &type), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphNodeGetType(add_empty(new_graph()), nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
