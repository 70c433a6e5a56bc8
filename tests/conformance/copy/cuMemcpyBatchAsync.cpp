#include "conformance/places.h"

namespace limen::conform {

namespace {

CUmemcpyAttributes in_order_of(CUmemcpySrcAccessOrder order) {
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = order;
  return attributes;
}

struct Batch {
  Buffer from{16}, to{16};
  std::vector<CUdeviceptr> targets, sources;
  std::vector<size_t> sizes{4, 8};
  std::vector<CUmemcpyAttributes> attributes{in_order_of(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)};
  std::vector<size_t> first{0};

  Batch() {
    write_list<uint32_t>(from, {11, 12, 13, 14});
    write_list<uint32_t>(to, {1, 2, 3, 4});
    targets = {to.at(12), to.at(0)};
    sources = {from.at(0), from.at(8)};
  }
  CUresult copy(CUstream stream = CU_STREAM_PER_THREAD) {
    return cuMemcpyBatchAsync(targets.data(), sources.data(), sizes.data(), targets.size(),
                              attributes.data(), first.data(), attributes.size(), stream);
  }
};

}  // namespace

CONFORM(cuMemcpyBatchAsync, makes_every_copy) {
  Batch batch;
  expect_code("two copies", batch.copy(), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  expect("target", listed(read_list<uint32_t>(batch.to, 4)), "13 14 3 11");
}

CONFORM(cuMemcpyBatchAsync, attributes_for_each) {
  Batch batch;
  uint32_t plain = 77;
  batch.sources[1] = reinterpret_cast<CUdeviceptr>(&plain);
  batch.sizes[1] = 4;
  batch.attributes.push_back(in_order_of(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL));
  batch.first.push_back(1);
  expect_code("device and host sources", batch.copy(), CUDA_SUCCESS);
  plain = 78;
  REQUIRE(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  expect("target", listed(read_list<uint32_t>(batch.to, 4)), "77 2 3 11");
}

CONFORM(cuMemcpyBatchAsync, waits_for_the_stream) {
  Batch batch;
  HeldStream stream;
  expect_code("queued", batch.copy(stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint32_t>(batch.to), 1u);
  stream.open();
  expect("in its turn", read<uint32_t>(batch.to), 13u);
}

CONFORM(cuMemcpyBatchAsync, attributes_that_cannot_be) {
  auto refused = [](const char* label, auto change) {
    Batch batch;
    change(batch);
    expect_code(label, batch.copy(), CUDA_ERROR_INVALID_VALUE);
  };
  auto stream_order = in_order_of(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  refused("order 0", [](Batch& b) { b.attributes[0].srcAccessOrder = CUmemcpySrcAccessOrder(0); });
  refused("order 4", [](Batch& b) { b.attributes[0].srcAccessOrder = CUmemcpySrcAccessOrder(4); });
  refused("the first is not 0", [](Batch& b) { b.first[0] = 1; });
  refused("entries do not rise", [&](Batch& b) {
    b.attributes.push_back(stream_order);
    b.first.push_back(0);
  });
  refused("an entry beyond the copies", [&](Batch& b) {
    b.attributes.push_back(stream_order);
    b.first.push_back(2);
  });
  refused("more entries than copies", [&](Batch& b) {
    b.attributes = {3, stream_order};
    b.first = {0, 1, 2};
  });
  refused("no entries", [](Batch& b) { b.attributes.clear(); });
}

CONFORM(cuMemcpyBatchAsync, arguments_that_cannot_be) {
  Batch b;
  CUstream stream = CU_STREAM_PER_THREAD;
  auto call = [&](CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                  CUmemcpyAttributes* attributes, size_t* first) {
    return cuMemcpyBatchAsync(to, from, sizes, count, attributes, first, 1, stream);
  };
  auto *to = b.targets.data(), *from = b.sources.data();
  auto *sizes = b.sizes.data(), *first = b.first.data();
  auto* attributes = b.attributes.data();
  expect_code("no targets", call(nullptr, from, sizes, 2, attributes, first),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no sources", call(to, nullptr, sizes, 2, attributes, first),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no sizes", call(to, from, nullptr, 2, attributes, first), CUDA_ERROR_INVALID_VALUE);
  expect_code("no copies", call(to, from, sizes, 0, attributes, first), CUDA_ERROR_INVALID_VALUE);
  expect_code("no attributes", call(to, from, sizes, 2, nullptr, first), CUDA_ERROR_INVALID_VALUE);
  expect_code("no indices", call(to, from, sizes, 2, attributes, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the legacy stream", b.copy(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("the legacy stream by name", b.copy(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
  expect_code("a destroyed stream", b.copy(destroyed_stream()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMemcpyBatchAsync, a_source_read_during_the_call_may_change_after_it) {
  CUstream stream = nullptr;
  void* memory = nullptr;
  Buffer target(4);
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuMemHostAlloc(&memory, 4, 0));
  auto* source = static_cast<volatile uint32_t*>(memory);
  *source = 5;
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 100; ++i) REQUIRE(launch(add, 64, 256, stream, target.at(), 1u));
  CUdeviceptr to = target, from = reinterpret_cast<CUdeviceptr>(memory);
  size_t bytes = 4, first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  expect_code("copies", cuMemcpyBatchAsync(&to, &from, &bytes, 1, &attributes, &first, 1, stream),
              CUDA_SUCCESS);
  *source = 6;
  REQUIRE(cuStreamSynchronize(stream));
  expect("value", read<uint32_t>(target), 5u);
}

CONFORM_WITH(cuMemcpyBatchAsync, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuMemcpyBatchAsync(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
