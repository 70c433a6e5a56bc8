// Textures and surfaces as kernels see them. A kernel is made for one instruction: `where` is its
// address operand, which may use %t (the object), %f0 to %f3 and %i0 to %i3, the numbers handed
// over; what follows it (a level, gradients, a value to store) goes along. Thread rule: as
// conform.h.
#pragma once
#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

namespace texture_detail {

inline std::string kernel_text(const std::string& body) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u64 out, .param .u64 object, .param .align 16 .b8 f[16],\n"
         "                  .param .align 16 .b8 i[16]) {\n"
         "  .reg .b64 %o, %t;\n  .reg .b32 %d<4>, %i<4>;\n  .reg .f32 %f<4>;\n"
         "  ld.param.u64 %o, [out];\n  ld.param.u64 %t, [object];\n"
         "  ld.param.v4.f32 {%f0, %f1, %f2, %f3}, [f];\n"
         "  ld.param.v4.u32 {%i0, %i1, %i2, %i3}, [i];\n"
         "  mov.u32 %d0, 0;\n  mov.u32 %d1, 0;\n  mov.u32 %d2, 0;\n  mov.u32 %d3, 0;\n" +
         body + "  st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3};\n  ret;\n}\n";
}

/// The numbers of a kernel of one thread.
struct Numbers {
  float floats[4] = {};
  int ints[4] = {};
};

inline std::vector<uint32_t> run(const std::string& body, uint64_t object, Numbers numbers) {
  Buffer out(16);
  CUfunction kernel = load_kernel(kernel_text(body).c_str(), "k");
  CUdeviceptr address = out;
  void* arguments[] = {&address, &object, numbers.floats, numbers.ints};
  REQUIRE(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  return read_list<uint32_t>(out, 4);
}

}  // namespace texture_detail

using Floats = std::vector<float>;
using Ints = std::vector<int>;

inline texture_detail::Numbers numbers_of(const Floats& floats, const Ints& ints) {
  texture_detail::Numbers numbers;
  for (size_t i = 0; i < floats.size(); ++i) numbers.floats[i] = floats[i];
  for (size_t i = 0; i < ints.size(); ++i) numbers.ints[i] = ints[i];
  return numbers;
}

/// The four results of `op` (say, tex.2d.v4.f32.f32) as they are.
inline std::vector<uint32_t> fetch_words(CUtexObject texture, const std::string& op,
                                         const std::string& where, const Floats& floats,
                                         const Ints& ints = {}) {
  return texture_detail::run("  " + op + " {%d0, %d1, %d2, %d3}, " + where + ";\n", texture,
                             numbers_of(floats, ints));
}

inline Floats as_floats(const std::vector<uint32_t>& words) {
  Floats values(words.size());
  std::memcpy(values.data(), words.data(), words.size() * 4);
  return values;
}

inline Floats fetch_floats(CUtexObject texture, const std::string& op, const std::string& where,
                           const Floats& floats, const Ints& ints = {}) {
  return as_floats(fetch_words(texture, op, where, floats, ints));
}

/// The first channel at a place of a 1D or 2D texture.
inline float fetch_1d(CUtexObject texture, float x) {
  return fetch_floats(texture, "tex.1d.v4.f32.f32", "[%t, {%f0}]", {x})[0];
}
inline float fetch_2d(CUtexObject texture, float x, float y) {
  return fetch_floats(texture, "tex.2d.v4.f32.f32", "[%t, {%f0, %f1}]", {x, y})[0];
}
/// The same of a mipmapped texture, at a level.
inline float fetch_level(CUtexObject texture, float x, float y, float level) {
  return fetch_floats(texture, "tex.level.2d.v4.f32.f32", "[%t, {%f0, %f1}], %f2",
                      {x, y, level})[0];
}

/// A surface instruction: `suld.b.2d.b32.trap` reads into %d0, `sust...` writes %i3.
inline uint32_t surface_read(CUsurfObject surface, const std::string& op, const std::string& where,
                             const Ints& ints) {
  return texture_detail::run("  " + op + " %d0, " + where + ";\n", surface,
                             numbers_of({}, ints))[0];
}
inline void surface_write(CUsurfObject surface, const std::string& op, const std::string& where,
                          const Ints& ints) {
  texture_detail::run("  " + op + " " + where + ", %i3;\n", surface, numbers_of({}, ints));
}

inline CUDA_RESOURCE_DESC array_resource(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

inline CUDA_RESOURCE_DESC linear_resource(CUdeviceptr address, CUarray_format format,
                                          unsigned channels, size_t bytes) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {address, format, channels, bytes};
  return resource;
}

inline CUDA_RESOURCE_DESC pitch_resource(CUdeviceptr address, CUarray_format format,
                                         unsigned channels, size_t width, size_t height,
                                         size_t pitch) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {address, format, channels, width, height, pitch};
  return resource;
}

inline CUDA_TEXTURE_DESC sampler(CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP,
                                 CUfilter_mode filter = CU_TR_FILTER_MODE_POINT,
                                 unsigned flags = 0) {
  CUDA_TEXTURE_DESC desc{};
  for (CUaddress_mode& one : desc.addressMode) one = mode;
  desc.filterMode = filter;
  desc.mipmapFilterMode = CU_TR_FILTER_MODE_POINT;
  desc.maxMipmapLevelClamp = 15;
  desc.flags = flags;
  return desc;
}

/// A texture object for the length of a scope.
class TextureObject {
 public:
  TextureObject(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& how,
                const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    REQUIRE(cuTexObjectCreate(&object_, &resource, &how, view));
  }
  ~TextureObject() { cuTexObjectDestroy(object_); }
  TextureObject(const TextureObject&) = delete;
  TextureObject& operator=(const TextureObject&) = delete;
  operator CUtexObject() const { return object_; }

 private:
  CUtexObject object_ = 0;
};

/// A mipmapped array of floats whose level i is 100 * (i + 1) everywhere.
class Levels {
 public:
  Levels(size_t width, size_t height, unsigned count) {
    const CUDA_ARRAY3D_DESCRIPTOR desc{width, height, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    REQUIRE(cuMipmappedArrayCreate(&array_, &desc, count));
    for (unsigned i = 0; i < count; ++i) {
      CUarray level = nullptr;
      REQUIRE(cuMipmappedArrayGetLevel(&level, array_, i));
      const size_t w = std::max<size_t>(width >> i, 1), h = std::max<size_t>(height >> i, 1);
      const Floats values(w * h, 100.0f * static_cast<float>(i + 1));
      CUDA_MEMCPY3D copy{};
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = values.data();
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = level;
      copy.WidthInBytes = w * 4;
      copy.Height = h;
      copy.Depth = 1;
      REQUIRE(cuMemcpy3D(&copy));
    }
  }
  ~Levels() { cuMipmappedArrayDestroy(array_); }
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;
  operator CUmipmappedArray() const { return array_; }
  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC desc{};
    desc.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    desc.res.mipmap.hMipmappedArray = array_;
    return desc;
  }

 private:
  CUmipmappedArray array_ = nullptr;
};

}  // namespace limen::conform
