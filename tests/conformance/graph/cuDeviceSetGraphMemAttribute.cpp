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

CONFORM(cuDeviceSetGraphMemAttribute, resets_the_highest) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  add_alloc(graph, &address, 3 << 20);
  run(graph);
  REQUIRE(cuMemFree(address));
  REQUIRE(cuDeviceGraphMemTrim(0));
  uint64_t zero = 0, high = 1;
  expect_code("resets", cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero),
              CUDA_SUCCESS);
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  uint64_t used = 1;
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  expect("what is mapped still", high, used);
}

CONFORM(cuDeviceSetGraphMemAttribute, wrong_arguments) {
  uint64_t one = 1, zero = 0;
  expect_code("another value",
              cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("what is no high mark",
              cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
