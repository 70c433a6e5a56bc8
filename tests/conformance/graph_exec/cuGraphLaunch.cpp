#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphLaunch, is_ordered_in_its_stream) {
  Buffer out(4);
  CUgraph graph = new_graph();
  add_kernel(graph, {add_kernel(graph, {}, "add", out, 1, 16)}, "add", out, 100);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  REQUIRE(cuMemsetD32Async(out, 1000, 1, stream));
  for (int i = 0; i < 5; ++i)
    expect_code("launch " + std::to_string(i), cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  Buffer copy(4);
  REQUIRE(cuMemcpyDtoDAsync(copy, out, 4, stream));
  REQUIRE(cuStreamSynchronize(stream));
  expect("sum", read<uint32_t>(copy), 1580u);
}

CONFORM(cuGraphLaunch, one_graph_at_a_time) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUgraph graph = new_graph();
  void* list[] = {&flag};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("spin"), list);
  CUgraphNode spin = nullptr;
  REQUIRE(cuGraphAddKernelNode(&spin, graph, nullptr, 0, &params));
  add_kernel(graph, {spin}, "add", flag + 4, 1);
  CUgraphExec exec = instantiate(graph);
  CUstream one = new_stream(), two = new_stream();
  expect_code("first", cuGraphLaunch(exec, one), CUDA_SUCCESS);
  expect_code("second", cuGraphLaunch(exec, two), CUDA_SUCCESS);
  expect_code("the second waits", cuStreamQuery(two), CUDA_ERROR_NOT_READY);
  __atomic_store_n(words, 1, __ATOMIC_SEQ_CST);
  REQUIRE(cuStreamSynchronize(two));
  expect("both ran", words[1], 2u);
}

CONFORM(cuGraphLaunch, different_graphs_run_at_once) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUgraph waits = new_graph(), opens = new_graph();
  void* list[] = {&flag};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("spin"), list);
  CUgraphNode spin = nullptr;
  REQUIRE(cuGraphAddKernelNode(&spin, waits, nullptr, 0, &params));
  add_kernel(opens, {}, "store", flag, 1);
  CUgraphExec first = instantiate(waits), second = instantiate(opens);
  CUstream one = new_stream(), two = new_stream();
  expect_code("waits", cuGraphLaunch(first, one), CUDA_SUCCESS);
  expect_code("opens", cuGraphLaunch(second, two), CUDA_SUCCESS);
  expect_code("both end", cuStreamSynchronize(one), CUDA_SUCCESS);
}

CONFORM(cuGraphLaunch, many_branches) {
  constexpr uint32_t branches = 32, depth = 4;
  Buffer out(4 * branches), sum(4);
  CUgraph graph = new_graph();
  CUgraphNode start = add_fill(graph, {}, sum, 0), ends[branches];
  for (uint32_t b = 0; b < branches; ++b) {
    CUgraphNode node = add_kernel(graph, {start}, "store", out.at(4 * b), b);
    for (uint32_t d = 0; d < depth; ++d) node = add_kernel(graph, {node}, "add", out.at(4 * b), 1);
    ends[b] = add_kernel(graph, {node}, "add", sum, 1);
  }
  CUgraphNode join = nullptr;
  REQUIRE(cuGraphAddEmptyNode(&join, graph, ends, branches));
  add_kernel(graph, {join}, "add", sum, 1000);
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 10; ++i)
    expect_code("launch " + std::to_string(i), cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  bool right = true;
  for (uint32_t b = 0; b < branches; ++b) right &= read<uint32_t>(out.at(4 * b)) == b + depth;
  expect_true("each branch", right);
  expect("all of them", read<uint32_t>(sum), 1000 + branches);
}

CONFORM(cuGraphLaunch, a_fault_is_the_context_s) {
  CUgraph graph = new_graph();
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("trap"), nullptr);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = instantiate(graph);
  expect_code("launches", cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  expect_code("fails", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("and so does what comes after", cuGraphLaunch(exec, nullptr),
              CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuGraphLaunch, wrong_arguments) {
  CUgraphExec exec = instantiate(new_graph());
  expect_code("no graph", cuGraphLaunch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no stream", cuGraphLaunch(exec, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
