#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphInstantiate, may_be_launched) {
  Buffer out(4);
  CUgraph graph = new_graph();
  add_fill(graph, {}, out, 5);
  CUgraphExec exec = nullptr;
  CUgraphNode error = nullptr;
  char text[64] = "x";
  expect_code("instantiates", cuGraphInstantiate(&exec, graph, &error, text, sizeof text),
              CUDA_SUCCESS);
  run(exec);
  expect("value", read<uint32_t>(out), 5u);
}

CONFORM(cuGraphInstantiate, cycles_are_found) {
  CUgraph graph = new_graph();
  CUgraphNode one = add_empty(graph), two = add_empty(graph, {one});
  REQUIRE(cuGraphAddDependencies(graph, &two, &one, nullptr, 1));
  CUgraphExec exec = nullptr;
  CUgraphNode error = foreign_handle<CUgraphNode>();
  expect_code("refused", cuGraphInstantiate(&exec, graph, &error, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  // Only cuGraphInstantiateWithParams tells the node.
  expect_true("none of them", error != one && error != two);
  expect_code("no graph", cuGraphInstantiate(&exec, nullptr, nullptr, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
