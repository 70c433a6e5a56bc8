#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphUpload, runs_nothing) {
  Buffer out(4);
  write<uint32_t>(out, 1);
  CUgraph graph = new_graph();
  add_fill(graph, {}, out, 5);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  expect_code("uploads", cuGraphUpload(exec, stream), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("as before", read<uint32_t>(out), 1u);
  run(exec);
  expect("launched", read<uint32_t>(out), 5u);
}

CONFORM(cuGraphUpload, makes_its_memory_resident) {
  CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  params.bytesize = 3 << 20;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  expect_code("uploads", cuGraphUpload(exec, stream), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  uint64_t bytes = 0;
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
  expect_true("reserved", bytes >= (3 << 20));
}

CONFORM(cuGraphUpload, wrong_arguments) {
  expect_code("no graph", cuGraphUpload(nullptr, new_stream()), CUDA_ERROR_INVALID_VALUE);
  expect_code("no stream", cuGraphUpload(instantiate(new_graph()), foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
