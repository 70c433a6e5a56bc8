#include "conformance/gate.h"
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

// source: NVIDIA's sample graphMemoryFootprint.
CONFORM(cuDeviceGraphMemTrim, graphs_that_stay_give_back_as_well) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode node = add_alloc(graph, &address, 64 << 20);
  add_fill(graph, {node}, address, 7);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  auto used = [] {
    uint64_t bytes = 0;
    REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
  };
  REQUIRE(cuMemFree(address));
  expect("a free alone gives nothing back", used(), uint64_t{64 << 20});
  expect_code("trims", cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  expect("gone", used(), uint64_t{0});
  run(exec);
  expect("there again", used(), uint64_t{64 << 20});
  expect("and works", read<uint32_t>(address), 7u);
}

// source: cuda.core's test_graph_mem_set_attributes.
CONFORM(cuDeviceGraphMemTrim, what_the_program_freed_stays_used_without_its_graph) {
  CUdeviceptr address = 0;
  auto ask = [](CUgraphMem_attribute attribute) {
    uint64_t bytes = 0;
    REQUIRE(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
  };
  auto launch_and_end = [&] {
    CUgraph graph = new_graph();
    add_alloc(graph, &address, 64 << 20);
    CUgraphExec exec = instantiate(graph);
    run(exec);
    REQUIRE(cuGraphExecDestroy(exec));
    REQUIRE(cuGraphDestroy(graph));
  };
  launch_and_end();
  expect("allocated", ask(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), uint64_t{64 << 20});
  REQUIRE(cuMemFree(address));
  expect("freed", ask(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), uint64_t{64 << 20});
  expect("reserved", ask(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), uint64_t{64 << 20});
  launch_and_end();
  expect("another graph takes it", ask(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), uint64_t{64 << 20});
  REQUIRE(cuMemFree(address));
  expect_code("trims", cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  expect("gone", ask(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), uint64_t{0});
  expect("nothing reserved", ask(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), uint64_t{0});
}

// A free in a stream comes behind the work before it, which still needs the pages.
CONFORM(cuDeviceGraphMemTrim, waits_for_frees_in_streams) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode node = add_alloc(graph, &address, 4 << 20);
  add_fill(graph, {node}, address, 7);
  run(graph);
  Buffer out(4);
  CUstream stream = new_stream();
  Gate gate(stream);
  REQUIRE(cuMemcpyDtoDAsync(out, address, 4, stream));
  REQUIRE(cuMemFreeAsync(address, stream));
  expect_code("trims", cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  gate.open();
  REQUIRE(cuStreamSynchronize(stream));
  expect("still there", read<uint32_t>(out), 7u);
}

CONFORM(cuDeviceGraphMemTrim, no_such_device) {
  expect_code("99", cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
