#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddMemsetNode, fills_at_each_launch) {
  Buffer out(32);
  CUgraph graph = new_graph();
  CUDA_MEMSET_NODE_PARAMS params = fill_params(out, 0xabcd1234, 8);
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context_now()),
              CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 2; ++i) {
    write<uint64_t>(out.at(24), 0);
    run(exec);
    expect("last, " + std::to_string(i), read<uint32_t>(out.at(28)), 0xabcd1234u);
  }
}

CONFORM(cuGraphAddMemsetNode, element_sizes_and_rows) {
  Buffer out(64);
  REQUIRE(cuMemsetD8(out, 0, 64));
  CUgraph graph = new_graph();
  CUDA_MEMSET_NODE_PARAMS bytes = {out.at(), 16, 0x11, 1, 3, 2};
  CUDA_MEMSET_NODE_PARAMS halves = {out.at(32), 0, 0x2233, 2, 3, 1};
  CUgraphNode node = nullptr;
  expect_code("bytes", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &bytes, context_now()),
              CUDA_SUCCESS);
  expect_code("halves", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &halves, context_now()),
              CUDA_SUCCESS);
  run(graph);
  expect("row 0", read<uint32_t>(out), 0x00111111u);
  expect("row 1", read<uint32_t>(out.at(16)), 0x00111111u);
  expect("three halves", read<uint64_t>(out.at(32)), 0x0000223322332233u);
}

CONFORM(cuGraphAddMemsetNode, wrong_arguments) {
  Buffer out(32);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  auto add = [&](CUDA_MEMSET_NODE_PARAMS params) {
    return cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context_now());
  };
  expect_code("element of 3 bytes", add({out.at(), 0, 1, 3, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  expect_code("not aligned", add({out.at(1), 0, 1, 4, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  expect_code("null", add({0, 0, 1, 4, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters",
              cuGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr, context_now()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
