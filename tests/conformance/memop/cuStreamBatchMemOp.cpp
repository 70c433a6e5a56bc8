#include "conformance/conform.h"

namespace limen::conform {
namespace {

CUstreamBatchMemOpParams write_op(CUdeviceptr address, uint32_t value) {
  CUstreamBatchMemOpParams op{};
  op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = address;
  op.writeValue.value = value;
  return op;
}

CUstreamBatchMemOpParams wait_op(CUdeviceptr address, uint32_t value) {
  CUstreamBatchMemOpParams op{};
  op.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.address = address;
  op.waitValue.value = value;
  op.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  return op;
}

CUstreamBatchMemOpParams barrier_op(unsigned flags) {
  CUstreamBatchMemOpParams op{};
  op.operation = CU_STREAM_MEM_OP_BARRIER;
  op.memoryBarrier.flags = flags;
  return op;
}

}  // namespace

CONFORM(cuStreamBatchMemOp, runs_in_the_order_of_the_array) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  std::memset(memory, 0, 64);
  auto* word = static_cast<volatile uint32_t*>(memory);
  auto at = reinterpret_cast<CUdeviceptr>(memory);
  CUstreamBatchMemOpParams wide{};
  wide.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  wide.writeValue.address = at + 16;
  wide.writeValue.value64 = 0x100000002u;
  CUstreamBatchMemOpParams ops[] = {
      write_op(at, 1),     barrier_op(CU_STREAM_MEMORY_BARRIER_TYPE_SYS),
      wait_op(at + 8, 5),  barrier_op(CU_STREAM_MEMORY_BARRIER_TYPE_GPU),
      write_op(at + 4, 2), wide};
  expect_code("batch", cuStreamBatchMemOp(stream, 6, ops, 0), CUDA_SUCCESS);
  while (word[0] != 1) {
  }
  expect_code("held by the wait", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  expect("later write", uint32_t{word[1]}, 0u);
  word[2] = 5;
  expect_code("goes on", cuStreamSynchronize(stream), CUDA_SUCCESS);
  expect("after the wait", uint32_t{word[1]}, 2u);
  expect("wide, low", uint32_t{word[4]}, 2u);
  expect("wide, high", uint32_t{word[5]}, 1u);
}

CONFORM(cuStreamBatchMemOp, most_operations) {
  Buffer words(1024);
  std::vector<CUstreamBatchMemOpParams> ops;
  for (unsigned i = 0; i < 256; ++i) ops.push_back(write_op(words.at(4 * i), i + 1));
  expect_code("255", cuStreamBatchMemOp(nullptr, 255, ops.data(), 0), CUDA_SUCCESS);
  expect("last", read<uint32_t>(words.at(4 * 254)), 255u);
  expect_code("256", cuStreamBatchMemOp(nullptr, 256, ops.data(), 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamBatchMemOp, wrong_arguments) {
  Buffer words(64);
  write<uint64_t>(words, 0);
  expect_code("nothing to do", cuStreamBatchMemOp(nullptr, 0, nullptr, 0), CUDA_SUCCESS);
  expect_code("no array", cuStreamBatchMemOp(nullptr, 1, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams ops[] = {write_op(words, 3), write_op(words.at(6), 3)};
  expect_code("flags", cuStreamBatchMemOp(nullptr, 1, ops, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("second is misaligned", cuStreamBatchMemOp(nullptr, 2, ops, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect("first did not run either", read<uint32_t>(words), 0u);
  ops[0].operation = static_cast<CUstreamBatchMemOpType>(9);
  expect_code("unknown operation", cuStreamBatchMemOp(nullptr, 1, ops, 0),
              CUDA_ERROR_INVALID_VALUE);
  ops[0] = barrier_op(7);
  expect_code("unknown barrier", cuStreamBatchMemOp(nullptr, 1, ops, 0), CUDA_ERROR_INVALID_VALUE);
  ops[0] = CUstreamBatchMemOpParams{};
  ops[0].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  expect_code("flush of remote writes", cuStreamBatchMemOp(nullptr, 1, ops, 0),
              CUDA_ERROR_NOT_SUPPORTED);
}

CONFORM_WITH(cuStreamBatchMemOp, needs_a_context, initialised) {
  expect_code("no context", cuStreamBatchMemOp(nullptr, 0, nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
