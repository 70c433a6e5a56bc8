#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecDestroy, while_it_runs) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUgraph graph = new_graph();
  void* list[] = {&flag};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("spin"), list);
  CUgraphNode spin = nullptr;
  REQUIRE(cuGraphAddKernelNode(&spin, graph, nullptr, 0, &params));
  add_kernel(graph, {spin}, "store", flag + 4, 9);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("destroys", cuGraphExecDestroy(exec), CUDA_SUCCESS);
  __atomic_store_n(words, 1, __ATOMIC_SEQ_CST);
  REQUIRE(cuStreamSynchronize(stream));
  expect("the launch went on", words[1], 9u);
}

CONFORM(cuGraphExecDestroy, wrong_arguments) {
  expect_code("no graph", cuGraphExecDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
