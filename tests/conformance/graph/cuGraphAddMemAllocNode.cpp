#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
[[maybe_unused]] CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  params.bytesize = bytes;
  return params;
}
[[maybe_unused]] CUgraphNode add_alloc(CUgraph graph, CUdeviceptr* address, size_t bytes = 4096) {
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(bytes);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  *address = params.dptr;
  return node;
}
}  // namespace

CONFORM(cuGraphAddMemAllocNode, memory_for_the_nodes_after_it) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(1 << 20);
  CUgraphNode node = nullptr, end = nullptr;
  expect_code("adds", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  expect_true("an address", params.dptr != 0);
  CUgraphNode fill = add_fill(graph, {node}, params.dptr, 3);
  CUgraphNode copy =
      add_copy(graph, {add_kernel(graph, {fill}, "add", params.dptr, 4)}, out, params.dptr);
  REQUIRE(cuGraphAddMemFreeNode(&end, graph, &copy, 1, params.dptr));
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 3; ++i) {
    write<uint32_t>(out, 0);
    run(exec);
    expect("value " + std::to_string(i), read<uint32_t>(out), 7u);
  }
}

CONFORM(cuGraphAddMemAllocNode, what_is_not_freed_stays) {
  CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(4096);
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  add_fill(graph, {node}, params.dptr, 12);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  expect("used after the launch", read<uint32_t>(params.dptr), 12u);
  expect_code("launched again", cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemFreeAsync(params.dptr, nullptr), CUDA_SUCCESS);
  expect_code("launched now", cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  expect_code("freed with cuMemFree", cuMemFree(params.dptr), CUDA_SUCCESS);
}

CONFORM(cuGraphAddMemAllocNode, restrictions) {
  CUgraph graph = new_graph(), clone = nullptr, parent = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(4096);
  CUgraphNode node = nullptr, child = nullptr;
  expect_code("adds", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  CUgraphNode after = add_empty(graph, {node});
  expect_code("clone", cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
  expect_code("child", cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph),
              CUDA_ERROR_NOT_SUPPORTED);
  expect_code("destroy a node", cuGraphDestroyNode(after),
              CUDA_ERROR_NOT_SUPPORTED);  // to measure on H200
  expect_code("remove an edge", cuGraphRemoveDependencies(graph, &node, &after, nullptr, 1),
              CUDA_ERROR_NOT_SUPPORTED);  // to measure on H200
  CUgraphExec one = instantiate(graph), two = nullptr;
  expect_code("two instances", cuGraphInstantiateWithFlags(&two, graph, 0),
              CUDA_ERROR_NOT_SUPPORTED);
  REQUIRE(cuGraphExecDestroy(one));
  expect_code("one after the other", cuGraphInstantiateWithFlags(&two, graph, 0), CUDA_SUCCESS);
}

CONFORM(cuGraphAddMemAllocNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(0);
  expect_code("no bytes", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  params = alloc_params(64);
  params.poolProps.location.id = 99;
  expect_code("no such device", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no parameters", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
