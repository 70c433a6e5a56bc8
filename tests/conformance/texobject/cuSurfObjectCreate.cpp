#include "conformance/texobject/textures.h"

namespace limen::conform {

namespace {

constexpr unsigned for_surfaces = CUDA_ARRAY3D_SURFACE_LDST;

CUsurfObject made(std::string_view label, CUarray array) {
  const auto resource = array_resource(array);
  CUsurfObject surface = 0;
  expect_code(label, cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS);
  return surface;
}

}  // namespace

// x counts bytes.
CONFORM(cuSurfObjectCreate, reads_and_writes) {
  Texels plane(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 2, 0, for_surfaces);
  plane.put<uint32_t>({1, 2, 3, 4, 5, 6});
  CUsurfObject surface = made("made", plane);
  const std::string where = "[%t, {%i0, %i1}]";
  expect("a texel", surface_read(surface, "suld.b.2d.b32.trap", where, {8, 1}), 6u);
  surface_write(surface, "sust.b.2d.b32.trap", where, {4, 1, 0, 55});
  expect("the plane", listed(plane.get<uint32_t>(6)), "1 2 3 4 55 6");
  expect("read back", surface_read(surface, "suld.b.2d.b32.trap", where, {4, 1}), 55u);
}

CONFORM(cuSurfObjectCreate, outside) {
  Texels plane(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 2, 0, for_surfaces);
  plane.put<uint32_t>({1, 2, 3, 4, 5, 6});
  CUsurfObject surface = made("made", plane);
  const std::string where = "[%t, {%i0, %i1}]";
  expect("zero", surface_read(surface, "suld.b.2d.b32.zero", where, {12, 0}), 0u);
  expect("clamped", surface_read(surface, "suld.b.2d.b32.clamp", where, {400, 9}), 6u);
  surface_write(surface, "sust.b.2d.b32.zero", where, {-4, 0, 0, 99});
  expect("not stored", listed(plane.get<uint32_t>(6)), "1 2 3 4 5 6");
  surface_write(surface, "sust.b.2d.b32.clamp", where, {-4, 5, 0, 99});
  expect("stored at the edge", listed(plane.get<uint32_t>(6)), "1 2 3 99 5 6");
}

CONFORM(cuSurfObjectCreate, every_shape) {
  Texels row(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 0, 0, for_surfaces);
  row.put<uint32_t>({1, 2, 3});
  expect("row", surface_read(made("1D", row), "suld.b.1d.b32.trap", "[%t, {%i0}]", {8}), 3u);
  Texels box(CU_AD_FORMAT_UNSIGNED_INT32, 1, 2, 2, 2, for_surfaces);
  box.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8});
  expect(
      "box",
      surface_read(made("3D", box), "suld.b.3d.b32.trap", "[%t, {%i0, %i1, %i2, %i2}]", {4, 0, 1}),
      6u);
  Texels layers(CU_AD_FORMAT_UNSIGNED_INT32, 1, 2, 2, 3, for_surfaces | CUDA_ARRAY3D_LAYERED);
  layers.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CUsurfObject surface = made("layers", layers);
  expect("layer",
         surface_read(surface, "suld.b.a2d.b32.trap", "[%t, {%i0, %i1, %i2, %i2}]", {2, 4, 1}),
         12u);
  surface_write(surface, "sust.b.a2d.b32.trap", "[%t, {%i0, %i1, %i2, %i2}]", {1, 0, 0, 77});
  expect("stored", listed(layers.get<uint32_t>(12)), "1 2 3 4 77 6 7 8 9 10 11 12");
}

CONFORM(cuSurfObjectCreate, a_level) {
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, for_surfaces};
  CUmipmappedArray levels = nullptr;
  CUarray level = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&levels, &desc, 2));
  REQUIRE(cuMipmappedArrayGetLevel(&level, levels, 1));
  CUsurfObject surface = made("made", level);
  surface_write(surface, "sust.b.2d.b32.trap", "[%t, {%i0, %i1}]", {4, 1, 0, 5});
  expect("read back", surface_read(surface, "suld.b.2d.b32.trap", "[%t, {%i0, %i1}]", {4, 1}), 5u);
  expect("its size", surface_read(surface, "suld.b.2d.b32.zero", "[%t, {%i0, %i1}]", {8, 0}), 0u);
}

CONFORM(cuSurfObjectCreate, without_the_flag_of_the_array) {
  Texels row(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3);
  row.put<uint32_t>({1, 2, 3});
  expect("reads", surface_read(made("made", row), "suld.b.1d.b32.trap", "[%t, {%i0}]", {4}), 2u);
}

CONFORM(cuSurfObjectCreate, what_a_texture_then_sees) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 2, 0, 0, for_surfaces);
  row.put<float>({1, 2});
  CUsurfObject surface = made("made", row);
  TextureObject texture(array_resource(row), sampler());
  surface_write(surface, "sust.b.1d.b32.trap", "[%t, {%i0}]", {4, 0, 0, 0x40a00000});
  expect("the value", fetch_1d(texture, 1.5f), 5.0f);
}

CONFORM(cuSurfObjectCreate, arguments_that_cannot_be) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 2, 0, 0, for_surfaces);
  Buffer memory(1024);
  CUsurfObject surface = 0;
  auto resource = array_resource(row);
  expect_code("nowhere", cuSurfObjectCreate(nullptr, &resource), CUDA_ERROR_INVALID_VALUE);
  expect_code("no resource", cuSurfObjectCreate(&surface, nullptr), CUDA_ERROR_INVALID_VALUE);
  resource.flags = 1;
  expect_code("flags", cuSurfObjectCreate(&surface, &resource),
              CUDA_ERROR_INVALID_VALUE);
  auto refused = [&](std::string_view label, const CUDA_RESOURCE_DESC& wrong, CUresult code) {
    expect_code(label, cuSurfObjectCreate(&surface, &wrong), code);
  };
  refused("linear memory", linear_resource(memory, CU_AD_FORMAT_FLOAT, 1, 64),
          CUDA_ERROR_INVALID_VALUE);
  refused("pitched memory", pitch_resource(memory, CU_AD_FORMAT_FLOAT, 1, 8, 2, 32),
          CUDA_ERROR_INVALID_VALUE);
  Levels levels(4, 4, 2);
  refused("levels", levels.resource(), CUDA_ERROR_INVALID_VALUE);
  refused("no array", array_resource(nullptr), CUDA_ERROR_INVALID_VALUE);
  refused("a foreign array", array_resource(foreign_handle<CUarray>()), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuSurfObjectCreate, needs_a_context, initialised) {
  const auto resource = array_resource(foreign_handle<CUarray>());
  CUsurfObject surface = 0;
  expect_code("no context", cuSurfObjectCreate(&surface, &resource), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuSurfObjectCreate, needs_cuInit, nothing) {
  const auto resource = array_resource(foreign_handle<CUarray>());
  CUsurfObject surface = 0;
  expect_code("not initialised", cuSurfObjectCreate(&surface, &resource),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
