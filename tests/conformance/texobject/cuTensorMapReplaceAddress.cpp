#include "conformance/texobject/maps.h"

namespace limen::conform {

CONFORM(cuTensorMapReplaceAddress, the_rest_stays) {
  need_tensor_copies();
  Buffer one(128), two(128);
  count_up(one, 32);
  count_up(two, 32, 101);
  TiledMap tiled;
  tiled.address = one;
  alignas(64) CUtensorMap map{};
  REQUIRE(tiled.encode(&map));
  expect("before", listed(load_box(map, 8, {4, 1})), "13 14 15 16 21 22 23 24");
  expect_code("replaced", cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(two.at())),
              CUDA_SUCCESS);
  expect("after", listed(load_box(map, 8, {4, 1})), "113 114 115 116 121 122 123 124");
  alignas(64) CUtensorMap fresh{};
  tiled.address = two;
  REQUIRE(tiled.encode(&fresh));
  expect_true("as encoded afresh", std::memcmp(&map, &fresh, sizeof map) == 0);
}

CONFORM(cuTensorMapReplaceAddress, arguments_that_cannot_be) {
  need_tensor_copies();
  TiledMap tiled;
  tiled.address = 0x10000;
  alignas(64) CUtensorMap map{}, before{};
  REQUIRE(tiled.encode(&map));
  before = map;
  auto refused = [&](const char* label, CUtensorMap* where, uint64_t address) {
    expect_code(label, cuTensorMapReplaceAddress(where, reinterpret_cast<void*>(address)),
                CUDA_ERROR_INVALID_VALUE);
  };
  refused("no map", nullptr, 0x10000);
  refused("null", &map, 0);
  refused("misaligned", &map, 0x10008);
  refused("57 bits and more", &map, uint64_t{1} << 57);
  expect_true("the map is as it was", std::memcmp(&map, &before, sizeof map) == 0);
}

CONFORM_WITH(cuTensorMapReplaceAddress, needs_a_context, initialised) {
  alignas(64) CUtensorMap map{};
  expect_code("no context", cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(0x10000)),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTensorMapReplaceAddress, needs_cuInit, nothing) {
  alignas(64) CUtensorMap map{};
  expect_code("not initialised", cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(0x10000)),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
