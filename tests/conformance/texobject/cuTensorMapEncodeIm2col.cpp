#include "conformance/texobject/maps.h"

namespace limen::conform {

namespace {

/// Two images of 5 pixels of 4 words: C, W, N. A column is 3 pixels.
struct Im2colMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  CUdeviceptr address = 0x10000;
  cuuint32_t rank = 3;
  std::vector<cuuint64_t> sizes{4, 5, 2}, strides{16, 80};
  std::vector<int> lower{0}, upper{0};
  cuuint32_t channels = 4, pixels = 3;
  std::vector<cuuint32_t> steps{1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap* map) const {
    return cuTensorMapEncodeIm2col(map, type, rank, reinterpret_cast<void*>(address), sizes.data(),
                                   strides.data(), lower.data(), upper.data(), channels, pixels,
                                   steps.data(), interleave, swizzle, promotion, fill);
  }
};

/// The first words of the column's pixels, each pixel's own.
std::string column(const CUtensorMap& map, const std::vector<int>& at, int offset) {
  const auto words = load_box(map, 12, at, "im2col", ", {" + std::to_string(offset) + "}");
  return listed(std::vector<uint32_t>{words[0], words[4], words[8]});
}

template <typename Change>
void refuse(std::string_view label, Change change, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  Im2colMap im2col;
  change(im2col);
  alignas(64) CUtensorMap map{};
  expect_code(label, im2col.encode(&map), code);
}

}  // namespace

CONFORM(cuTensorMapEncodeIm2col, a_column) {
  need_tensor_copies();
  Buffer memory(160);
  count_up(memory, 40);
  Im2colMap im2col;
  im2col.address = memory;
  alignas(64) CUtensorMap map{};
  expect_code("encoded", im2col.encode(&map), CUDA_SUCCESS);
  expect("pixels 1 to 3", column(map, {0, 1, 0}, 0), "5 9 13");
  expect("on to the next image", column(map, {0, 4, 0}, 0), "17 21 25");
  expect("beyond the last", column(map, {0, 4, 1}, 0), "37 0 0");
}

CONFORM(cuTensorMapEncodeIm2col, corners_of_the_bounding_box) {
  need_tensor_copies();
  Buffer memory(160);
  count_up(memory, 40);
  Im2colMap im2col;
  im2col.address = memory;
  im2col.lower = {-1}, im2col.upper = {-1};
  alignas(64) CUtensorMap map{};
  expect_code("encoded", im2col.encode(&map), CUDA_SUCCESS);
  expect("from -1, no offset", column(map, {0, -1, 0}, 0), "0 1 5");
  expect("offset 1", column(map, {0, -1, 0}, 1), "1 5 9");
  expect("wraps before the corner", column(map, {0, 3, 0}, 0), "13 0 21");
}

CONFORM(cuTensorMapEncodeIm2col, shapes_that_cannot_be) {
  need_tensor_copies();
  refuse(
      "the one that is changed below", [](Im2colMap&) {}, CUDA_SUCCESS);
  refuse("rank 2", [](Im2colMap& m) { m.rank = 2; });
  refuse("rank 6", [](Im2colMap& m) { m.rank = 6; });
  refuse("misaligned address", [](Im2colMap& m) { m.address += 8; });
  refuse("size 0", [](Im2colMap& m) { m.sizes[1] = 0; });
  refuse("stride of 24", [](Im2colMap& m) { m.strides[0] = 24; });
  refuse("no channels", [](Im2colMap& m) { m.channels = 0; });
  refuse("257 channels", [](Im2colMap& m) { m.channels = 257; });
  refuse("channels of 12 bytes", [](Im2colMap& m) { m.channels = 3; });
  refuse("no pixels", [](Im2colMap& m) { m.pixels = 0; });
  refuse("1,025 pixels", [](Im2colMap& m) { m.pixels = 1025; });
  refuse("corner of 17 bits", [](Im2colMap& m) { m.lower[0] = -32769; });
  refuse("corners with nothing between", [](Im2colMap& m) { m.lower[0] = 5; });
  refuse("step 9", [](Im2colMap& m) { m.steps[1] = 9; });
  refuse("type 99", [](Im2colMap& m) { m.type = CUtensorMapDataType(99); });
  refuse("swizzle 7", [](Im2colMap& m) { m.swizzle = CUtensorMapSwizzle(7); });
  refuse("NaN in integers",
         [](Im2colMap& m) { m.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
}

CONFORM(cuTensorMapEncodeIm2col, pointers_that_are_null) {
  need_tensor_copies();
  alignas(64) CUtensorMap map{};
  Im2colMap m;
  auto call = [&](CUtensorMap* out, const cuuint64_t* sizes, const int* lower, const int* upper,
                  const cuuint32_t* steps) {
    return cuTensorMapEncodeIm2col(out, m.type, 3, reinterpret_cast<void*>(m.address), sizes,
                                   m.strides.data(), lower, upper, 4, 3, steps, m.interleave,
                                   m.swizzle, m.promotion, m.fill);
  };
  const cuuint64_t* sizes = m.sizes.data();
  const cuuint32_t* steps = m.steps.data();
  const int *lower = m.lower.data(), *upper = m.upper.data();
  const CUresult value = CUDA_ERROR_INVALID_VALUE;
  expect_code("no map", call(nullptr, sizes, lower, upper, steps), value);
  expect_code("no sizes", call(&map, nullptr, lower, upper, steps), value);
  expect_code("no lower corner", call(&map, sizes, nullptr, upper, steps), value);
  expect_code("no upper corner", call(&map, sizes, lower, nullptr, steps), value);
  expect_code("no steps", call(&map, sizes, lower, upper, nullptr), value);
}

CONFORM_WITH(cuTensorMapEncodeIm2col, needs_a_context, initialised) {
  refuse(
      "no context", [](Im2colMap&) {}, CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTensorMapEncodeIm2col, needs_cuInit, nothing) {
  refuse(
      "not initialised", [](Im2colMap&) {}, CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
