#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecChildGraphNodeSetParams, parameters_of_another_graph) {
  Buffer out(4);
  CUgraph child = new_graph(), other = new_graph(), graph = new_graph();
  add_kernel(child, {add_fill(child, {}, out, 1)}, "add", out, 1);
  add_kernel(other, {add_fill(other, {}, out, 50)}, "add", out, 5, 2);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  CUgraphExec exec = instantiate(graph);
  expect_code("sets", cuGraphExecChildGraphNodeSetParams(exec, node, other), CUDA_SUCCESS);
  run(exec);
  expect("value", read<uint32_t>(out), 60u);
}

CONFORM(cuGraphExecChildGraphNodeSetParams, wrong_arguments) {
  Buffer out(4);
  CUgraph child = new_graph(), other = new_graph(), graph = new_graph();
  add_fill(child, {}, out, 1);
  add_fill(other, {add_fill(other, {}, out, 50)}, out, 5);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  CUgraphExec exec = instantiate(graph);
  expect_code("another shape", cuGraphExecChildGraphNodeSetParams(exec, node, other),
              CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  expect_code("no child", cuGraphExecChildGraphNodeSetParams(exec, node, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  run(exec);
  expect("as before", read<uint32_t>(out), 1u);
}

}  // namespace limen::conform
