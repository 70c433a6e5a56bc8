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

CONFORM(cuGraphAddBatchMemOpNode, writes_in_order) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUstreamBatchMemOpParams ops[2] = {write_op(out, 5), write_op(out.at(4), 6)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(ops, 2);
  CUgraph graph = new_graph();
  CUgraphNode before = add_fill(graph, {}, out, 1), node = nullptr;
  expect_code("adds", cuGraphAddBatchMemOpNode(&node, graph, &before, 1, &params), CUDA_SUCCESS);
  add_kernel(graph, {node}, "add", out, 10);
  std::memset(ops, 0, sizeof ops);  // the node has its own copy
  run(graph);
  expect("first", read<uint32_t>(out), 15u);
  expect("second", read<uint32_t>(out.at(4)), 6u);
}

CONFORM(cuGraphAddBatchMemOpNode, waits_for_the_host) {
  uint32_t* words = pinned_words();
  CUdeviceptr address = 0;
  REQUIRE(cuMemHostGetDevicePointer(&address, words, 0));
  Buffer out(4);
  write<uint32_t>(out, 0);
  CUstreamBatchMemOpParams op;
  std::memset(&op, 0, sizeof op);
  op.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.address = address;
  op.waitValue.value = 3;
  op.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 1);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  add_kernel(graph, {node}, "add", out, 7);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("waits", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  __atomic_store_n(words, 4, __ATOMIC_SEQ_CST);
  REQUIRE(cuStreamSynchronize(stream));
  expect("goes on", read<uint32_t>(out), 7u);
}

CONFORM(cuGraphAddBatchMemOpNode, wrong_arguments) {
  Buffer out(8);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUstreamBatchMemOpParams op = write_op(out, 5);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 0);
  expect_code("none", cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  op.operation = static_cast<CUstreamBatchMemOpType>(77);
  params = batch(&op, 1);
  expect_code("no such operation", cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
