#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphKernelNodeSetParams, changes_the_graph_and_no_executable_one) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "store", out, 1);
  CUgraphExec before = instantiate(graph);
  CUdeviceptr address = out.at(4);
  uint32_t value = 2;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("add"), list, 1, 3);
  expect_code("sets", cuGraphKernelNodeSetParams(node, &params), CUDA_SUCCESS);
  run(before);
  expect("the old one stores 1", read<uint32_t>(out), 1u);
  expect("and nothing else", read<uint32_t>(out.at(4)), 0u);
  run(graph);
  expect("the new one adds 2 three times", read<uint32_t>(out.at(4)), 6u);
}

CONFORM(cuGraphKernelNodeSetParams, wrong_arguments) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "store", out, 1);
  CUdeviceptr address = out;
  uint32_t value = 2;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("store"), list);
  expect_code("no parameters", cuGraphKernelNodeSetParams(node, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("another type", cuGraphKernelNodeSetParams(add_empty(graph), &params),
              CUDA_ERROR_INVALID_VALUE);
  params.gridDimY = 0;
  expect_code("no blocks", cuGraphKernelNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
  run(graph);
  expect("as before", read<uint32_t>(out), 1u);
}

}  // namespace limen::conform
