#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUmemcpyAttributes in_order() {
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return attributes;
}

CONFORM(cuMemcpyBatchAsync, several_runs) {
  CUstream stream = copy_stream();
  const CUdeviceptr from = pattern_on_device();
  Buffer one(64), two(4096);
  CUdeviceptr to[] = {one, two.at(8)}, sources[] = {from + 400, from + 4000};
  size_t sizes[] = {16, 1000}, first[] = {0};
  CUmemcpyAttributes attributes = in_order();
  REQUIRE(cuMemsetD8(two, 0xee, 4096));
  expect_code("copies", cuMemcpyBatchAsync(to, sources, sizes, 2, &attributes, first, 1, stream),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("one", read<uint32_t>(one.at(12)), pattern(103));
  expect("two", read<uint32_t>(two.at(8)), pattern(1000));
  expect("its end", read<uint32_t>(two.at(8 + 996)), pattern(1249));
  expect("behind it", read<uint32_t>(two.at(8 + 1000)), 0xeeeeeeeeu);
}

CONFORM(cuMemcpyBatchAsync, wrong_arguments) {
  CUstream stream = copy_stream();
  Buffer to_buffer(64), from_buffer(64);
  CUdeviceptr to[] = {to_buffer}, from[] = {from_buffer};
  size_t sizes[] = {16}, first[] = {0};
  CUmemcpyAttributes attributes = in_order();
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  auto call = [&](CUdeviceptr* dst, CUdeviceptr* src, size_t* bytes, size_t count, CUstream on) {
    return cuMemcpyBatchAsync(dst, src, bytes, count, &attributes, first, 1, on);
  };
  expect_code("no destinations", call(nullptr, from, sizes, 1, stream), bad);
  expect_code("no sources", call(to, nullptr, sizes, 1, stream), bad);
  expect_code("no sizes", call(to, from, nullptr, 1, stream), bad);
  expect_code("none", call(to, from, sizes, 0, stream), bad);
  expect_code("the legacy stream", call(to, from, sizes, 1, nullptr), bad);
}

}  // namespace limen::conform
