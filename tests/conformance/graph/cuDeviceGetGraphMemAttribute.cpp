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

namespace {
/// Allocates so much, perhaps waits for a word, and frees.
CUgraphExec make_user(size_t bytes, CUdeviceptr word) {
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode node = add_alloc(graph, &address, bytes);
  if (word) {
    void* list[] = {&word};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("spin"), list);
    CUgraphNode spin = nullptr;
    REQUIRE(cuGraphAddKernelNode(&spin, graph, &node, 1, &params));
    node = spin;
  }
  CUgraphNode freed = nullptr;
  REQUIRE(cuGraphAddMemFreeNode(&freed, graph, &node, 1, address));
  return instantiate(graph);
}

uint64_t used_bytes() {
  uint64_t bytes = ~uint64_t{0};
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
  return bytes;
}
}  // namespace

// source: NVIDIA's sample graphMemoryFootprint, which prints these numbers.
CONFORM(cuDeviceGetGraphMemAttribute, graphs_share_physical_memory) {
  constexpr size_t size = 64 << 20;
  CUgraphExec first = make_user(size, 0), second = make_user(size, 0);
  CUstream stream = new_stream();
  expect("before launches", used_bytes(), uint64_t{0});
  REQUIRE(cuGraphLaunch(first, stream));
  expect("one launch", used_bytes(), uint64_t{size});
  REQUIRE(cuGraphLaunch(first, stream));
  expect("another of the same graph", used_bytes(), uint64_t{size});
  REQUIRE(cuGraphLaunch(second, stream));
  expect("another graph in the same stream", used_bytes(), uint64_t{size});
  REQUIRE(cuStreamSynchronize(stream));
  REQUIRE(cuGraphLaunch(first, new_stream()));
  expect("in another stream when the first are over", used_bytes(), uint64_t{size});
  REQUIRE(cuCtxSynchronize(nullptr));
  REQUIRE(cuDeviceGraphMemTrim(0));
  expect("trimmed", used_bytes(), uint64_t{0});
  HostWord word;
  CUgraphExec held[] = {make_user(size, word.at()), make_user(size, word.at())};
  CUstream streams[] = {new_stream(), new_stream()};
  REQUIRE(cuGraphLaunch(held[0], streams[0]));
  REQUIRE(cuGraphLaunch(held[1], streams[1]));
  expect("at the same time", used_bytes(), uint64_t{2 * size});
  word.set(1);
  REQUIRE(cuCtxSynchronize(nullptr));
  uint64_t high = 0;
  REQUIRE(cuDeviceGraphMemTrim(0));
  REQUIRE(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  expect("the highest", high, uint64_t{2 * size});
}

CONFORM(cuDeviceGetGraphMemAttribute, a_graph_s_lives_apart_count_once) {
  constexpr size_t size = 64 << 20;
  CUgraph graph = new_graph();
  CUdeviceptr address = 0;
  CUgraphNode node = add_alloc(graph, &address, size);
  for (int i = 0; i < 3; ++i) {
    CUgraphNode freed = nullptr;
    REQUIRE(cuGraphAddMemFreeNode(&freed, graph, &node, 1, address));
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(size);
    REQUIRE(cuGraphAddMemAllocNode(&node, graph, &freed, 1, &params));
    address = params.dptr;
  }
  run(graph);
  expect("four of them", used_bytes(), uint64_t{size});
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
