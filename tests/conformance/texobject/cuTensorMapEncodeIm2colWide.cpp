// No instruction of plain targets uses these maps: what is seen is that they are made, and how the
// encoding depends on the arguments.
#include "conformance/texobject/maps.h"

namespace limen::conform {

namespace {

/// An image of 8 x 4 pixels of 32 words: C, W, H, N.
struct WideMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  CUdeviceptr address = 0x10000;
  cuuint32_t rank = 4;
  std::vector<cuuint64_t> sizes{32, 8, 4, 2}, strides{128, 1024, 4096};
  int lower = 0, upper = 0;
  cuuint32_t channels = 32, pixels = 8;
  std::vector<cuuint32_t> steps{1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapIm2ColWideMode mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap* map) const {
    return cuTensorMapEncodeIm2colWide(map, type, rank, reinterpret_cast<void*>(address),
                                       sizes.data(), strides.data(), lower, upper, channels, pixels,
                                       steps.data(), interleave, mode, swizzle, promotion, fill);
  }
};

template <typename Change>
void refuse(std::string_view label, Change change, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  WideMap wide;
  change(wide);
  alignas(64) CUtensorMap map{};
  expect_code(label, wide.encode(&map), code);
}

}  // namespace

CONFORM(cuTensorMapEncodeIm2colWide, depends_on_its_arguments) {
  need_tensor_copies();
  WideMap wide;
  alignas(64) CUtensorMap first{}, again{}, other{}, empty{};
  expect_code("encoded", wide.encode(&first), CUDA_SUCCESS);
  expect_code("again", wide.encode(&again), CUDA_SUCCESS);
  expect_true("something", std::memcmp(&first, &empty, sizeof first) != 0);
  expect_true("the same", std::memcmp(&first, &again, sizeof first) == 0);
  auto differs = [&](const char* label, auto change) {
    WideMap changed;
    change(changed);
    expect_code(label, changed.encode(&other), CUDA_SUCCESS);
    expect_true(std::string(label) + ": differs", std::memcmp(&first, &other, sizeof first) != 0);
  };
  differs("address", [](WideMap& m) { m.address = 0x20000; });
  differs("size", [](WideMap& m) { m.sizes[2] = 5; });
  differs("pixels", [](WideMap& m) { m.pixels = 16; });
  differs("corner", [](WideMap& m) { m.lower = -1; });
  // Capability 9.0 has no instruction for either mode: both are encoded alike.
  WideMap changed;
  changed.mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
  expect_code("mode", changed.encode(&other), CUDA_SUCCESS);
  expect("mode: differs", std::memcmp(&first, &other, sizeof first) != 0, false);
}

CONFORM(cuTensorMapEncodeIm2colWide, shapes_that_cannot_be) {
  need_tensor_copies();
  refuse(
      "the one that is changed below", [](WideMap&) {}, CUDA_SUCCESS);
  refuse("rank 2", [](WideMap& m) { m.rank = 2; });
  refuse("rank 6", [](WideMap& m) { m.rank = 6; });
  refuse("misaligned address", [](WideMap& m) { m.address += 8; });
  refuse("size 0", [](WideMap& m) { m.sizes[1] = 0; });
  refuse("stride of 24", [](WideMap& m) { m.strides[0] = 24; });
  refuse("no channels", [](WideMap& m) { m.channels = 0; });
  refuse("channels of 12 bytes", [](WideMap& m) { m.channels = 3; });
  refuse("no pixels", [](WideMap& m) { m.pixels = 0; });
  refuse("1,025 pixels", [](WideMap& m) { m.pixels = 1025; });
  refuse("corner of 9 bits", [](WideMap& m) { m.lower = -129; });
  refuse("corners with nothing between", [](WideMap& m) { m.lower = 8; });
  refuse("mode 2", [](WideMap& m) { m.mode = CUtensorMapIm2ColWideMode(2); });
  refuse("step 0", [](WideMap& m) { m.steps[1] = 0; });
}

CONFORM(cuTensorMapEncodeIm2colWide, pointers_that_are_null) {
  need_tensor_copies();
  WideMap m;
  alignas(64) CUtensorMap map{};
  auto call = [&](CUtensorMap* out, const cuuint64_t* sizes, const cuuint32_t* steps) {
    return cuTensorMapEncodeIm2colWide(out, m.type, 4, reinterpret_cast<void*>(m.address), sizes,
                                       m.strides.data(), 0, 0, 32, 8, steps, m.interleave, m.mode,
                                       m.swizzle, m.promotion, m.fill);
  };
  const CUresult value = CUDA_ERROR_INVALID_VALUE;
  expect_code("no map", call(nullptr, m.sizes.data(), m.steps.data()), value);
  expect_code("no sizes", call(&map, nullptr, m.steps.data()), value);
  expect_code("no steps", call(&map, m.sizes.data(), nullptr), value);
}

CONFORM_WITH(cuTensorMapEncodeIm2colWide, needs_a_context, initialised) {
  refuse(
      "no context", [](WideMap&) {}, CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTensorMapEncodeIm2colWide, needs_cuInit, nothing) {
  refuse(
      "not initialised", [](WideMap&) {}, CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
