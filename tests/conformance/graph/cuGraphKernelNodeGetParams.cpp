#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphKernelNodeGetParams, gives_what_was_set) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUdeviceptr address = out;
  uint32_t value = 77;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("store"), list, 1, 64);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CUDA_KERNEL_NODE_PARAMS got{};
  expect_code("asks", cuGraphKernelNodeGetParams(node, &got), CUDA_SUCCESS);
  expect("grid", got.gridDimX, 1u);
  expect("block", got.blockDimX, 64u);
  expect("shared", got.sharedMemBytes, 0u);
  expect_true("kernel", got.func == params.func);
  expect_true("arguments", got.kernelParams != nullptr);
  if (got.kernelParams) {
    expect_true("first", *static_cast<CUdeviceptr*>(got.kernelParams[0]) == out.at());
    expect("second", *static_cast<uint32_t*>(got.kernelParams[1]), 77u);
  }
}

CONFORM(cuGraphKernelNodeGetParams, wrong_arguments) {
  CUgraph graph = new_graph();
  CUDA_KERNEL_NODE_PARAMS got{};
  expect_code("another type", cuGraphKernelNodeGetParams(add_empty(graph), &got),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphKernelNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
  Buffer out(4);
  expect_code("no result",
              cuGraphKernelNodeGetParams(add_kernel(graph, {}, "store", out, 1), nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
