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

CONFORM(cuGraphBatchMemOpNodeGetParams, gives_what_was_set) {
  Buffer out(8);
  CUstreamBatchMemOpParams op = write_op(out, 5);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 1), got{};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddBatchMemOpNode(&node, new_graph(), nullptr, 0, &params));
  expect_code("asks", cuGraphBatchMemOpNodeGetParams(node, &got), CUDA_SUCCESS);
  expect("count", got.count, 1u);
  expect_true("address", got.count == 1 && got.paramArray[0].writeValue.address == out.at());
  expect_true("context", got.ctx == context_now());
}

CONFORM(cuGraphBatchMemOpNodeGetParams, wrong_arguments) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS got{};
  expect_code("another type", cuGraphBatchMemOpNodeGetParams(add_empty(new_graph()), &got),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphBatchMemOpNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
