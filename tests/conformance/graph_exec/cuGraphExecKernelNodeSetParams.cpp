#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecKernelNodeSetParams, changes_the_next_launch_only_here) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {add_fill(graph, {}, out, 0)}, "add", out, 1);
  CUgraphExec exec = instantiate(graph);
  CUdeviceptr address = out;
  uint32_t value = 10;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("add"), list, 2, 32);
  expect_code("sets", cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  run(exec);
  expect("with more threads", read<uint32_t>(out), 640u);
  run(graph);
  expect("the graph is as before", read<uint32_t>(out), 1u);
}

CONFORM(cuGraphExecKernelNodeSetParams, another_kernel) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {add_fill(graph, {}, out, 7)}, "add", out, 1);
  CUgraphExec exec = instantiate(graph);
  CUdeviceptr address = out;
  uint32_t value = 10;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("store"), list);
  expect_code("sets", cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  run(exec);
  expect("stored", read<uint32_t>(out), 10u);
}

CONFORM(cuGraphExecKernelNodeSetParams, launches_under_way_keep_theirs) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "add", flag + 4, 1);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  CUdeviceptr address = flag + 4;
  uint32_t value = 10;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("add"), list);
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, flag));
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("sets", cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  REQUIRE(cuGraphLaunch(exec, stream));
  __atomic_store_n(words, 1, __ATOMIC_SEQ_CST);
  REQUIRE(cuStreamSynchronize(stream));
  expect("one of each", words[1], 11u);
}

CONFORM(cuGraphExecKernelNodeSetParams, wrong_arguments) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "add", out, 1);
  CUgraphExec exec = instantiate(graph);
  CUdeviceptr address = out;
  uint32_t value = 10;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("add"), list, 0);
  expect_code("no blocks", cuGraphExecKernelNodeSetParams(exec, node, &params),
              CUDA_ERROR_INVALID_VALUE);
  params.gridDimX = 1;
  expect_code(
      "another graph's node",
      cuGraphExecKernelNodeSetParams(exec, add_kernel(new_graph(), {}, "add", out, 1), &params),
      CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphExecKernelNodeSetParams(exec, node, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
