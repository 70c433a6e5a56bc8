#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphCreate, is_empty_at_first) {
  CUgraph graph = nullptr;
  expect_code("creates", cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  expect("nodes", count_nodes(graph), 0u);
  expect("edges", count_edges(graph), 0u);
  CUgraph other = nullptr;
  expect_code("another", cuGraphCreate(&other, 0), CUDA_SUCCESS);
  expect_true("of its own", graph != other);
}

CONFORM(cuGraphCreate, an_empty_graph_runs) {
  CUgraph graph = nullptr;
  expect_code("creates", cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  expect_code("instantiates", cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  expect_code("launches", cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  expect_code("ends", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuGraphCreate, wrong_arguments) {
  CUgraph graph = nullptr;
  expect_code("flags", cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuGraphCreate, needs_no_context, initialised) {
  CUgraph graph = nullptr;
  expect_code("creates", cuGraphCreate(&graph, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuGraphCreate, needs_cuInit, nothing) {
  CUgraph graph = nullptr;
  expect_code("not initialised", cuGraphCreate(&graph, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
