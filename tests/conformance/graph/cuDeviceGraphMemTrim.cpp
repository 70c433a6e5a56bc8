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

CONFORM(cuDeviceGraphMemTrim, gives_back_what_is_not_used) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  add_alloc(graph, &address, 3 << 20);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  uint64_t bytes = 0;
  expect_code("while it is used", cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
  expect_true("stays", bytes >= (3 << 20));
  REQUIRE(cuMemFree(address));
  REQUIRE(cuGraphExecDestroy(exec));
  expect_code("when it is not", cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
  expect("gone", bytes, 0u);
}

CONFORM(cuDeviceGraphMemTrim, no_such_device) {
  expect_code("99", cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
