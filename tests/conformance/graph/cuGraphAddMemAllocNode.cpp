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

// source: CUDA C++ Programming Guide 13.0, "Address Reuse within a Graph"; NVIDIA's sample
// graphMemoryNodes asks the same.
CONFORM(cuGraphAddMemAllocNode, lifetimes_apart_share_an_address) {
  Buffer out(8);
  CUgraph graph = new_graph();
  auto add = [graph](Nodes after, CUdeviceptr* address, size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(bytes);
    CUgraphNode node = nullptr;
    REQUIRE(cuGraphAddMemAllocNode(&node, graph, after.begin(), after.size(), &params));
    *address = params.dptr;
    return node;
  };
  auto release = [graph](CUgraphNode after, CUdeviceptr address) {
    CUgraphNode node = nullptr;
    REQUIRE(cuGraphAddMemFreeNode(&node, graph, &after, 1, address));
    return node;
  };
  CUdeviceptr a = 0, b = 0, c = 0, d = 0, e = 0;
  CUgraphNode first = add({}, &a, 8 << 20);
  CUgraphNode fill = add_fill(graph, {first}, a, 11);
  CUgraphNode copy = add_copy(graph, {fill}, out, a);
  CUgraphNode beside = add({fill}, &b, 8 << 20);
  expect_true("while it lives: another", a != b);
  CUgraphNode freed = release(copy, a);
  add({copy}, &c, 8 << 20);
  expect_true("not ordered behind the free: another", c != a && c != b);
  CUgraphNode second = add({add_empty(graph, {freed})}, &d, 8 << 20);
  expect_true("behind the free: the same", d == a);
  add({freed}, &e, 8 << 20);
  expect_true("taken by one already: another", e != a);
  CUgraphNode kernel = add_kernel(graph, {add_fill(graph, {second}, d, 20)}, "add", d, 2);
  CUgraphNode end = release(add_copy(graph, {kernel}, out.at(4), d), d);
  CUdeviceptr f = 0;
  add({end}, &f, 4 << 20);
  expect_true("freed twice: again the same", f == a);
  CUgraphNode none = nullptr;
  REQUIRE(cuGraphAddMemFreeNode(&none, graph, &beside, 1, b));
  expect_code("freed before", cuGraphAddMemFreeNode(&none, graph, &beside, 1, b),
              CUDA_ERROR_INVALID_VALUE);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  expect("the first life's value", read<uint32_t>(out), 11u);
  expect("the second life's value", read<uint32_t>(out.at(4)), 22u);
  REQUIRE(cuMemFree(f));  // of the last life, which the graph does not free
  expect_code("freed once only", cuMemFree(f), CUDA_ERROR_INVALID_VALUE);
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
  expect_code("destroy a node", cuGraphDestroyNode(after), CUDA_ERROR_NOT_SUPPORTED);
  expect_code("remove an edge", cuGraphRemoveDependencies(graph, &node, &after, nullptr, 1),
              CUDA_ERROR_NOT_SUPPORTED);
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
              CUDA_ERROR_INVALID_VALUE);
  params = alloc_params(64);
  params.poolProps.location.id = 99;
  expect_code("no such device", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
