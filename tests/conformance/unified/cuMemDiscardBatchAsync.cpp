#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuMemDiscardBatchAsync, the_range_can_be_used_again) {
  Managed memory;
  CUstream stream = own_stream();
  const size_t half = Managed::bytes / 2;
  memory.word(half / 4 - 1) = 1;  // the half that stays
  CUdeviceptr ranges[] = {memory.address + half};
  size_t sizes[] = {half};
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, memory.address + half, 3u));
  expect_code("discards", cuMemDiscardBatchAsync(ranges, sizes, 1, 0, stream), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, memory.address + half + 4, 4u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("what was written later", memory.word(half / 4 + 1), 4u);
  expect("its neighbour", memory.word(half / 4 - 1), 1u);
}

CONFORM(cuMemDiscardBatchAsync, wrong_arguments) {
  Managed memory;
  CUstream stream = own_stream();
  CUdeviceptr ranges[] = {memory.address};
  size_t sizes[] = {Managed::bytes}, too_long[] = {2 * Managed::bytes};
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no ranges", cuMemDiscardBatchAsync(nullptr, sizes, 1, 0, stream), bad);
  expect_code("no sizes", cuMemDiscardBatchAsync(ranges, nullptr, 1, 0, stream), bad);
  expect_code("none", cuMemDiscardBatchAsync(ranges, sizes, 0, 0, stream), bad);
  expect_code("flags", cuMemDiscardBatchAsync(ranges, sizes, 1, 1, stream), bad);
  expect_code("the legacy stream", cuMemDiscardBatchAsync(ranges, sizes, 1, 0, nullptr), bad);
  expect_code("too long", cuMemDiscardBatchAsync(ranges, too_long, 1, 0, stream), bad);
}

}  // namespace limen::conform
