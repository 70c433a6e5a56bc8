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

CONFORM(cuGraphBatchMemOpNodeSetParams, changes_the_next_instance) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUstreamBatchMemOpParams op = write_op(out, 5);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 1);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  op = write_op(out.at(4), 8);
  expect_code("sets", cuGraphBatchMemOpNodeSetParams(node, &params), CUDA_SUCCESS);
  run(graph);
  expect("only the new one", read<uint64_t>(out), uint64_t{8} << 32);
}

CONFORM(cuGraphBatchMemOpNodeSetParams, wrong_arguments) {
  Buffer out(8);
  CUstreamBatchMemOpParams op = write_op(out, 5);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 1);
  expect_code("another type", cuGraphBatchMemOpNodeSetParams(add_empty(new_graph()), &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphBatchMemOpNodeSetParams(add_empty(new_graph()), nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
