#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuMemDiscardAndPrefetchBatchAsync, both) {
  Managed memory;
  CUstream stream = own_stream();
  CUdeviceptr ranges[] = {memory.address};
  size_t sizes[] = {Managed::bytes}, first[] = {0};
  CUmemLocation places[] = {device_place};
  expect_code("does both",
              cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 1, places, first, 1, 0, stream),
              CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, memory.address + 40, 4u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("prefetched", memory.last_prefetch(), 0);
  expect("what was written later", memory.word(10), 4u);
}

CONFORM(cuMemDiscardAndPrefetchBatchAsync, wrong_arguments) {
  Managed memory;
  CUstream stream = own_stream();
  CUdeviceptr ranges[] = {memory.address};
  size_t sizes[] = {Managed::bytes}, first[] = {0};
  CUmemLocation places[] = {device_place};
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no ranges",
              cuMemDiscardAndPrefetchBatchAsync(nullptr, sizes, 1, places, first, 1, 0, stream),
              bad);
  expect_code("no places",
              cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 1, nullptr, first, 1, 0, stream),
              bad);
  expect_code("flags",
              cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 1, places, first, 1, 2, stream),
              bad);
  expect_code("the legacy stream",
              cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 1, places, first, 1, 0, nullptr),
              bad);
}

}  // namespace limen::conform
