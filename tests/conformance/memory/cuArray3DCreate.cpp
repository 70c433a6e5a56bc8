#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuArray3DCreate, every_shape) {
  constexpr CUarray_format f32 = CU_AD_FORMAT_FLOAT;
  CUarray array = nullptr;
  auto make = [&](size_t w, size_t h, size_t d, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR desc{w, h, d, f32, 1, flags};
    return cuArray3DCreate(&array, &desc);
  };
  expect_code("line", make(64, 0, 0, 0), CUDA_SUCCESS);
  expect_code("plane", make(64, 32, 0, 0), CUDA_SUCCESS);
  expect_code("solid", make(16, 8, 4, 0), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR back{};
  REQUIRE(cuArray3DGetDescriptor(&back, array));
  expect("depth", back.Depth, 4u);
  expect_code("layers of lines", make(64, 0, 5, CUDA_ARRAY3D_LAYERED), CUDA_SUCCESS);
  expect_code("layers of planes", make(64, 32, 5, CUDA_ARRAY3D_LAYERED), CUDA_SUCCESS);
  expect_code("cube", make(16, 16, 6, CUDA_ARRAY3D_CUBEMAP), CUDA_SUCCESS);
  expect_code("layers of cubes", make(16, 16, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
              CUDA_SUCCESS);
  expect_code("for surfaces", make(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST), CUDA_SUCCESS);
  REQUIRE(cuArray3DGetDescriptor(&back, array));
  expect("the flag stays", back.Flags, unsigned(CUDA_ARRAY3D_SURFACE_LDST));
  expect_code("for gathers", make(16, 16, 0, CUDA_ARRAY3D_TEXTURE_GATHER), CUDA_SUCCESS);
}

CONFORM(cuArray3DCreate, shapes_that_cannot_be) {
  CUarray array = nullptr;
  auto make = [&](size_t w, size_t h, size_t d, unsigned flags, unsigned channels = 1) {
    CUDA_ARRAY3D_DESCRIPTOR desc{w, h, d, CU_AD_FORMAT_FLOAT, channels, flags};
    return cuArray3DCreate(&array, &desc);
  };
  expect_code("no width", make(0, 4, 4, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("depth without height", make(4, 0, 4, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("layers of none", make(4, 4, 0, CUDA_ARRAY3D_LAYERED), CUDA_ERROR_INVALID_VALUE);
  expect_code("cube of 5 faces", make(4, 4, 5, CUDA_ARRAY3D_CUBEMAP), CUDA_ERROR_INVALID_VALUE);
  expect_code("cube that is none", make(4, 8, 6, CUDA_ARRAY3D_CUBEMAP), CUDA_ERROR_INVALID_VALUE);
  expect_code("layers of 7 faces", make(4, 4, 7, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("gather from a line", make(4, 0, 0, CUDA_ARRAY3D_TEXTURE_GATHER),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("gather from a solid", make(4, 4, 4, CUDA_ARRAY3D_TEXTURE_GATHER),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("3 channels", make(4, 4, 4, 0, 3), CUDA_ERROR_INVALID_VALUE);
  expect_code("too deep", make(4, 4, 32769, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("too many layers", make(4, 4, 2049, CUDA_ARRAY3D_LAYERED), CUDA_ERROR_INVALID_VALUE);
  expect_true("no handle", array == nullptr);
  expect_code("unknown flag", make(4, 4, 0, 0x80000000), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR good{4, 4, 4, CU_AD_FORMAT_FLOAT, 1, 0};
  expect_code("no result", cuArray3DCreate(nullptr, &good), CUDA_ERROR_INVALID_VALUE);
  expect_code("no descriptor", cuArray3DCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  auto first = reinterpret_cast<CUresult (*)(CUarray*, const CUDA_ARRAY3D_DESCRIPTOR*)>(
      driver_symbol("cuArray3DCreate"));
  expect_code("the 32-bit ABI", first(&array, &good), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuArray3DCreate, planes_and_tiles_that_cannot_be) {
  auto make = [](size_t width, size_t height, size_t depth, CUarray_format format,
                 unsigned channels, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR desc{width, height, depth, format, channels, flags};
    CUarray array = nullptr;
    return cuArray3DCreate(&array, &desc);
  };
  const auto wrong = CUDA_ERROR_INVALID_VALUE;
  const auto nv12 = CU_AD_FORMAT_NV12, one = CU_AD_FORMAT_FLOAT;
  const unsigned video = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
  expect_code("NV12", make(64, 32, 0, nv12, 3, video), CUDA_SUCCESS);
  expect_code("not for video", make(64, 32, 0, nv12, 3, 0), wrong);
  expect_code("of one channel", make(64, 32, 0, nv12, 1, video), wrong);
  expect_code("of one dimension", make(64, 0, 0, nv12, 3, video), wrong);
  expect_code("of odd size", make(63, 32, 0, nv12, 3, video), wrong);
  expect_code("packed YUV", make(64, 32, 0, CU_AD_FORMAT_YUY2, 4, video), CUDA_SUCCESS);
  expect_code("packed YUV of two channels", make(64, 32, 0, CU_AD_FORMAT_YUY2, 2, video), wrong);
  expect_code("other formats for video", make(64, 32, 0, one, 1, video), CUDA_SUCCESS);
  expect_code("sparse with surfaces",
              make(256, 256, 0, one, 1, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_SURFACE_LDST), wrong);
  expect_code("sparse", make(64, 32, 0, one, 1, CUDA_ARRAY3D_SPARSE), CUDA_SUCCESS);
  expect_code("sparse, one dimension", make(64, 0, 0, one, 1, CUDA_ARRAY3D_SPARSE), wrong);
  expect_code("sparse and deferred",
              make(64, 32, 0, one, 1, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING), wrong);
}

CONFORM_WITH(cuArray3DCreate, needs_a_context, initialised) {
  CUarray array;
  CUDA_ARRAY3D_DESCRIPTOR good{4, 4, 4, CU_AD_FORMAT_FLOAT, 1, 0};
  expect_code("no context", cuArray3DCreate(&array, &good), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuArray3DCreate, needs_cuInit, nothing) {
  CUarray array;
  CUDA_ARRAY3D_DESCRIPTOR good{4, 4, 4, CU_AD_FORMAT_FLOAT, 1, 0};
  expect_code("not initialised", cuArray3DCreate(&array, &good), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
