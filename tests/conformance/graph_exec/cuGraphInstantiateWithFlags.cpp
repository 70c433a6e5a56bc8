#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphInstantiateWithFlags, frees_by_itself) {
  CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  params.bytesize = 64;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  add_fill(graph, {node}, params.dptr, 6);
  CUgraphExec exec = nullptr;
  expect_code(
      "instantiates",
      cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH),
      CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i)
    expect_code("launch " + std::to_string(i), cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("value", read<uint32_t>(params.dptr), 6u);
}

CONFORM(cuGraphInstantiateWithFlags, priorities_of_nodes) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "store", out, 3);
  CUkernelNodeAttrValue value;
  std::memset(&value, 0, sizeof value);
  value.priority = -3;
  REQUIRE(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CUgraphExec exec = nullptr;
  expect_code(
      "instantiates",
      cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY),
      CUDA_SUCCESS);
  run(exec);
  expect("value", read<uint32_t>(out), 3u);
}

CONFORM(cuGraphInstantiateWithFlags, for_launches_by_kernels) {
  Buffer out(4);
  CUgraph graph = new_graph(), host = new_graph(), empty = new_graph();
  add_kernel(graph, {}, "store", out, 3);
  CUgraphExec exec = nullptr;
  expect_code("a kernel",
              cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
              CUDA_SUCCESS);
  run(exec);
  expect("the host launches it, too", read<uint32_t>(out), 3u);
  CUDA_HOST_NODE_PARAMS params = {[](void*) {}, nullptr};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddHostNode(&node, host, nullptr, 0, &params));
  expect_code("a host node",
              cuGraphInstantiateWithFlags(&exec, host, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing",
              cuGraphInstantiateWithFlags(&exec, empty, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuGraphInstantiateWithFlags, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphExec exec = nullptr;
  expect_code("flags", cuGraphInstantiateWithFlags(&exec, graph, 1024), CUDA_ERROR_INVALID_VALUE);
  expect_code("an upload without a stream",
              cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("two that exclude each other", cuGraphInstantiateWithFlags(&exec, graph, 5),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphInstantiateWithFlags(nullptr, graph, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
