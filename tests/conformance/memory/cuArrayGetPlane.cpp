#include "conformance/arrays.h"
#include "conformance/memory/array_case.h"
#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuArrayGetPlane, of_an_array_without_planes) {
  CUarray plane = nullptr;
  expect_code("plane 0", cuArrayGetPlane(&plane, plain_array(), 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("plane 1", cuArrayGetPlane(&plane, plain_array(), 1), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuArrayGetPlane, of_no_array) {
  CUarray plane = nullptr;
  expect_code("null", cuArrayGetPlane(&plane, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
}

namespace {

CUarray planar(CUarray_format format, size_t width = 64, size_t height = 32, unsigned flags = 0) {
  return make_array(width, height, 0, format, 3,
                    flags | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE | CUDA_ARRAY3D_SURFACE_LDST);
}

CUarray plane_of(CUarray array, unsigned index) {
  CUarray plane = nullptr;
  REQUIRE(cuArrayGetPlane(&plane, array, index));
  return plane;
}

/// "width height format channels flags" of each plane.
std::string shapes(CUarray_format format) {
  std::string text;
  CUarray array = planar(format), plane = nullptr;
  for (unsigned i = 0; cuArrayGetPlane(&plane, array, i) == CUDA_SUCCESS; ++i) {
    CUDA_ARRAY3D_DESCRIPTOR desc{};
    REQUIRE(cuArray3DGetDescriptor(&desc, plane));
    text += (i ? ", " : "") +
            listed(std::vector<size_t>{desc.Width, desc.Height, static_cast<size_t>(desc.Format),
                                       desc.NumChannels, desc.Flags});
  }
  REQUIRE(cuArrayDestroy(array));
  return text;
}

CUDA_MEMCPY2D rows(std::vector<uint8_t>& host, size_t width, size_t height, CUarray array,
                   bool to_array) {
  CUDA_MEMCPY2D copy{};
  (to_array ? copy.srcMemoryType : copy.dstMemoryType) = CU_MEMORYTYPE_HOST;
  (to_array ? copy.dstMemoryType : copy.srcMemoryType) = CU_MEMORYTYPE_ARRAY;
  (to_array ? copy.dstArray : copy.srcArray) = array;
  copy.srcHost = to_array ? host.data() : nullptr;
  copy.dstHost = to_array ? nullptr : host.data();
  (to_array ? copy.srcPitch : copy.dstPitch) = width;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

}  // namespace

CONFORM(cuArrayGetPlane, shapes_of_planes) {
  expect("NV12", shapes(CU_AD_FORMAT_NV12), "64 32 1 1 258, 32 16 1 2 258");
  expect("P010", shapes(CU_AD_FORMAT_P010), "64 32 2 1 258, 32 16 2 2 258");
  expect("P016", shapes(CU_AD_FORMAT_P016), "64 32 2 1 258, 32 16 2 2 258");
  expect("NV16", shapes(CU_AD_FORMAT_NV16), "64 32 1 1 258, 32 32 1 2 258");
  expect("P210", shapes(CU_AD_FORMAT_P210), "64 32 2 1 258, 32 32 2 2 258");
  expect("P216", shapes(CU_AD_FORMAT_P216), "64 32 2 1 258, 32 32 2 2 258");
  expect("semi-planar, 8 bits", shapes(CU_AD_FORMAT_YUV444_8bit_SemiPlanar),
         "64 32 1 1 258, 64 32 1 2 258");
  expect("semi-planar, 16 bits", shapes(CU_AD_FORMAT_YUV444_16bit_SemiPlanar),
         "64 32 2 1 258, 64 32 2 2 258");
  expect("planar, 8 bits", shapes(CU_AD_FORMAT_Y444_PLANAR8),
         "64 32 1 1 258, 64 32 1 1 258, 64 32 1 1 258");
  expect("planar, 10 bits", shapes(CU_AD_FORMAT_Y444_PLANAR10),
         "64 32 2 1 258, 64 32 2 1 258, 64 32 2 1 258");
}

CONFORM(cuArrayGetPlane, planes_are_copied_apart) {
  CUarray array = planar(CU_AD_FORMAT_NV12);
  CUarray luma = plane_of(array, 0), chroma = plane_of(array, 1), again = plane_of(array, 1);
  expect_true("the same handle", chroma == again && chroma != luma);
  std::vector<uint8_t> y(64 * 32), uv(64 * 16), y_back(y.size()), uv_back(uv.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<uint8_t>(i * 7);
  for (size_t i = 0; i < uv.size(); ++i) uv[i] = static_cast<uint8_t>(i * 11 + 3);
  CUDA_MEMCPY2D copy = rows(y, 64, 32, luma, true);
  expect_code("luma in", cuMemcpy2D(&copy), CUDA_SUCCESS);
  copy = rows(uv, 64, 16, chroma, true);
  expect_code("chroma in", cuMemcpy2D(&copy), CUDA_SUCCESS);
  copy = rows(y_back, 64, 32, luma, false);
  REQUIRE(cuMemcpy2D(&copy));
  copy = rows(uv_back, 64, 16, chroma, false);
  REQUIRE(cuMemcpy2D(&copy));
  expect_true("luma out", y == y_back);
  expect_true("chroma out", uv == uv_back);
  copy = rows(uv, 64, 17, chroma, true);
  expect_code("more rows than the plane has", cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuArrayGetPlane, textures_and_surfaces_of_planes) {
  CUarray array = planar(CU_AD_FORMAT_NV12);
  CUarray chroma = plane_of(array, 1);
  std::vector<uint8_t> uv(64 * 16);
  for (size_t i = 0; i < uv.size(); ++i) uv[i] = static_cast<uint8_t>(i);
  CUDA_MEMCPY2D copy = rows(uv, 64, 16, chroma, true);
  REQUIRE(cuMemcpy2D(&copy));
  TextureObject texture(
      array_resource(chroma),
      sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER));
  const auto texel = fetch_words(texture, "tex.2d.v4.u32.f32", "[%t, {%f0, %f1}]", {5.5f, 1.5f});
  expect("u and v", listed(std::vector<uint32_t>{texel[0], texel[1]}), "74 75");
  CUDA_RESOURCE_DESC resource = array_resource(chroma);
  CUsurfObject surface = 0;
  REQUIRE(cuSurfObjectCreate(&surface, &resource));
  // Texels 4 and 5.
  surface_write(surface, "sust.b.2d.b32.trap", "[%t, {%i0, %i1}]", {8, 1, 0, 0x02010403});
  const auto stored = fetch_words(texture, "tex.2d.v4.u32.f32", "[%t, {%f0, %f1}]", {5.5f, 1.5f});
  expect("stored", listed(std::vector<uint32_t>{stored[0], stored[1]}), "1 2");
  REQUIRE(cuSurfObjectDestroy(surface));
}

CONFORM(cuArrayGetPlane, planes_go_with_their_array) {
  CUarray array = planar(CU_AD_FORMAT_NV12), plane = nullptr;
  CUarray chroma = plane_of(array, 1);
  expect_code("no such plane", cuArrayGetPlane(&plane, array, 2), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuArrayGetPlane(nullptr, array, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("a plane has none", cuArrayGetPlane(&plane, chroma, 0), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuArrayDestroy(array));
  CUDA_ARRAY_DESCRIPTOR desc{};
  expect_code("gone", cuArrayGetDescriptor(&desc, chroma), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
