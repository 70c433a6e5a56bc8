#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
void count_up(void* data) { ++*static_cast<int*>(data); }
}  // namespace

CONFORM(cuGraphAddHostNode, is_called_once_a_launch_in_order) {
  static uint32_t* words = pinned_words();
  CUgraph graph = new_graph();
  CUgraphNode first = add_kernel(graph, {}, "store", reinterpret_cast<CUdeviceptr>(words), 5);
  CUDA_HOST_NODE_PARAMS params = {
      [](void* data) { words[1] = words[0] + *static_cast<uint32_t*>(data); }, words + 2};
  words[2] = 100;
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddHostNode(&node, graph, &first, 1, &params), CUDA_SUCCESS);
  add_kernel(graph, {node}, "store", reinterpret_cast<CUdeviceptr>(words), 6);
  run(graph);
  expect("saw the kernel before, not the one after", words[1], 105u);
  expect("the one after ran", words[0], 6u);
}

CONFORM(cuGraphAddHostNode, once_a_launch) {
  int calls = 0;
  CUgraph graph = new_graph();
  CUDA_HOST_NODE_PARAMS params = {count_up, &calls};
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddHostNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 5; ++i) run(exec);
  expect("calls", calls, 5);
}

CONFORM(cuGraphAddHostNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUDA_HOST_NODE_PARAMS params = {nullptr, nullptr};
  expect_code("no function", cuGraphAddHostNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuGraphAddHostNode, may_not_call_the_driver) {
  static volatile int code = -1;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUDA_HOST_NODE_PARAMS params{};
  params.fn = [](void*) {
    CUdeviceptr address = 0;
    code = static_cast<int>(cuMemAlloc(&address, 16));
  };
  REQUIRE(cuGraphCreate(&graph, 0));
  expect_code("adds", cuGraphAddHostNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0));
  REQUIRE(cuGraphLaunch(exec, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("not permitted", int{code}, 800);
}

}  // namespace limen::conform
