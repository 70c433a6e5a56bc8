// Boxes that kernels load; more of them, against a model, are in tests/programs/tensor_maps.
#include "conformance/texobject/maps.h"

namespace limen::conform {

CONFORM(cuTensorMapEncodeTiled, a_box_of_a_plane) {
  need_tensor_copies();
  Buffer memory(128);
  count_up(memory, 32);
  TiledMap tiled;
  tiled.address = memory;
  alignas(64) CUtensorMap map{};
  expect_code("encoded", tiled.encode(&map), CUDA_SUCCESS);
  expect("inside", listed(load_box(map, 8, {4, 1})), "13 14 15 16 21 22 23 24");
  expect("0 outside", listed(load_box(map, 8, {-4, 3})), "0 0 0 0 0 0 0 0");
  expect("half outside", listed(load_box(map, 8, {4, 3})), "29 30 31 32 0 0 0 0");
  expect("begins outside", listed(load_box(map, 8, {0, -1})), "0 0 0 0 1 2 3 4");
}

CONFORM(cuTensorMapEncodeTiled, strides_are_bytes) {
  need_tensor_copies();
  Buffer memory(512);
  count_up(memory, 128);
  TiledMap tiled;
  tiled.address = memory.at(16);
  tiled.strides = {64};
  alignas(64) CUtensorMap map{};
  expect_code("encoded", tiled.encode(&map), CUDA_SUCCESS);
  expect("rows of 64 bytes", listed(load_box(map, 8, {0, 1})), "21 22 23 24 37 38 39 40");
}

CONFORM(cuTensorMapEncodeTiled, every_other_row) {
  need_tensor_copies();
  Buffer memory(128);
  count_up(memory, 32);
  TiledMap tiled;
  tiled.address = memory;
  tiled.box = {4, 4};
  tiled.steps = {1, 2};
  alignas(64) CUtensorMap map{};
  expect_code("encoded", tiled.encode(&map), CUDA_SUCCESS);
  expect("rows 0 and 2", listed(load_box(map, 8, {0, 0})), "1 2 3 4 17 18 19 20");
}

CONFORM(cuTensorMapEncodeTiled, ranks_from_1_to_5) {
  need_tensor_copies();
  Buffer memory(4 * 128);
  count_up(memory, 128);
  alignas(64) CUtensorMap map{};
  TiledMap line;
  line.address = memory;
  line.rank = 1;
  line.sizes = {10};
  line.box = {8};
  expect_code("1", line.encode(&map), CUDA_SUCCESS);
  expect("a line", listed(load_box(map, 8, {4})), "5 6 7 8 9 10 0 0");
  TiledMap deep;
  deep.address = memory;
  deep.rank = 5;
  deep.sizes = {8, 2, 2, 2, 2};
  deep.strides = {32, 64, 128, 256};
  deep.box = {4, 1, 2, 1, 2};
  deep.steps = {1, 1, 1, 1, 1};
  expect_code("5", deep.encode(&map), CUDA_SUCCESS);
  expect("a box of five", listed(load_box(map, 16, {4, 1, 0, 1, 0})),
         "45 46 47 48 61 62 63 64 109 110 111 112 125 126 127 128");
}

CONFORM(cuTensorMapEncodeTiled, a_swizzle_exchanges_chunks) {
  need_tensor_copies();
  Buffer memory(32 * 8);
  count_up(memory, 64);
  TiledMap tiled;
  tiled.address = memory;
  tiled.sizes = {8, 8};
  tiled.box = {8, 8};
  tiled.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  alignas(64) CUtensorMap map{};
  expect_code("encoded", tiled.encode(&map), CUDA_SUCCESS);
  const auto words = load_box(map, 64, {0, 0});
  // Rows of 32 bytes: from the fifth on (bit 7 of the address) the halves change places.
  expect("first row", listed(std::vector<uint32_t>(words.begin(), words.begin() + 8)),
         "1 2 3 4 5 6 7 8");
  expect("fifth row", listed(std::vector<uint32_t>(words.begin() + 32, words.begin() + 40)),
         "37 38 39 40 33 34 35 36");
}

CONFORM(cuTensorMapEncodeTiled, fills) {
  need_tensor_copies();
  Buffer memory(128);
  write_list<float>(memory, std::vector<float>(32, 1.0f));
  TiledMap tiled;
  tiled.address = memory;
  tiled.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  alignas(64) CUtensorMap map{};
  expect_code("zeros", tiled.encode(&map), CUDA_SUCCESS);
  expect("0 outside", load_box(map, 8, {0, 3})[4], 0u);
  tiled.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  expect_code("NaN", tiled.encode(&map), CUDA_SUCCESS);
  const auto words = load_box(map, 8, {0, 3});
  expect("inside", words[3], 0x3f800000u);
  expect("a NaN outside", words[4], 0x7ff77ff7u);
}

CONFORM(cuTensorMapEncodeTiled, elements_of_every_size) {
  need_tensor_copies();
  Buffer memory(128);
  count_up(memory, 32);
  alignas(64) CUtensorMap map{};
  TiledMap tiled;
  tiled.address = memory;
  tiled.type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  tiled.sizes = {32, 4};
  tiled.box = {16, 2};
  expect_code("bytes", tiled.encode(&map), CUDA_SUCCESS);
  expect("a box of bytes", listed(load_box(map, 8, {16, 1})), "13 14 15 16 21 22 23 24");
  tiled.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  tiled.sizes = {16, 4};
  tiled.box = {8, 2};
  expect_code("halves", tiled.encode(&map), CUDA_SUCCESS);
  expect("a box of halves", listed(load_box(map, 8, {8, 1})), "13 14 15 16 21 22 23 24");
  tiled.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  tiled.sizes = {4, 4};
  tiled.box = {2, 2};
  expect_code("doubles", tiled.encode(&map), CUDA_SUCCESS);
  expect("a box of doubles", listed(load_box(map, 8, {2, 1})), "13 14 15 16 21 22 23 24");
}

namespace {

template <typename Change>
void refuse(std::string_view label, Change change, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  TiledMap tiled;
  tiled.address = 0x10000;
  change(tiled);
  alignas(64) CUtensorMap map{};
  expect_code(label, tiled.encode(&map), code);
}

}  // namespace

CONFORM(cuTensorMapEncodeTiled, shapes_that_cannot_be) {
  need_tensor_copies();
  refuse(
      "the one that is changed below", [](TiledMap&) {}, CUDA_SUCCESS);
  refuse("misaligned address", [](TiledMap& m) { m.address += 8; });
  refuse("address of 57 bits and more", [](TiledMap& m) { m.address = CUdeviceptr{1} << 57; });
  refuse("rank 0", [](TiledMap& m) { m.rank = 0; });
  refuse("rank 6", [](TiledMap& m) { m.rank = 6; });
  refuse("size 0", [](TiledMap& m) { m.sizes[1] = 0; });
  refuse("size 2^32 + 1", [](TiledMap& m) { m.sizes[1] = (cuuint64_t{1} << 32) + 1; });
  refuse("stride of 24", [](TiledMap& m) { m.strides[0] = 24; });
  refuse("stride of 2^40", [](TiledMap& m) { m.strides[0] = cuuint64_t{1} << 40; });
  refuse("box of 0", [](TiledMap& m) { m.box[1] = 0; });
  refuse("box of 257", [](TiledMap& m) { m.box[1] = 257; });
  refuse("rows of 12 bytes", [](TiledMap& m) { m.box[0] = 3; });
  refuse("step 0", [](TiledMap& m) { m.steps[1] = 0; });
  refuse("step 9", [](TiledMap& m) { m.steps[1] = 9; });
  refuse("more than shared memory", [](TiledMap& m) { m.box = {256, 256}; });
}

CONFORM(cuTensorMapEncodeTiled, kinds_that_cannot_be) {
  need_tensor_copies();
  refuse("type 99", [](TiledMap& m) { m.type = CUtensorMapDataType(99); });
  refuse("interleave 3", [](TiledMap& m) { m.interleave = CUtensorMapInterleave(3); });
  refuse("swizzle 7", [](TiledMap& m) { m.swizzle = CUtensorMapSwizzle(7); });
  refuse("promotion 4", [](TiledMap& m) { m.promotion = CUtensorMapL2promotion(4); });
  refuse("fill 2", [](TiledMap& m) { m.fill = CUtensorMapFloatOOBfill(2); });
  refuse("NaN in integers",
         [](TiledMap& m) { m.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
  refuse("rows beyond the swizzle", [](TiledMap& m) {
    m.box[0] = 16;
    m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  });
  refuse("interleave of rank 2", [](TiledMap& m) { m.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
}

CONFORM(cuTensorMapEncodeTiled, pointers_that_are_null) {
  need_tensor_copies();
  alignas(64) CUtensorMap map{};
  TiledMap m;
  auto* address = reinterpret_cast<void*>(0x10000);
  auto call = [&](CUtensorMap* out, const cuuint64_t* sizes, const cuuint64_t* strides,
                  const cuuint32_t* box, const cuuint32_t* steps) {
    return cuTensorMapEncodeTiled(out, m.type, 2, address, sizes, strides, box, steps, m.interleave,
                                  m.swizzle, m.promotion, m.fill);
  };
  const cuuint64_t *sizes = m.sizes.data(), *strides = m.strides.data();
  const cuuint32_t *box = m.box.data(), *steps = m.steps.data();
  const CUresult value = CUDA_ERROR_INVALID_VALUE;
  expect_code("no map", call(nullptr, sizes, strides, box, steps), value);
  expect_code("no sizes", call(&map, nullptr, strides, box, steps), value);
  expect_code("no strides", call(&map, sizes, nullptr, box, steps), value);
  expect_code("no box", call(&map, sizes, strides, nullptr, steps), value);
  expect_code("no steps", call(&map, sizes, strides, box, nullptr), value);
}

CONFORM_WITH(cuTensorMapEncodeTiled, needs_a_context, initialised) {
  refuse(
      "no context", [](TiledMap&) {}, CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTensorMapEncodeTiled, needs_cuInit, nothing) {
  refuse(
      "not initialised", [](TiledMap&) {}, CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
