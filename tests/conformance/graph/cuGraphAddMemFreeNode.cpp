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

CONFORM(cuGraphAddMemFreeNode, a_graph_frees_what_another_allocated) {
  CUgraph first = new_graph(), second = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode alloc = add_alloc(first, &address), node = nullptr;
  add_fill(first, {alloc}, address, 1);
  expect_code("adds", cuGraphAddMemFreeNode(&node, second, nullptr, 0, address), CUDA_SUCCESS);
  CUgraphExec allocates = instantiate(first), frees = instantiate(second);
  for (int i = 0; i < 3; ++i) {
    expect_code("allocates " + std::to_string(i), cuGraphLaunch(allocates, nullptr), CUDA_SUCCESS);
    expect_code("frees " + std::to_string(i), cuGraphLaunch(frees, nullptr), CUDA_SUCCESS);
  }
  REQUIRE(cuCtxSynchronize(nullptr));
}

CONFORM(cuGraphAddMemFreeNode, what_the_graph_frees_nobody_else_may) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode alloc = add_alloc(graph, &address), node = nullptr;
  expect_code("adds", cuGraphAddMemFreeNode(&node, graph, &alloc, 1, address), CUDA_SUCCESS);
  run(graph);
  expect_code("cuMemFree", cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  expect_code("cuMemFreeAsync", cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuGraphAddMemFreeNode, wrong_arguments) {
  Buffer out(64);
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode alloc = add_alloc(graph, &address), node = nullptr;
  expect_code("null", cuGraphAddMemFreeNode(&node, graph, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph's memory", cuGraphAddMemFreeNode(&node, graph, nullptr, 0, out),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, address));
  expect_code("twice", cuGraphAddMemFreeNode(&node, graph, &alloc, 1, address),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
