#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
[[maybe_unused]] CUstreamBatchMemOpParams write_op(CUdeviceptr address, uint32_t value) {
  CUstreamBatchMemOpParams op;
  std::memset(&op, 0, sizeof op);
  op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = address;
  op.writeValue.value = value;
  return op;
}
[[maybe_unused]] CUDA_BATCH_MEM_OP_NODE_PARAMS batch(CUstreamBatchMemOpParams* ops,
                                                     unsigned count) {
  return {context_now(), count, ops, 0};
}
}  // namespace

CONFORM(cuGraphExecBatchMemOpNodeSetParams, changes_the_executable_graph) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUstreamBatchMemOpParams op = write_op(out, 5);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 1);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = instantiate(graph);
  op = write_op(out.at(4), 8);
  expect_code("sets", cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  run(exec);
  expect("only the new one", read<uint64_t>(out), uint64_t{8} << 32);
}

CONFORM(cuGraphExecBatchMemOpNodeSetParams, wrong_arguments) {
  Buffer out(8);
  CUstreamBatchMemOpParams ops[2] = {write_op(out, 5), write_op(out, 6)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(ops, 1);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = instantiate(graph);
  params = batch(ops, 2);
  expect_code("another number", cuGraphExecBatchMemOpNodeSetParams(exec, node, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphExecBatchMemOpNodeSetParams(nullptr, node, &params),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
