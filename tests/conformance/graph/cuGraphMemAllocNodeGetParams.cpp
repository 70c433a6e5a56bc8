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

CONFORM(cuGraphMemAllocNodeGetParams, gives_what_was_set) {
  CUdeviceptr address = 0;
  CUgraphNode node = add_alloc(new_graph(), &address, 12345);
  CUDA_MEM_ALLOC_NODE_PARAMS got{};
  expect_code("asks", cuGraphMemAllocNodeGetParams(node, &got), CUDA_SUCCESS);
  expect_true("address", got.dptr == address);
  expect("bytes", got.bytesize, 12345u);
  expect("place", got.poolProps.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
}

CONFORM(cuGraphMemAllocNodeGetParams, wrong_arguments) {
  CUDA_MEM_ALLOC_NODE_PARAMS got{};
  expect_code("another type", cuGraphMemAllocNodeGetParams(add_empty(new_graph()), &got),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphMemAllocNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
