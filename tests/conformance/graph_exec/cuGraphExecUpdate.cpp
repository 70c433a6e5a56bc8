#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
/// fill -> add, twice side by side.
CUgraph two_branches(Buffer& out, uint32_t value, CUgraphNode* last = nullptr) {
  CUgraph graph = new_graph();
  for (int i = 0; i < 2; ++i) {
    CUgraphNode node =
        add_kernel(graph, {add_fill(graph, {}, out.at(4 * i), value)}, "add", out.at(4 * i), value);
    if (last) *last = node;
  }
  return graph;
}
}  // namespace

CONFORM(cuGraphExecUpdate, all_parameters_at_once) {
  Buffer out(8);
  CUgraphExec exec = instantiate(two_branches(out, 1));
  CUgraphExecUpdateResultInfo info{CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  expect_code("updates", cuGraphExecUpdate(exec, two_branches(out, 10), &info), CUDA_SUCCESS);
  expect("result", info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(exec);
  expect("first", read<uint32_t>(out), 20u);
  expect("second", read<uint32_t>(out.at(4)), 20u);
}

CONFORM(cuGraphExecUpdate, another_kernel) {
  Buffer out(4);
  CUgraph one = new_graph(), two = new_graph();
  add_kernel(one, {add_fill(one, {}, out, 5)}, "add", out, 1);
  add_kernel(two, {add_fill(two, {}, out, 5)}, "store", out, 9);
  CUgraphExec exec = instantiate(one);
  CUgraphExecUpdateResultInfo info{};
  expect_code("updates", cuGraphExecUpdate(exec, two, &info), CUDA_SUCCESS);
  run(exec);
  expect("stored", read<uint32_t>(out), 9u);
}

CONFORM(cuGraphExecUpdate, what_cannot_be) {
  Buffer out(8);
  CUgraphExec exec = instantiate(two_branches(out, 1));
  CUgraphExecUpdateResultInfo info{};
  CUgraph graph = two_branches(out, 2);
  add_empty(graph);
  expect_code("a node more", cuGraphExecUpdate(exec, graph, &info),
              CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  expect("topology", info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  expect("no node", info.errorNode, nullptr);
  graph = new_graph();
  for (int i = 0; i < 2; ++i) add_empty(graph, {add_fill(graph, {}, out, 1)});
  expect_code("other types", cuGraphExecUpdate(exec, graph, &info),
              CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  expect("type", info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  expect_true("a node", info.errorNode != nullptr);
  graph = new_graph();
  CUgraphNode first = add_fill(graph, {}, out, 1), second = add_fill(graph, {}, out.at(4), 1);
  CUgraphNode kernel = add_kernel(graph, {first, second}, "add", out, 1);
  CUgraphNode lone = add_kernel(graph, {}, "add", out, 1);
  expect_code("other edges", cuGraphExecUpdate(exec, graph, &info),
              CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  expect("edges", info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  // Which of them differs is a matter of how one looks.
  expect_true("a node of it, or none", !info.errorNode || info.errorNode == kernel ||
                                           info.errorNode == lone || info.errorNode == first ||
                                           info.errorNode == second);
  run(exec);
  expect("as before", read<uint32_t>(out), 2u);
}

CONFORM(cuGraphExecUpdate, attributes_that_must_stay) {
  Buffer out(8);
  CUgraphExec exec = instantiate(two_branches(out, 1));
  CUgraphNode last = nullptr;
  CUgraph graph = two_branches(out, 1, &last);
  CUkernelNodeAttrValue value;
  std::memset(&value, 0, sizeof value);
  value.cooperative = 1;
  REQUIRE(cuGraphKernelNodeSetAttribute(last, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  CUgraphExecUpdateResultInfo info{};
  expect_code("cooperative", cuGraphExecUpdate(exec, graph, &info),
              CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  expect("attributes", info.result, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
  expect_true("the node", info.errorNode == last);
}

CONFORM(cuGraphExecUpdate, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphExec exec = instantiate(graph);
  CUgraphExecUpdateResultInfo info{};
  expect_code("no graph", cuGraphExecUpdate(exec, nullptr, &info), CUDA_ERROR_INVALID_VALUE);
  expect_code("no executable graph", cuGraphExecUpdate(nullptr, graph, &info),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphExecUpdate(exec, graph, nullptr), CUDA_SUCCESS);
}

}  // namespace limen::conform
