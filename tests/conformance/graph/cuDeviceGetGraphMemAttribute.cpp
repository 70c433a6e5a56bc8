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

CONFORM(cuDeviceGetGraphMemAttribute, counts_what_launches_allocate) {
  auto ask = [](CUgraphMem_attribute attribute) {
    uint64_t bytes = ~uint64_t{0};
    REQUIRE(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
  };
  uint64_t bytes = 1;
  expect_code("at first",
              cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes),
              CUDA_SUCCESS);
  expect("nothing", bytes, 0u);
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  add_alloc(graph, &address, 3 << 20);
  run(graph);
  expect_true("used", ask(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= (3 << 20));
  expect_true("reserved", ask(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= (3 << 20));
  expect_true("highest", ask(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) >= (3 << 20));
}

CONFORM(cuDeviceGetGraphMemAttribute, wrong_arguments) {
  uint64_t bytes;
  expect_code("no such device",
              cuDeviceGetGraphMemAttribute(99, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &bytes),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no such attribute",
              cuDeviceGetGraphMemAttribute(0, static_cast<CUgraphMem_attribute>(9), &bytes),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
