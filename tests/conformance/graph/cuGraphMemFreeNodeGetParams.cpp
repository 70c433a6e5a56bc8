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

CONFORM(cuGraphMemFreeNodeGetParams, gives_the_address) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0, got = 0;
  CUgraphNode alloc = add_alloc(graph, &address), node = nullptr;
  REQUIRE(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, address));
  expect_code("asks", cuGraphMemFreeNodeGetParams(node, &got), CUDA_SUCCESS);
  expect_true("address", got == address);
}

CONFORM(cuGraphMemFreeNodeGetParams, wrong_arguments) {
  CUdeviceptr got = 0;
  expect_code("another type", cuGraphMemFreeNodeGetParams(add_empty(new_graph()), &got),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphMemFreeNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
