#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphConditionalHandleCreate, a_handle_each_time) {
  CUgraph graph = new_graph();
  CUgraphConditionalHandle one = 0, two = 0;
  expect_code("creates", cuGraphConditionalHandleCreate(&one, graph, context_now(), 0, 0),
              CUDA_SUCCESS);
  expect_code(
      "another",
      cuGraphConditionalHandleCreate(&two, graph, context_now(), 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
      CUDA_SUCCESS);
  expect_true("apart", one != two);
  CUgraphExec exec = nullptr;
  expect_code("unused ones", cuGraphInstantiateWithFlags(&exec, graph, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuGraphConditionalHandleCreate, the_default_value_is_assigned) {
  Buffer out(4);
  write<uint32_t>(out, 0);
  CUgraph graph = new_graph();
  CUgraphConditionalHandle handle = 0;
  expect_code("creates",
              cuGraphConditionalHandleCreate(&handle, graph, context_now(), 1,
                                             CU_GRAPH_COND_ASSIGN_DEFAULT),
              CUDA_SUCCESS);
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_CONDITIONAL);
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = context_now();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  add_kernel(params.conditional.phGraph_out[0], {}, "add", out, 1);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  run(exec);
  expect("ran at each launch", read<uint32_t>(out), 2u);
}

CONFORM(cuGraphConditionalHandleCreate, wrong_arguments) {
  CUgraphConditionalHandle handle = 0;
  expect_code("flags", cuGraphConditionalHandleCreate(&handle, new_graph(), context_now(), 0, 2),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphConditionalHandleCreate(&handle, nullptr, context_now(), 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result",
              cuGraphConditionalHandleCreate(nullptr, new_graph(), context_now(), 0, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
