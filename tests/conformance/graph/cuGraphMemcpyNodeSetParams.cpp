#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphMemcpyNodeSetParams, changes_the_next_instance) {
  Buffer from(8), to(8);
  write<uint64_t>(from, 0x0000000200000001);
  write<uint64_t>(to, 0);
  CUgraph graph = new_graph();
  CUgraphNode node = add_copy(graph, {}, to, from);
  CUDA_MEMCPY3D copy = row_copy(to.at(4), from.at(4), 4);
  expect_code("sets", cuGraphMemcpyNodeSetParams(node, &copy), CUDA_SUCCESS);
  run(graph);
  expect("only the new one", read<uint64_t>(to), 0x0000000200000000u);
}

CONFORM(cuGraphMemcpyNodeSetParams, wrong_arguments) {
  Buffer from(8), to(8);
  CUgraph graph = new_graph();
  CUDA_MEMCPY3D copy = row_copy(to, from, 4);
  expect_code("another type", cuGraphMemcpyNodeSetParams(add_empty(graph), &copy),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphMemcpyNodeSetParams(add_copy(graph, {}, to, from), nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
