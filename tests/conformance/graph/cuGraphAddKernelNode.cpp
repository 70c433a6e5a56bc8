#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddKernelNode, runs_with_the_arguments_of_the_call) {
  Buffer out(4);
  write<uint32_t>(out, 0);
  CUgraph graph = new_graph();
  CUdeviceptr address = out;
  uint32_t value = 7;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("store"), list);
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  value = 9;  // the node has its own copy
  expect("nothing ran", read<uint32_t>(out), 0u);
  run(graph);
  expect("value", read<uint32_t>(out), 7u);
}

CONFORM(cuGraphAddKernelNode, dependencies_order_a_chain) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode first = add_fill(graph, {}, out, 1);
  CUdeviceptr address = out;
  uint32_t value = 1;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("add"), list, 4, 32);
  CUgraphNode last = first;
  for (int i = 0; i < 20; ++i) {
    CUgraphNode node = nullptr;
    REQUIRE(cuGraphAddKernelNode(&node, graph, &last, 1, &params));
    last = node;
  }
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 3; ++i) {
    run(exec);
    expect("sum of launch " + std::to_string(i), read<uint32_t>(out), 1u + 20 * 128);
  }
}

CONFORM(cuGraphAddKernelNode, arguments_in_one_buffer) {
  Buffer out(4);
  CUgraph graph = new_graph();
  struct {
    CUdeviceptr address;
    uint32_t value;
  } packed = {out, 55};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("store"), nullptr);
  params.extra = extra;
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  run(graph);
  expect("value", read<uint32_t>(out), 55u);
}

CONFORM(cuGraphAddKernelNode, wrong_arguments) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUdeviceptr address = out;
  uint32_t value = 7;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("store"), list);
  CUgraphNode node = nullptr;
  expect_code("no result", cuGraphAddKernelNode(nullptr, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphAddKernelNode(&node, nullptr, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphAddKernelNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUgraphNode other = add_empty(new_graph());
  expect_code("a dependency in another graph",
              cuGraphAddKernelNode(&node, graph, &other, 1, &params), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode same = add_empty(graph);
  CUgraphNode twice[] = {same, same};
  expect_code("one twice", cuGraphAddKernelNode(&node, graph, twice, 2, &params),
              CUDA_ERROR_INVALID_VALUE);
  params.blockDimX = 0;
  expect_code("no threads", cuGraphAddKernelNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  params.blockDimX = 1;
  params.func = nullptr;
  expect_code("no kernel", cuGraphAddKernelNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_HANDLE);
  expect("nothing was added", count_nodes(graph), 1u);
}

}  // namespace limen::conform
