#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddChildGraphNode, runs_a_copy_of_the_child) {
  Buffer out(8);
  CUgraph child = new_graph();
  add_kernel(child, {add_fill(child, {}, out, 10)}, "add", out, 1, 5);
  CUgraph graph = new_graph();
  CUgraphNode before = add_fill(graph, {}, out.at(4), 1), node = nullptr;
  expect_code("adds", cuGraphAddChildGraphNode(&node, graph, &before, 1, child), CUDA_SUCCESS);
  add_copy(graph, {node}, out.at(4), out);
  REQUIRE(cuGraphDestroy(child));
  run(graph);
  expect("the child's end comes before the copy", read<uint32_t>(out.at(4)), 15u);
}

CONFORM(cuGraphAddChildGraphNode, children_of_children) {
  Buffer out(4);
  CUgraph inner = new_graph(), middle = new_graph(), outer = new_graph();
  add_kernel(inner, {}, "add", out, 1, 2);
  CUgraphNode node = nullptr, start = add_fill(outer, {}, out, 0);
  REQUIRE(cuGraphAddChildGraphNode(&node, middle, nullptr, 0, inner));
  REQUIRE(cuGraphAddChildGraphNode(&node, middle, &node, 1, inner));
  expect_code("adds", cuGraphAddChildGraphNode(&node, outer, &start, 1, middle), CUDA_SUCCESS);
  expect_code("an empty child", cuGraphAddChildGraphNode(&node, outer, &node, 1, new_graph()),
              CUDA_SUCCESS);
  add_kernel(outer, {node}, "add", out, 100);
  run(outer);
  expect("sum", read<uint32_t>(out), 104u);
}

CONFORM(cuGraphAddChildGraphNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("no child", cuGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphAddChildGraphNode(&node, nullptr, nullptr, 0, graph),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("itself", cuGraphAddChildGraphNode(&node, graph, nullptr, 0, graph),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
