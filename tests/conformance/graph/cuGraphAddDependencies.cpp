#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddDependencies, order_what_was_apart) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode nodes[4];
  nodes[0] = add_kernel(graph, {}, "add", out, 5);
  nodes[1] = add_fill(graph, {}, out, 1);
  expect_code("adds", cuGraphAddDependencies(graph, &nodes[1], &nodes[0], nullptr, 1),
              CUDA_SUCCESS);
  expect("edges", count_edges(graph), 1u);
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 20; ++i) run(exec);
  expect("filled first, each time", read<uint32_t>(out), 6u);
}

CONFORM(cuGraphAddDependencies, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode one = add_empty(graph), two = add_empty(graph), other = add_empty(new_graph());
  expect_code("adds", cuGraphAddDependencies(graph, &one, &two, nullptr, 1), CUDA_SUCCESS);
  expect_code("again", cuGraphAddDependencies(graph, &one, &two, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("to itself", cuGraphAddDependencies(graph, &one, &one, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("of another graph", cuGraphAddDependencies(graph, &one, &other, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("none", cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 0), CUDA_SUCCESS);
  expect("edges", count_edges(graph), 1u);
}

CONFORM(cuGraphAddDependencies, edge_data_is_checked) {
  Buffer out(8);
  CUgraph graph = new_graph();
  CUgraphNode one = add_kernel(graph, {}, "store", out, 1),
              fill = add_fill(graph, {}, out.at(4), 1);
  CUgraphNode two = add_kernel(graph, {}, "add", out, 1);
  CUgraphEdgeData data{};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  expect_code("to what is no kernel", cuGraphAddDependencies(graph, &one, &fill, &data, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("from what is no kernel", cuGraphAddDependencies(graph, &fill, &one, &data, 1),
              CUDA_ERROR_INVALID_VALUE);
  CUgraphEdgeData wrong = data;
  wrong.to_port = 1;
  expect_code("a port that no node has", cuGraphAddDependencies(graph, &one, &two, &wrong, 1),
              CUDA_ERROR_INVALID_VALUE);
  wrong = data;
  wrong.reserved[0] = 1;
  expect_code("reserved bytes", cuGraphAddDependencies(graph, &one, &two, &wrong, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("between kernels", cuGraphAddDependencies(graph, &one, &two, &data, 1), CUDA_SUCCESS);
  run(graph);
  expect("value", read<uint32_t>(out), 2u);
}

}  // namespace limen::conform
