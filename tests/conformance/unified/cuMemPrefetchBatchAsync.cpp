#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuMemPrefetchBatchAsync, each_to_its_place) {
  Managed one, two, three;
  CUstream stream = own_stream();
  one.word(5) = 50;
  CUdeviceptr ranges[] = {one.address, two.address, three.address};
  size_t sizes[] = {Managed::bytes, Managed::bytes, Managed::bytes}, first[] = {0, 2};
  CUmemLocation places[] = {device_place, host_place};
  expect_code("prefetches", cuMemPrefetchBatchAsync(ranges, sizes, 3, places, first, 2, 0, stream),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("one", one.last_prefetch(), 0);
  expect("two", two.last_prefetch(), 0);
  expect("three", three.last_prefetch(), CU_DEVICE_CPU);
  expect("contents stay", one.word(5), 50u);
}

CONFORM(cuMemPrefetchBatchAsync, wrong_arguments) {
  Managed one, two;
  CUstream stream = own_stream();
  CUdeviceptr ranges[] = {one.address, two.address};
  size_t sizes[] = {Managed::bytes, Managed::bytes}, first[] = {0, 1}, wrong[] = {1, 0};
  CUmemLocation places[] = {device_place, device_place};
  auto call = [&](CUdeviceptr* which, size_t* bytes, size_t count, CUmemLocation* where,
                  size_t* from, size_t place_count, unsigned long long flags, CUstream on) {
    return cuMemPrefetchBatchAsync(which, bytes, count, where, from, place_count, flags, on);
  };
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no ranges", call(nullptr, sizes, 2, places, first, 2, 0, stream), bad);
  expect_code("no sizes", call(ranges, nullptr, 2, places, first, 2, 0, stream), bad);
  expect_code("none", call(ranges, sizes, 0, places, first, 2, 0, stream), bad);
  expect_code("no places", call(ranges, sizes, 2, nullptr, first, 2, 0, stream), bad);
  expect_code("no indices", call(ranges, sizes, 2, places, nullptr, 2, 0, stream), bad);
  expect_code("more places than ranges", call(ranges, sizes, 1, places, first, 2, 0, stream), bad);
  expect_code("indices fall", call(ranges, sizes, 2, places, wrong, 2, 0, stream), bad);
  expect_code("flags", call(ranges, sizes, 2, places, first, 2, 1, stream), bad);
  expect_code("the legacy stream", call(ranges, sizes, 2, places, first, 2, 0, nullptr), bad);
  Buffer buffer(4096);
  CUdeviceptr plain[] = {buffer.at()};
  size_t small[] = {4096};
  expect_code("not managed", call(plain, small, 1, places, first, 1, 0, stream), bad);
}

}  // namespace limen::conform
