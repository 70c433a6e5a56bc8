// A module with a texture and a surface reference, and kernels that read through them. Thread rule:
// as conform.h.
#pragma once
#include "conformance/texobject/textures.h"

namespace limen::conform {

/// `image` is a .texref, `plane` a .surfref. Kernels of one thread: place(out, x, y, level) writes
/// the four results of a fetch.
class References {
 public:
  References() {
    constexpr const char* fetches[][3] = {
        {"row", "tex.1d.v4.f32.f32", "[image, {%f0}]"},
        {"plane_2d", "tex.2d.v4.f32.f32", "[image, {%f0, %f1}]"},
        {"buffer", "tex.1d.v4.f32.s32", "[image, {%i0}]"},
        {"words", "tex.1d.v4.s32.f32", "[image, {%f0}]"},
        {"surface", "suld.b.1d.v4.b32.trap", "[plane, {%i0}]"},
        // Last: NVIDIA's compiler (13.0) crashes where a kernel with references follows one that
        // fetches from a level.
        {"level", "tex.level.2d.v4.f32.f32", "[image, {%f0, %f1}], %f2"},
    };
    std::string text =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".global .texref image;\n.global .texref other;\n.global .surfref plane;\n";
    for (const auto& [name, op, where] : fetches)
      text += std::string(".visible .entry ") + name +
              "(.param .u64 out, .param .f32 x, .param .f32 y, .param .f32 level) {\n"
              "  .reg .b64 %o;\n  .reg .b32 %d<4>, %i0;\n  .reg .f32 %f<3>;\n"
              "  ld.param.u64 %o, [out];\n  ld.param.f32 %f0, [x];\n"
              "  ld.param.f32 %f1, [y];\n  ld.param.f32 %f2, [level];\n"
              "  cvt.rzi.s32.f32 %i0, %f0;\n  " +
              op + " {%d0, %d1, %d2, %d3}, " + where +
              ";\n  st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3};\n  ret;\n}\n";
    REQUIRE(cuModuleLoadData(&module_, text.c_str()));
    REQUIRE(cuModuleGetTexRef(&image, module_, "image"));
    REQUIRE(cuModuleGetSurfRef(&plane, module_, "plane"));
  }

  /// Launches without waiting.
  void start(const char* name, CUdeviceptr out, float x, float y, float level, CUstream stream) {
    CUfunction kernel = nullptr;
    REQUIRE(cuModuleGetFunction(&kernel, module_, name));
    REQUIRE(launch(kernel, 1, 1, stream, out, x, y, level));
  }
  std::vector<uint32_t> fetch(const char* name, float x, float y = 0, float level = 0) {
    Buffer out(16);
    start(name, out, x, y, level, nullptr);
    return read_list<uint32_t>(out, 4);
  }
  float row(float x) { return as_floats(fetch("row", x))[0]; }
  float at(float x, float y) { return as_floats(fetch("plane_2d", x, y))[0]; }
  float level(float lod) { return as_floats(fetch("level", 0.5f, 0.5f, lod))[0]; }
  float buffer(int i) { return as_floats(fetch("buffer", static_cast<float>(i)))[0]; }
  std::string row(const Floats& places) {
    Floats values;
    for (float x : places) values.push_back(row(x));
    return listed(values);
  }
  void bind(CUarray array) { REQUIRE(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT)); }
  CUmodule module() const { return module_; }

  CUtexref image = nullptr;
  CUsurfref plane = nullptr;

 private:
  CUmodule module_ = nullptr;
};

/// 1, 2, 4, 8 in one row.
struct Row : Texels {
  Row() : Texels(CU_AD_FORMAT_FLOAT, 1, 4, 0, 0, CUDA_ARRAY3D_SURFACE_LDST) {
    put<float>({1, 2, 4, 8});
  }
};

/// A reference that no module has.
inline CUtexref made_reference() {
  CUtexref reference = nullptr;
  REQUIRE(cuTexRefCreate(&reference));
  return reference;
}

/// A reference that was destroyed.
inline CUtexref destroyed_reference() {
  CUtexref reference = made_reference();
  REQUIRE(cuTexRefDestroy(reference));
  return reference;
}

/// Handles that are no texture references; `call` takes one. The handle is looked at before all
/// else. NVIDIA's driver reads what was destroyed.
template <typename Call>
void refuse_wrong_references(Call call) {
  References references;
  expect_code("null", call(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", call(foreign_handle<CUtexref>()), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("destroyed", call(destroyed_reference()), CUDA_ERROR_INVALID_HANDLE);
  expect_code("a surface reference", call(reinterpret_cast<CUtexref>(references.plane)),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUtexref image = references.image;
  REQUIRE(cuModuleUnload(references.module()));
  expect_code("of a module that was unloaded", call(image), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
