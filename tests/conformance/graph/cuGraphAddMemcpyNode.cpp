#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddMemcpyNode, copies_at_each_launch) {
  Buffer from(64), to(64);
  CUgraph graph = new_graph();
  CUDA_MEMCPY3D copy = row_copy(to, from, 64);
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_now()),
              CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  for (uint32_t i = 1; i <= 3; ++i) {
    write<uint32_t>(from.at(60), i);
    run(exec);
    expect("last word, " + std::to_string(i), read<uint32_t>(to.at(60)), i);
  }
}

CONFORM(cuGraphAddMemcpyNode, from_and_to_the_host) {
  Buffer device(4);
  uint32_t source = 5, target = 0;
  CUgraph graph = new_graph();
  CUDA_MEMCPY3D in = row_copy(device, 0, 4), out = row_copy(0, device, 4);
  in.srcMemoryType = CU_MEMORYTYPE_HOST, in.srcHost = &source;
  out.dstMemoryType = CU_MEMORYTYPE_HOST, out.dstHost = &target;
  CUgraphNode first = nullptr, second = nullptr;
  expect_code("in", cuGraphAddMemcpyNode(&first, graph, nullptr, 0, &in, context_now()),
              CUDA_SUCCESS);
  expect_code("out", cuGraphAddMemcpyNode(&second, graph, &first, 1, &out, context_now()),
              CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  expect("host", target, 5u);
  source = 6;
  run(exec);
  expect("read when it runs", target, 6u);
}

CONFORM(cuGraphAddMemcpyNode, boxes) {
  Buffer from(64), to(64);
  for (uint32_t i = 0; i < 16; ++i) write<uint32_t>(from.at(4 * i), i);
  REQUIRE(cuMemsetD8(to, 0xff, 64));
  CUDA_MEMCPY3D copy = row_copy(to, from, 8);
  copy.srcPitch = copy.dstPitch = 16;
  copy.srcXInBytes = 4, copy.srcY = 1, copy.dstXInBytes = 8, copy.Height = 2;
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_now()),
              CUDA_SUCCESS);
  run(graph);
  expect("row 0", read<uint32_t>(to.at(8)), 5u);
  expect("row 1", read<uint32_t>(to.at(28)), 10u);
  expect("beside it", read<uint32_t>(to.at(4)), 0xffffffffu);
}

CONFORM(cuGraphAddMemcpyNode, large_copies) {
  constexpr size_t bytes = 8 << 20;
  Buffer from(bytes), to(bytes);
  CUgraph graph = new_graph();
  CUgraphNode fill = nullptr, copy = nullptr;
  CUDA_MEMSET_NODE_PARAMS set = fill_params(from, 0x12345678, bytes / 4);
  REQUIRE(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &set, context_now()));
  CUDA_MEMCPY3D row = row_copy(to, from, bytes);
  expect_code("adds", cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &row, context_now()),
              CUDA_SUCCESS);
  run(graph);
  expect("first", read<uint32_t>(to), 0x12345678u);
  expect("last", read<uint32_t>(to.at(bytes - 4)), 0x12345678u);
}

CONFORM(cuGraphAddMemcpyNode, wrong_arguments) {
  Buffer from(64), to(64);
  CUgraph graph = new_graph();
  CUDA_MEMCPY3D copy = row_copy(to, from, 64);
  CUgraphNode node = nullptr;
  expect_code("no parameters",
              cuGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr, context_now()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphAddMemcpyNode(&node, nullptr, nullptr, 0, &copy, context_now()),
              CUDA_ERROR_INVALID_VALUE);
  copy.WidthInBytes = size_t{1} << 30;
  expect_code("beyond the memory",
              cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_now()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
