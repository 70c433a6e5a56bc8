// The rich one: what a texture is made of and how it is read, by values that kernels fetch. The
// errors are in the second half. Exact values only: recorded samples have their own test
// (tests/programs/texture_record).
#include "conformance/texobject/textures.h"

namespace limen::conform {

namespace {

constexpr auto normalized = CU_TRSF_NORMALIZED_COORDINATES;
constexpr auto as_integer = CU_TRSF_READ_AS_INTEGER;

/// 1, 2, 4, 8 in one row.
struct Row : Texels {
  Row() : Texels(CU_AD_FORMAT_FLOAT, 1, 4) { put<float>({1, 2, 4, 8}); }
};

/// Makes an object by the function under test; 0 where it is refused.
CUtexObject made(std::string_view label, const CUDA_RESOURCE_DESC& resource,
                 const CUDA_TEXTURE_DESC& how, const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
  CUtexObject object = 0;
  expect_code(label, cuTexObjectCreate(&object, &resource, &how, view), CUDA_SUCCESS);
  return object;
}

/// The first channels at several places of a row.
std::string along(CUtexObject texture, const Floats& places) {
  Floats values;
  for (float x : places) values.push_back(fetch_1d(texture, x));
  return listed(values);
}
std::string numbers(const Floats& values) { return listed(values); }

void refuse(std::string_view label, const CUDA_RESOURCE_DESC& resource,
            const CUDA_TEXTURE_DESC& how = sampler(), const CUDA_RESOURCE_VIEW_DESC* view = nullptr,
            CUresult code = CUDA_ERROR_INVALID_VALUE) {
  CUtexObject object = 77;
  expect_code(label, cuTexObjectCreate(&object, &resource, &how, view), code);
}

/// What an H200 takes though nobody should ask for it.
void taken(std::string_view label, const CUDA_RESOURCE_DESC& resource,
           const CUDA_TEXTURE_DESC& how = sampler(),
           const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
  refuse(label, resource, how, view, CUDA_SUCCESS);
}

}  // namespace

CONFORM(cuTexObjectCreate, points_of_a_row) {
  Row row;
  CUtexObject texture = made("made", array_resource(row), sampler());
  expect("texels", along(texture, {0.5f, 1.5f, 2.5f, 3.5f}), numbers({1, 2, 4, 8}));
  expect("anywhere in a texel", along(texture, {1.0f, 1.25f, 1.96875f}), numbers({2, 2, 2}));
  expect("clamped", along(texture, {-3.0f, 4.0f, 100.0f}), numbers({1, 8, 8}));
}

CONFORM(cuTexObjectCreate, linear_filter) {
  Row row;
  CUtexObject texture = made("made", array_resource(row),
                             sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  expect("centres", along(texture, {0.5f, 1.5f, 3.5f}), numbers({1, 2, 8}));
  expect("between", along(texture, {1.0f, 2.0f, 2.75f}), numbers({1.5f, 3, 5}));
  expect("beyond", along(texture, {0.0f, 4.0f}), numbers({1, 8}));
}

CONFORM(cuTexObjectCreate, border) {
  Row row;
  CUDA_TEXTURE_DESC how = sampler(CU_TR_ADDRESS_MODE_BORDER);
  how.borderColor[0] = 16;
  CUtexObject texture = made("made", array_resource(row), how);
  expect("points", along(texture, {-0.5f, 0.5f, 3.5f, 4.5f}), numbers({16, 1, 8, 16}));
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.borderColor[0] = 3;
  Texels plane(CU_AD_FORMAT_FLOAT, 1, 2, 2);
  plane.put<float>({1, 2, 4, 8});
  texture = made("of a plane", array_resource(plane), how);
  expect("half at the left edge", fetch_2d(texture, 0, 0.5f), 2.0f);
  expect("half at the upper edge", fetch_2d(texture, 1.5f, 0), 2.5f);
}

CONFORM(cuTexObjectCreate, normalized_coordinates) {
  Row row;
  CUtexObject texture =
      made("clamped", array_resource(row),
           sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, normalized));
  expect("clamp", along(texture, {0.125f, 0.375f, 0.875f, 1.5f, -1.0f}), numbers({1, 2, 8, 8, 1}));
  texture = made("wrapped", array_resource(row),
                 sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT, normalized));
  expect("wrap", along(texture, {1.125f, 1.375f, -0.125f, 7.625f}), numbers({1, 2, 8, 4}));
  texture = made("mirrored", array_resource(row),
                 sampler(CU_TR_ADDRESS_MODE_MIRROR, CU_TR_FILTER_MODE_POINT, normalized));
  expect("mirror", along(texture, {1.125f, 1.375f, -0.125f, -0.625f}), numbers({8, 4, 1, 4}));
  texture = made("wrapped and filtered", array_resource(row),
                 sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR, normalized));
  expect("wrap and filter", along(texture, {0.0f, 0.25f, 1.0f}), numbers({4.5f, 1.5f, 4.5f}));
}

// Without normalized coordinates wrap and mirror are clamp.
CONFORM(cuTexObjectCreate, periodic_modes_need_normalized_coordinates) {
  Row row;
  CUtexObject wrap = made("wrap", array_resource(row), sampler(CU_TR_ADDRESS_MODE_WRAP));
  expect("as clamp", along(wrap, {-0.5f, 4.5f}), numbers({1, 8}));
  CUtexObject mirror = made("mirror", array_resource(row), sampler(CU_TR_ADDRESS_MODE_MIRROR));
  expect("as clamp too", along(mirror, {-0.5f, 4.5f}), numbers({1, 8}));
}

CONFORM(cuTexObjectCreate, modes_by_axis) {
  Texels plane(CU_AD_FORMAT_FLOAT, 1, 2, 2);
  plane.put<float>({1, 2, 4, 8});
  CUDA_TEXTURE_DESC how = sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, normalized);
  how.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
  CUtexObject texture = made("made", array_resource(plane), how);
  expect("x is clamped", fetch_2d(texture, 1.25f, 0.25f), 2.0f);
  expect("y wraps", fetch_2d(texture, 0.25f, 1.25f), 1.0f);
  expect("both", fetch_2d(texture, 1.25f, -0.25f), 8.0f);
}

CONFORM(cuTexObjectCreate, planes_and_boxes) {
  Texels plane(CU_AD_FORMAT_FLOAT, 1, 3, 2);
  plane.put<float>({1, 2, 3, 4, 5, 6});
  auto linear = sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR);
  CUtexObject texture = made("plane", array_resource(plane), linear);
  expect("a texel", fetch_2d(texture, 2.5f, 1.5f), 6.0f);
  expect("between four", fetch_2d(texture, 1, 1), 3.0f);
  Texels box(CU_AD_FORMAT_FLOAT, 1, 2, 2, 2);
  box.put<float>({0, 8, 16, 24, 32, 40, 48, 56});
  texture = made("box", array_resource(box), linear);
  auto at = [&](float x, float y, float z) {
    return fetch_floats(texture, "tex.3d.v4.f32.f32", "[%t, {%f0, %f1, %f2, %f3}]", {x, y, z})[0];
  };
  expect("a texel of the box", at(1.5f, 0.5f, 1.5f), 40.0f);
  expect("between eight", at(1, 1, 1), 28.0f);
}

CONFORM(cuTexObjectCreate, layers_and_faces) {
  Texels layers(CU_AD_FORMAT_FLOAT, 1, 2, 2, 3, CUDA_ARRAY3D_LAYERED);
  layers.put<float>({1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24});
  CUtexObject texture = made("layers", array_resource(layers), sampler());
  auto layer = [&](int number) {
    return fetch_floats(texture, "tex.a2d.v4.f32.f32", "[%t, {%i0, %f0, %f1, %f1}]", {1.5f, 0.5f},
                        {number})[0];
  };
  expect("second", layer(1), 12.0f);
  expect("beyond the last", layer(7), 22.0f);
  Texels rows(CU_AD_FORMAT_FLOAT, 1, 2, 0, 2, CUDA_ARRAY3D_LAYERED);
  rows.put<float>({1, 2, 11, 12});
  texture = made("rows", array_resource(rows), sampler());
  expect("second row",
         fetch_floats(texture, "tex.a1d.v4.f32.f32", "[%t, {%i0, %f0}]", {1.5f}, {1})[0], 12.0f);
  Texels cube(CU_AD_FORMAT_FLOAT, 1, 1, 1, 6, CUDA_ARRAY3D_CUBEMAP);
  cube.put<float>({1, 2, 3, 4, 5, 6});
  texture = made("cube", array_resource(cube), sampler());
  auto face = [&](float x, float y, float z) {
    return fetch_floats(texture, "tex.cube.v4.f32.f32", "[%t, {%f0, %f1, %f2, %f3}]", {x, y, z})[0];
  };
  expect("faces",
         numbers({face(1, 0, 0), face(-1, 0, 0), face(0, 1, 0), face(0, -1, 0), face(0, 0, 1),
                  face(0, 0, -1)}),
         numbers({1, 2, 3, 4, 5, 6}));
}

CONFORM(cuTexObjectCreate, integers_as_fractions) {
  auto read = [](std::string_view label, CUarray_format format, auto values) {
    using T = typename decltype(values)::value_type;
    Texels row(format, 1, values.size());
    row.put(values);
    CUtexObject texture = made(label, array_resource(row), sampler());
    Floats got;
    for (size_t i = 0; i < values.size(); ++i)
      got.push_back(fetch_1d(texture, static_cast<float>(i) + 0.5f));
    static_assert(sizeof(T) <= 2);
    return listed(got);
  };
  expect("u8 values", read("u8", CU_AD_FORMAT_UNSIGNED_INT8, std::vector<uint8_t>{0, 51, 255}),
         numbers({0, 51 / 255.0f, 1}));
  expect("s8 values", read("s8", CU_AD_FORMAT_SIGNED_INT8, std::vector<int8_t>{-128, -127, 0, 127}),
         numbers({-1, -1, 0, 1}));
  expect("u16 values", read("u16", CU_AD_FORMAT_UNSIGNED_INT16, std::vector<uint16_t>{0, 65535}),
         numbers({0, 1}));
  expect("s16 values",
         read("s16", CU_AD_FORMAT_SIGNED_INT16, std::vector<int16_t>{-32768, 0, 32767}),
         numbers({-1, 0, 1}));
  expect("halves", read("f16", CU_AD_FORMAT_HALF, std::vector<uint16_t>{0x3c00, 0xc000, 0x3555}),
         numbers({1, -2, 0.333252f}));
}

CONFORM(cuTexObjectCreate, integers_as_they_are) {
  Texels bytes(CU_AD_FORMAT_SIGNED_INT8, 1, 3);
  bytes.put<int8_t>({-128, 5, 127});
  CUtexObject texture =
      made("s8", array_resource(bytes),
           sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, as_integer));
  auto at = [&](float x) {
    return static_cast<int>(fetch_words(texture, "tex.1d.v4.s32.f32", "[%t, {%f0}]", {x})[0]);
  };
  expect("bytes", listed(Ints{at(0.5f), at(1.5f), at(2.5f)}), "-128 5 127");
  Texels words(CU_AD_FORMAT_UNSIGNED_INT32, 1, 2);
  words.put<uint32_t>({7, 0xfffffffe});
  texture = made("u32", array_resource(words),
                 sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, as_integer));
  expect("a word", fetch_words(texture, "tex.1d.v4.u32.f32", "[%t, {%f0}]", {1.5f})[0],
         0xfffffffeu);
  texture = made("u32 without the flag", array_resource(words), sampler());
  expect("the same word", fetch_words(texture, "tex.1d.v4.u32.f32", "[%t, {%f0}]", {1.5f})[0],
         0xfffffffeu);
}

CONFORM(cuTexObjectCreate, channels) {
  Texels four(CU_AD_FORMAT_FLOAT, 4, 2);
  four.put<float>({1, 2, 3, 4, 5, 6, 7, 8});
  CUtexObject texture = made("four", array_resource(four), sampler());
  expect("all", listed(fetch_floats(texture, "tex.1d.v4.f32.f32", "[%t, {%f0}]", {1.5f})),
         numbers({5, 6, 7, 8}));
  Texels two(CU_AD_FORMAT_UNSIGNED_INT8, 2, 2);
  two.put<uint8_t>({0, 255, 255, 0});
  texture = made("two", array_resource(two), sampler());
  expect("the others are 0",
         listed(fetch_floats(texture, "tex.1d.v4.f32.f32", "[%t, {%f0}]", {0.5f})),
         numbers({0, 1, 0, 0}));
}

CONFORM(cuTexObjectCreate, srgb) {
  Texels row(CU_AD_FORMAT_UNSIGNED_INT8, 4, 1);
  row.put<uint8_t>({0, 128, 255, 128});
  CUtexObject texture =
      made("made", array_resource(row),
           sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_SRGB));
  const Floats got = fetch_floats(texture, "tex.1d.v4.f32.f32", "[%t, {%f0}]", {0.5f});
  expect("black", got[0], 0.0f);
  expect_true("half is 0.2158", got[1] > 0.2150f && got[1] < 0.2166f);
  expect("white", got[2], 1.0f);
  expect("the fourth is as it is", got[3], 128 / 255.0f);
}

CONFORM(cuTexObjectCreate, linear_memory) {
  Buffer memory(64);
  write_list<int>(memory, {10, 20, 30, 40, 50});
  CUtexObject texture =
      made("words", linear_resource(memory, CU_AD_FORMAT_SIGNED_INT32, 1, 16),
           sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, as_integer));
  auto at = [&](int i) {
    return static_cast<int>(fetch_words(texture, "tex.1d.v4.s32.s32", "[%t, {%i0}]", {}, {i})[0]);
  };
  expect("values", listed(Ints{at(0), at(3)}), "10 40");
  expect("0 outside", listed(Ints{at(-1), at(4)}), "0 0");
  write<int>(memory.at(4), 21);
  expect("what is there now", at(1), 21);
  texture = made("floats of four", linear_resource(memory, CU_AD_FORMAT_FLOAT, 4, 64), sampler());
  write_list<float>(memory.at(16), {1, 2, 3, 4});
  expect("the second",
         listed(as_floats(fetch_words(texture, "tex.1d.v4.f32.s32", "[%t, {%i0}]", {}, {1}))),
         numbers({1, 2, 3, 4}));
}

CONFORM(cuTexObjectCreate, pitched_memory) {
  Buffer memory(1024);
  write_list<float>(memory, {1, 2, 3});
  write_list<float>(memory.at(32), {4, 5, 6});
  CUtexObject texture = made("made", pitch_resource(memory, CU_AD_FORMAT_FLOAT, 1, 3, 2, 32),
                             sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  expect("a texel", fetch_2d(texture, 2.5f, 1.5f), 6.0f);
  expect("between four", fetch_2d(texture, 1, 1), 3.0f);
  expect("clamped", fetch_2d(texture, 9, 9), 6.0f);
  texture = made("normalized", pitch_resource(memory, CU_AD_FORMAT_FLOAT, 1, 3, 2, 32),
                 sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT, normalized));
  expect("wrapped", fetch_2d(texture, 1.5f, 1.75f), 5.0f);
}

CONFORM(cuTexObjectCreate, levels) {
  Levels levels(8, 8, 4);
  CUDA_TEXTURE_DESC how = sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, normalized);
  CUtexObject texture = made("points", levels.resource(), how);
  auto at = [&](const Floats& places) {
    Floats values;
    for (float level : places) values.push_back(fetch_level(texture, 0.5f, 0.5f, level));
    return listed(values);
  };
  expect("whole levels", at({0, 1, 3}), numbers({100, 200, 400}));
  expect("the nearest", at({0.25f, 0.75f}), numbers({100, 200}));
  expect("beyond", at({-1, 9}), numbers({100, 400}));
  how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  texture = made("linear", levels.resource(), how);
  expect("between", at({0.5f, 2.25f}), numbers({150, 325}));
  how.mipmapLevelBias = 1;
  texture = made("with a bias", levels.resource(), how);
  expect("a level further", at({0.5f, 1}), numbers({250, 300}));
  how.mipmapLevelBias = 0;
  how.minMipmapLevelClamp = 0.5f, how.maxMipmapLevelClamp = 2;
  texture = made("clamped", levels.resource(), how);
  expect("from 0.5 to 2", at({0, 1, 3}), numbers({150, 200, 300}));
}

CONFORM(cuTexObjectCreate, views) {
  Levels levels(8, 8, 4);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = 8;
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 2;
  const auto how = sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, normalized);
  CUtexObject texture = made("two of four levels", levels.resource(), how, &view);
  expect("level 0 is 1", fetch_level(texture, 0.5f, 0.5f, 0), 200.0f);
  expect("level 3 is 2", fetch_level(texture, 0.5f, 0.5f, 3), 300.0f);
  view.format = CU_RES_VIEW_FORMAT_NONE;
  refuse("in their own format", levels.resource(), how, &view);
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.lastMipmapLevel = 9;
  texture = made("more levels than there are", levels.resource(), how, &view);
  expect("level 9 is 3", fetch_level(texture, 0.5f, 0.5f, 9), 400.0f);
  Texels words(CU_AD_FORMAT_UNSIGNED_INT32, 1, 2, 2);
  words.put<float>({1, 2, 3, 4});
  view = {};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = 2, view.height = 2;
  texture = made("words as floats", array_resource(words), sampler(), &view);
  expect("a float", fetch_2d(texture, 1.5f, 1.5f), 4.0f);
  Texels layers(CU_AD_FORMAT_FLOAT, 1, 1, 1, 4, CUDA_ARRAY3D_LAYERED);
  layers.put<float>({1, 2, 3, 4});
  view = {};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = 1, view.height = 1, view.depth = 4;
  view.firstLayer = 2, view.lastLayer = 3;
  texture = made("two of four layers", array_resource(layers), sampler(), &view);
  expect("layer 0 is 2",
         fetch_floats(texture, "tex.a2d.v4.f32.f32", "[%t, {%i0, %f0, %f0, %f0}]", {0.5f}, {0})[0],
         3.0f);
}

CONFORM(cuTexObjectCreate, views_name_every_size) {
  Levels levels(8, 8, 4);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 2;
  refuse("levels without a size", levels.resource(), sampler(), &view);
  Texels layers(CU_AD_FORMAT_FLOAT, 1, 1, 1, 4, CUDA_ARRAY3D_LAYERED);
  view = {};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = 1;
  view.firstLayer = 2, view.lastLayer = 3;
  refuse("layers without a depth", array_resource(layers), sampler(), &view);
  view.depth = 2;
  refuse("the depth of the view", array_resource(layers), sampler(), &view);
}

CONFORM(cuTexObjectCreate, four_texels_of_one_channel) {
  Texels plane(CU_AD_FORMAT_FLOAT, 1, 2, 2, 0, CUDA_ARRAY3D_TEXTURE_GATHER);
  plane.put<float>({1, 2, 3, 4});
  CUtexObject texture = made("made", array_resource(plane), sampler());
  expect("gathered",
         listed(fetch_floats(texture, "tld4.r.2d.v4.f32.f32", "[%t, {%f0, %f1}]", {1, 1})),
         numbers({3, 4, 2, 1}));
}

CONFORM(cuTexObjectCreate, objects_see_later_writes) {
  Row row;
  CUtexObject texture = made("made", array_resource(row), sampler());
  row.put<float>({5, 6, 7, 9});
  expect("the new values", along(texture, {0.5f, 3.5f}), numbers({5, 9}));
}

CONFORM(cuTexObjectCreate, pointers_that_are_null) {
  Row row;
  const auto resource = array_resource(row);
  const auto how = sampler();
  CUtexObject object = 0;
  expect_code("no place", cuTexObjectCreate(nullptr, &resource, &how, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no resource", cuTexObjectCreate(&object, nullptr, &how, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no sampler", cuTexObjectCreate(&object, &resource, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexObjectCreate, arrays_that_are_none) {
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray gone = nullptr;
  CUmipmappedArray gone_levels = nullptr;
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  REQUIRE(cuMipmappedArrayCreate(&gone_levels, &desc, 2));
  REQUIRE(cuMipmappedArrayDestroy(gone_levels));
  auto handle = [](std::string_view label, const CUDA_RESOURCE_DESC& resource) {
    refuse(label, resource, sampler(), nullptr, CUDA_ERROR_INVALID_VALUE);
  };
  handle("null", array_resource(nullptr));
  handle("foreign", array_resource(foreign_handle<CUarray>()));
  handle("destroyed", array_resource(gone));
  CUDA_RESOURCE_DESC levels{};
  levels.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  handle("no levels", levels);
  levels.res.mipmap.hMipmappedArray = foreign_handle<CUmipmappedArray>();
  handle("foreign levels", levels);
  levels.res.mipmap.hMipmappedArray = gone_levels;
  handle("destroyed levels", levels);
}

CONFORM(cuTexObjectCreate, linear_memory_that_cannot_be) {
  constexpr auto format = CU_AD_FORMAT_FLOAT;
  Buffer memory(4 << 20);
  refuse("null", linear_resource(0, format, 1, 64));
  refuse("misaligned", linear_resource(memory.at(4), format, 1, 64));
  refuse("half aligned", linear_resource(memory.at(256), format, 1, 64));
  refuse("three channels", linear_resource(memory, format, 3, 64));
  refuse("no channels", linear_resource(memory, format, 0, 64));
  refuse("format 0", linear_resource(memory, CUarray_format(0), 1, 64));
  // Nothing looks for what memory there is.
  taken("beyond the block", linear_resource(memory, format, 1, (4 << 20) + 4));
  taken("freed", linear_resource(freed_address(), format, 1, 64));
  int most = 0;
  REQUIRE(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 0));
  taken("wider than textures are",
        linear_resource(memory, format, 1, (static_cast<size_t>(most) + 1) * 4));
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = 16;
  taken("a view", linear_resource(memory, format, 1, 64), sampler(), &view);
}

CONFORM(cuTexObjectCreate, a_view_of_linear_memory) {
  Buffer memory(64);
  write_list<float>(memory, {1, 2, 3, 4});
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = 4;
  CUtexObject texture =
      made("made", linear_resource(memory, CU_AD_FORMAT_FLOAT, 1, 16), sampler(), &view);
  expect("the second",
         as_floats(fetch_words(texture, "tex.1d.v4.f32.s32", "[%t, {%i0}]", {}, {1}))[0],
         2.0f);
}

CONFORM(cuTexObjectCreate, pitched_memory_that_cannot_be) {
  constexpr auto format = CU_AD_FORMAT_FLOAT;
  Buffer memory(4 << 20);
  refuse("null", pitch_resource(0, format, 1, 8, 2, 32));
  refuse("misaligned", pitch_resource(memory.at(32), format, 1, 8, 2, 32));
  taken("pitch below the width", pitch_resource(memory, format, 1, 16, 2, 32));
  refuse("pitch of 48 bytes", pitch_resource(memory, format, 1, 8, 2, 48));
  taken("no width", pitch_resource(memory, format, 1, 0, 2, 32));
  taken("no height", pitch_resource(memory, format, 1, 8, 0, 32));
  refuse("three channels", pitch_resource(memory, format, 3, 2, 2, 32));
  taken("beyond the block", pitch_resource(memory, format, 1, 1024, 1025, 4096));
  refuse("wider than textures are", pitch_resource(memory, format, 1, 1 << 20, 1, 4 << 20));
  refuse("higher than textures are", pitch_resource(memory, format, 1, 8, 1 << 20, 32));
  refuse("height that wraps", pitch_resource(memory, format, 1, 8, ~size_t{0}, 32));
}

CONFORM(cuTexObjectCreate, rows_that_overlap) {
  Buffer memory(1024);
  Floats values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  write_list(memory, values);
  CUtexObject texture =
      made("made", pitch_resource(memory, CU_AD_FORMAT_FLOAT, 1, 16, 2, 32), sampler());
  expect("first row", fetch_2d(texture, 15.5f, 0.5f), 15.0f);
  expect("second row", fetch_2d(texture, 15.5f, 1.5f), 23.0f);
}

CONFORM(cuTexObjectCreate, samplers_that_cannot_be) {
  Row row;
  const auto resource = array_resource(row);
  auto with = [&](std::string_view label, auto change) {
    CUDA_TEXTURE_DESC how = sampler();
    change(how);
    refuse(label, resource, how);
  };
  with("mode 4", [](auto& how) { how.addressMode[0] = CUaddress_mode(4); });
  with("mode -1", [](auto& how) { how.addressMode[0] = CUaddress_mode(-1); });
  with("filter 2", [](auto& how) { how.filterMode = CUfilter_mode(2); });
  with("filter of levels 2", [](auto& how) { how.mipmapFilterMode = CUfilter_mode(2); });
  with("unknown flags", [](auto& how) { how.flags = 0x100; });
  Texels words(CU_AD_FORMAT_SIGNED_INT32, 1, 4);
  taken("filtered words", array_resource(words),
        sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  Texels bytes(CU_AD_FORMAT_SIGNED_INT8, 1, 4);
  taken("filtered bytes as integers", array_resource(bytes),
        sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, as_integer));
  CUDA_RESOURCE_DESC flagged = resource;
  flagged.flags = 1;
  refuse("flags of the resource", flagged);
  CUDA_RESOURCE_DESC unknown = resource;
  unknown.resType = CUresourcetype(7);
  refuse("resource type 7", unknown);
}

CONFORM(cuTexObjectCreate, views_that_cannot_be) {
  Levels levels(8, 8, 4);
  Texels plane(CU_AD_FORMAT_FLOAT, 1, 4, 4),
      layers(CU_AD_FORMAT_FLOAT, 1, 4, 4, 3, CUDA_ARRAY3D_LAYERED);
  auto with = [](std::string_view label, const CUDA_RESOURCE_DESC& resource, auto change) {
    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    view.width = view.height = 4;
    change(view);
    refuse(label, resource, sampler(), &view);
  };
  with("texels of another size", array_resource(plane),
       [](auto& view) { view.format = CU_RES_VIEW_FORMAT_FLOAT_2X32; });
  with("another width", array_resource(plane), [](auto& view) { view.width = 5; });
  with("another height", array_resource(plane), [](auto& view) { view.height = 5; });
  with("an unknown format", array_resource(plane),
       [](auto& view) { view.format = CUresourceViewFormat(200); });
  with("a level of an array", array_resource(plane), [](auto& view) { view.lastMipmapLevel = 1; });
  with("a layer too many", array_resource(layers),
       [](auto& view) { view.depth = 3, view.lastLayer = 3; });
  with("layers backwards", array_resource(layers),
       [](auto& view) { view.depth = 3, view.firstLayer = 2, view.lastLayer = 1; });
  auto of_levels = [&](std::string_view label, unsigned first, unsigned last) {
    with(label, levels.resource(), [=](auto& view) {
      view.width = view.height = 8;
      view.firstMipmapLevel = first, view.lastMipmapLevel = last;
    });
  };
  of_levels("levels backwards", 2, 1);
}

CONFORM_WITH(cuTexObjectCreate, needs_a_context, initialised) {
  const auto resource = linear_resource(4096, CU_AD_FORMAT_FLOAT, 1, 64);
  refuse("no context", resource, sampler(), nullptr, CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTexObjectCreate, needs_cuInit, nothing) {
  const auto resource = linear_resource(4096, CU_AD_FORMAT_FLOAT, 1, 64);
  refuse("not initialised", resource, sampler(), nullptr, CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
