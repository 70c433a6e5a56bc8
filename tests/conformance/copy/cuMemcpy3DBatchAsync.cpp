#include "conformance/conform.h"
#include "conformance/memory/array_case.h"

namespace limen::conform {

static CUstream own_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

static CUmemcpy3DOperand pointer(CUdeviceptr address, size_t row = 0, size_t height = 0) {
  CUmemcpy3DOperand operand{};
  operand.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  operand.op.ptr.ptr = address;
  operand.op.ptr.rowLength = row;
  operand.op.ptr.layerHeight = height;
  return operand;
}

static CUmemcpy3DOperand array(CUarray handle, size_t x, size_t y) {
  CUmemcpy3DOperand operand{};
  operand.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  operand.op.array.array = handle;
  operand.op.array.offset = {x, y, 0};
  return operand;
}

static CUDA_MEMCPY3D_BATCH_OP operation(CUmemcpy3DOperand src, CUmemcpy3DOperand dst, size_t width,
                                        size_t height, size_t depth) {
  CUDA_MEMCPY3D_BATCH_OP op{};
  op.src = src;
  op.dst = dst;
  op.extent = {width, height, depth};
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return op;
}

CONFORM(cuMemcpy3DBatchAsync, boxes_of_bytes) {
  CUstream stream = own_stream();
  Buffer from(64 * 16), packed(4 * 3 * 2), rows(1024);
  std::vector<uint8_t> bytes(64 * 16);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  REQUIRE(cuMemcpyHtoD(from, bytes.data(), bytes.size()));
  REQUIRE(cuMemsetD8(rows, 0, 1024));
  CUDA_MEMCPY3D_BATCH_OP ops[] = {
      // 4 x 3 x 2 out of rows of 16 bytes and layers of 8 rows.
      operation(pointer(from, 16, 8), pointer(packed), 4, 3, 2),
      operation(pointer(from, 16, 8), pointer(rows, 100), 5, 2, 1),
  };
  expect_code("copies", cuMemcpy3DBatchAsync(2, ops, 0, stream), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("first row", int{read<uint8_t>(packed.at(3))}, 3);
  expect("second row", int{read<uint8_t>(packed.at(4))}, 16);
  expect("second layer", int{read<uint8_t>(packed.at(12))}, 128);
  expect("last", int{read<uint8_t>(packed.at(23))}, (8 * 16 + 2 * 16 + 3) % 256);
  expect("second operation", int{read<uint8_t>(rows.at(104))}, 20);
  expect("not beyond its width", int{read<uint8_t>(rows.at(105))}, 0);
}

CONFORM(cuMemcpy3DBatchAsync, arrays_in_elements) {
  CUstream stream = own_stream();
  CUarray texels = plain_array(16, 8);
  Buffer from(64), to(64);
  const float values[6] = {1, 2, 3, 4, 5, 6};
  REQUIRE(cuMemcpyHtoD(from, values, sizeof values));
  auto in = operation(pointer(from), array(texels, 4, 2), 3, 2, 1);
  expect_code("into the array", cuMemcpy3DBatchAsync(1, &in, 0, stream), CUDA_SUCCESS);
  auto out = operation(array(texels, 5, 2), pointer(to), 2, 2, 1);
  expect_code("out of it", cuMemcpy3DBatchAsync(1, &out, 0, stream), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("row 0", read<float>(to.at(0)), 2.0f);
  expect("row 1", read<float>(to.at(12)), 6.0f);
}

CONFORM(cuMemcpy3DBatchAsync, a_source_that_goes_at_once) {
  CUstream stream = own_stream();
  Buffer to(64);
  {
    uint32_t words[16];
    for (uint32_t i = 0; i < 16; ++i) words[i] = i + 1;
    auto op = operation(pointer(reinterpret_cast<CUdeviceptr>(words)), pointer(to), 64, 1, 1);
    op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    expect_code("copies", cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_SUCCESS);
    std::memset(words, 0, sizeof words);
  }
  REQUIRE(cuStreamSynchronize(stream));
  expect("last word", read<uint32_t>(to.at(60)), 16u);
}

CONFORM(cuMemcpy3DBatchAsync, wrong_arguments) {
  CUstream stream = own_stream();
  Buffer from(4096), to(4096);
  auto op = operation(pointer(from), pointer(to), 16, 1, 1);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("none", cuMemcpy3DBatchAsync(0, &op, 0, stream), bad);
  expect_code("no list", cuMemcpy3DBatchAsync(1, nullptr, 0, stream), bad);
  expect_code("flags", cuMemcpy3DBatchAsync(1, &op, 1, stream), bad);
  expect_code("the legacy stream", cuMemcpy3DBatchAsync(1, &op, 0, nullptr), bad);
  op.extent.height = 0;
  expect_code("no height", cuMemcpy3DBatchAsync(1, &op, 0, stream), bad);
  op = operation(pointer(from), pointer(to), 16, 1, 1);
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  expect_code("no order", cuMemcpy3DBatchAsync(1, &op, 0, stream), bad);
  op = operation(pointer(from, 8), pointer(to), 16, 1, 1);
  expect_code("rows too short", cuMemcpy3DBatchAsync(1, &op, 0, stream), bad);
  op = operation(pointer(0), pointer(to), 16, 1, 1);
  expect_code("no source", cuMemcpy3DBatchAsync(1, &op, 0, stream), bad);
  op = operation(pointer(from), pointer(to), 8192, 1, 1);
  expect_code("too large", cuMemcpy3DBatchAsync(1, &op, 0, stream), bad);
}

}  // namespace limen::conform
