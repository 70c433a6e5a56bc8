#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphInstantiateWithParams, tells_what_happened) {
  Buffer out(4);
  CUgraph graph = new_graph();
  add_fill(graph, {}, out, 5);
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  params.hUploadStream = new_stream();
  params.hErrNode_out = foreign_handle<CUgraphNode>();
  params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  expect_code("instantiates", cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_SUCCESS);
  expect("result", params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  expect("no node", params.hErrNode_out, nullptr);
  run(exec);
  expect("value", read<uint32_t>(out), 5u);
}

CONFORM(cuGraphInstantiateWithParams, what_is_wrong) {
  CUgraph graph = new_graph(), host = new_graph();
  CUgraphNode one = add_empty(graph), two = add_empty(graph, {one}), node = nullptr;
  REQUIRE(cuGraphAddDependencies(graph, &two, &one, nullptr, 1));
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  expect_code("a cycle", cuGraphInstantiateWithParams(&exec, graph, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect("structure", params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  expect_true("a node of it", params.hErrNode_out == one || params.hErrNode_out == two);
  CUDA_HOST_NODE_PARAMS function = {[](void*) {}, nullptr};
  REQUIRE(cuGraphAddHostNode(&node, host, nullptr, 0, &function));
  params = {};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  expect_code("a host node for the device", cuGraphInstantiateWithParams(&exec, host, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect("operation", params.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
  expect_true("the node", params.hErrNode_out == node);
  expect_code("no parameters", cuGraphInstantiateWithParams(&exec, host, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
