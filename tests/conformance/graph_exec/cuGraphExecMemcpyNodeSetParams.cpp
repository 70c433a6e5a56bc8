#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecMemcpyNodeSetParams, other_addresses) {
  Buffer from(8), to(8);
  write<uint64_t>(from, 0x0000000200000001);
  write<uint64_t>(to, 0);
  CUgraph graph = new_graph();
  CUgraphNode node = add_copy(graph, {}, to, from);
  CUgraphExec exec = instantiate(graph);
  CUDA_MEMCPY3D copy = row_copy(to.at(4), from, 4);
  expect_code("sets", cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context_now()),
              CUDA_SUCCESS);
  run(exec);
  expect("there only", read<uint64_t>(to), uint64_t{1} << 32);
}

CONFORM(cuGraphExecMemcpyNodeSetParams, wrong_arguments) {
  Buffer from(64), to(64);
  CUgraph graph = new_graph();
  CUgraphNode node = add_copy(graph, {}, to, from);
  CUgraphExec exec = instantiate(graph);
  CUDA_MEMCPY3D copy = row_copy(to, from, 4);
  copy.Height = 2, copy.srcPitch = copy.dstPitch = 16;
  expect_code("two rows", cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context_now()),
              CUDA_ERROR_INVALID_VALUE);
  copy = row_copy(to, from, 0);
  expect_code("no bytes", cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context_now()),
              CUDA_ERROR_INVALID_VALUE);
  uint32_t host = 0;
  copy = row_copy(to, 0, 4);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = &host;
  expect_code("from the host instead",
              cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context_now()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
