// What the cases on graphs share: building small graphs and running them.
// Thread rule: one thread a case.
#pragma once
#include <initializer_list>
#include <vector>

#include "conformance/conform.h"

namespace limen::conform {

using Nodes = std::initializer_list<CUgraphNode>;

inline CUgraph new_graph() {
  CUgraph graph = nullptr;
  REQUIRE(cuGraphCreate(&graph, 0));
  return graph;
}

inline CUcontext context_now() {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  return context;
}

inline CUgraphNodeParams node_params(CUgraphNodeType type) {
  CUgraphNodeParams params;
  std::memset(&params, 0, sizeof params);
  params.type = type;
  return params;
}

inline CUDA_KERNEL_NODE_PARAMS kernel_params(CUfunction kernel, void** list, unsigned blocks = 1,
                                             unsigned threads = 1) {
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = kernel;
  params.gridDimX = blocks, params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = threads, params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = list;
  return params;
}

inline CUgraphNode add_empty(CUgraph graph, Nodes after = {}) {
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEmptyNode(&node, graph, after.begin(), after.size()));
  return node;
}

/// `store` or `add` of the common kernels, or any kernel with the same parameters.
inline CUgraphNode add_kernel(CUgraph graph, Nodes after, const char* name, CUdeviceptr address,
                              unsigned value, unsigned threads = 1) {
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel(name), list, 1, threads);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddKernelNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}

inline CUDA_MEMSET_NODE_PARAMS fill_params(CUdeviceptr address, unsigned value, size_t count = 1) {
  return {address, 0, value, 4, count, 1};
}

inline CUgraphNode add_fill(CUgraph graph, Nodes after, CUdeviceptr address, unsigned value) {
  CUDA_MEMSET_NODE_PARAMS params = fill_params(address, value);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddMemsetNode(&node, graph, after.begin(), after.size(), &params, context_now()));
  return node;
}

inline CUDA_MEMCPY3D row_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to, copy.srcDevice = from;
  copy.WidthInBytes = bytes, copy.Height = copy.Depth = 1;
  return copy;
}

inline CUgraphNode add_copy(CUgraph graph, Nodes after, CUdeviceptr to, CUdeviceptr from,
                            size_t bytes = 4) {
  CUDA_MEMCPY3D copy = row_copy(to, from, bytes);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddMemcpyNode(&node, graph, after.begin(), after.size(), &copy, context_now()));
  return node;
}

inline CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec exec = nullptr;
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0));
  return exec;
}

inline void run(CUgraphExec exec) {
  REQUIRE(cuGraphLaunch(exec, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
}

inline void run(CUgraph graph) { run(instantiate(graph)); }

inline size_t count_nodes(CUgraph graph) {
  size_t count = ~size_t{0};
  REQUIRE(cuGraphGetNodes(graph, nullptr, &count));
  return count;
}

inline size_t count_edges(CUgraph graph) {
  size_t count = ~size_t{0};
  REQUIRE(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

inline CUstream new_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

inline CUevent new_event() {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  return event;
}

inline CUgraphNode first_node(CUgraph graph) {
  CUgraphNode node = nullptr;
  size_t count = 1;
  REQUIRE(cuGraphGetNodes(graph, &node, &count));
  return node;
}

/// Memory of the host, filled with 0, that kernels and the host both see.
inline uint32_t* pinned_words(size_t count = 16) {
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, count * 4, 0));
  std::memset(memory, 0, count * 4);
  return static_cast<uint32_t*>(memory);
}

}  // namespace limen::conform
