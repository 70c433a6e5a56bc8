// See texture.h. What a texture may be is checked here, so that the engine need not.
#include "drivers/cpu/texture/texture.h"

#include <algorithm>

#include <fmt/format.h>

#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/pointer.h"
#include "engine/texture_service.h"

namespace limen::cpu {

namespace {

using engine::Texture;

void take_texels(const TexelLayout& texels, Texture* out) {
  out->format = texels.format;
  out->channels = texels.channels;
}

CUresult from_array(const Array& array, Texture* out) {
  take_texels(array.texels, out);
  out->levels[0] = array.image;
  out->layered = array.layered();
  out->dims = array.desc.Height == 0 ? 1 : array.desc.Depth == 0 || array.layered() ? 2 : 3;
  out->cube = array.cube();
  return CUDA_SUCCESS;
}

CUresult from_linear(const CUDA_RESOURCE_DESC& resource, const Device& device, Texture* out,
                     TexelLayout* texels) {
  const auto& linear = resource.res.linear;
  if (CUresult result = layout_of(linear.format, linear.numChannels, texels)) return result;
  // Less than a texel is taken too (measured on an H200): one texel is then there.
  const uint64_t width = linear.sizeInBytes < texels->bytes()
                             ? linear.sizeInBytes != 0
                             : linear.sizeInBytes / texels->bytes();
  if (linear.devPtr % texels->bytes()) return CUDA_ERROR_INVALID_VALUE;
  if (width >
      static_cast<uint64_t>(device.limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)))
    return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  const uint64_t bytes = std::max<uint64_t>(linear.sizeInBytes, 1);
  if (CUresult result = check_range(linear.devPtr, bytes, true, Use::read, &info)) return result;
  take_texels(*texels, out);
  out->buffer = true;
  out->dims = 1;
  out->levels[0] = {
      linear.devPtr, linear.sizeInBytes, linear.sizeInBytes, static_cast<uint32_t>(width), 1, 1};
  return CUDA_SUCCESS;
}

CUresult from_pitch(const CUDA_RESOURCE_DESC& resource, const Device& device, Texture* out,
                    TexelLayout* texels) {
  const auto& p = resource.res.pitch2D;
  if (CUresult result = layout_of(p.format, p.numChannels, texels)) return result;
  auto most = [&](CUdevice_attribute a) { return static_cast<uint64_t>(device.limit(a)); };
  if (p.devPtr % texels->bytes()) return CUDA_ERROR_INVALID_VALUE;
  if (p.width > most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
      p.height > most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
      p.pitchInBytes > most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
    return CUDA_ERROR_INVALID_VALUE;
  // Nothing to read is no error, nor are rows that overlap (measured on an H200): one texel is then
  // there, as in linear memory.
  const uint64_t width = std::max<uint64_t>(p.width, 1), height = std::max<uint64_t>(p.height, 1);
  const uint64_t row = width * texels->bytes();
  if (height > 1 && p.pitchInBytes % most(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT))
    return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  const uint64_t bytes = (height - 1) * p.pitchInBytes + row;
  if (CUresult result = check_range(p.devPtr, bytes, true, Use::read, &info)) return result;
  take_texels(*texels, out);
  out->levels[0] = {
      p.devPtr, p.pitchInBytes, bytes, static_cast<uint32_t>(width), static_cast<uint32_t>(height),
      1};
  return CUDA_SUCCESS;
}

CUresult from_mipmapped(const MipmappedArray& mipmapped, Texture* out) {
  if (CUresult result = from_array(*mipmapped.levels[0], out)) return result;
  out->level_count =
      std::min<uint32_t>(static_cast<uint32_t>(mipmapped.levels.size()), Texture::most_levels);
  for (uint32_t i = 0; i < out->level_count; ++i) out->levels[i] = mipmapped.levels[i]->image;
  return CUDA_SUCCESS;
}

/// Formats of a view in the order of CUresourceViewFormat: 1, 2 and 4 channels of each.
constexpr CUarray_format view_formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                           CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                           CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                           CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

/// Another format of the same size, and a range of levels and layers.
CUresult apply_view(const CUDA_RESOURCE_VIEW_DESC& view, bool mipmapped, Texture* out,
                    TexelLayout* texels) {
  // A view of an array names its format. measured H200, driver 580.159.04
  if (view.format <= CU_RES_VIEW_FORMAT_NONE || view.format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7)
    return CUDA_ERROR_INVALID_VALUE;
  if (view.format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1)
    return report(
        {Code::not_supported,
         fmt::format("resource view format {} is not built yet", static_cast<int>(view.format)),
         ""});
  const unsigned n = static_cast<unsigned>(view.format) - 1;
  TexelLayout other;
  if (CUresult result = layout_of(view_formats[n / 3], 1u << n % 3, &other)) return result;
  if (other.bytes() != texels->bytes()) return CUDA_ERROR_INVALID_VALUE;
  *texels = other;
  take_texels(other, out);
  // The sizes are the array's in any case, a layered one's depth its layers. measured H200, driver
  // 580.159.04
  const engine::Image& top = out->levels[0];
  auto same = [](size_t asked, uint32_t has) { return asked == has || (asked == 0 && has == 1); };
  if (!same(view.width, top.width) || !same(view.height, top.height) ||
      !same(view.depth, top.depth))
    return CUDA_ERROR_INVALID_VALUE;
  if (view.firstMipmapLevel > view.lastMipmapLevel) return CUDA_ERROR_INVALID_VALUE;
  // Levels that a mipmapped array lacks are left out (H200); an array has one.
  const uint32_t last_level = std::min(view.lastMipmapLevel, out->level_count - 1);
  if (view.firstMipmapLevel > last_level || (!mipmapped && view.lastMipmapLevel > last_level))
    return CUDA_ERROR_INVALID_VALUE;
  out->level_count = last_level - view.firstMipmapLevel + 1;
  std::copy(out->levels + view.firstMipmapLevel, out->levels + last_level + 1, out->levels);
  if (!out->layered) return CUDA_SUCCESS;
  if (view.firstLayer > view.lastLayer || view.lastLayer >= out->levels[0].depth)
    return CUDA_ERROR_INVALID_VALUE;
  if (out->cube && out->levels[0].depth == 6 && !view.lastLayer) return CUDA_SUCCESS;
  if (out->cube && (view.firstLayer % 6 || (view.lastLayer + 1) % 6))
    return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < out->level_count; ++i) {
    out->levels[i].base += view.firstLayer * out->levels[i].slice;
    out->levels[i].first_slice += view.firstLayer;
    out->levels[i].depth = view.lastLayer - view.firstLayer + 1;
  }
  return CUDA_SUCCESS;
}

/// A view of memory that is no array: its format may be named again.
CUresult check_view_of_memory(const CUDA_RESOURCE_VIEW_DESC& view, const TexelLayout& texels) {
  if (view.format == CU_RES_VIEW_FORMAT_NONE) return CUDA_SUCCESS;
  if (view.format < CU_RES_VIEW_FORMAT_NONE || view.format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1)
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned n = static_cast<unsigned>(view.format) - 1;
  TexelLayout named;
  if (CUresult result = layout_of(view_formats[n / 3], 1u << n % 3, &named)) return result;
  return named.format == texels.format && named.channels == texels.channels
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult take_sampler(const CUDA_TEXTURE_DESC& how, const TexelLayout& texels, Texture* out) {
  constexpr unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                             CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                             CU_TRSF_SEAMLESS_CUBEMAP;
  if (how.flags & ~known) return CUDA_ERROR_INVALID_VALUE;
  const bool is_float =
      texels.format == engine::TexelFormat::f16 || texels.format == engine::TexelFormat::f32;
  out->reads_integer = (how.flags & CU_TRSF_READ_AS_INTEGER) && !is_float && !texels.normalized;
  out->normalized = how.flags & CU_TRSF_NORMALIZED_COORDINATES;
  out->srgb =
      (how.flags & CU_TRSF_SRGB) && texels.format == engine::TexelFormat::u8 && !out->reads_integer;
  out->seamless = how.flags & CU_TRSF_SEAMLESS_CUBEMAP;
  out->linear = how.filterMode == CU_TR_FILTER_MODE_LINEAR;
  out->mip_linear = how.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  if (!out->linear && how.filterMode != CU_TR_FILTER_MODE_POINT) return CUDA_ERROR_INVALID_VALUE;
  if (!out->mip_linear && how.mipmapFilterMode != CU_TR_FILTER_MODE_POINT)
    return CUDA_ERROR_INVALID_VALUE;
  // source: CUDA Driver API 13.0, cuTexObjectCreate: linear filtering needs values read as floats.
  if (out->integer() && out->linear) return CUDA_ERROR_INVALID_VALUE;
  out->anisotropic = how.maxAnisotropy > 1;
  for (int i = 0; i < 3; ++i) {
    if (how.addressMode[i] < CU_TR_ADDRESS_MODE_WRAP ||
        how.addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
      return CUDA_ERROR_INVALID_VALUE;
    out->address[i] = static_cast<engine::AddressMode>(how.addressMode[i]);
  }
  std::copy(how.borderColor, how.borderColor + 4, out->border);
  out->lod_bias = how.mipmapLevelBias;
  out->lod_min = how.minMipmapLevelClamp;
  out->lod_max = how.maxMipmapLevelClamp;
  engine::fit_border(out);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult make_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& how,
                      const CUDA_RESOURCE_VIEW_DESC* view, Texture* out) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (resource.flags) return CUDA_ERROR_INVALID_VALUE;
  *out = {};
  out->kind = Texture::Kind::texture;
  TexelLayout texels;
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      // No array is a wrong value, not a wrong handle. measured H200, driver 580.159.04
      const Array* array = texels_of(resource.res.array.hArray);
      if (!array) return CUDA_ERROR_INVALID_VALUE;
      texels = array->texels;
      result = from_array(*array, out);
      break;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const MipmappedArray* mipmapped = mipmapped_array_of(resource.res.mipmap.hMipmappedArray);
      if (!mipmapped) return CUDA_ERROR_INVALID_VALUE;
      texels = mipmapped->levels[0]->texels;
      result = from_mipmapped(*mipmapped, out);
      break;
    }
    case CU_RESOURCE_TYPE_LINEAR:
      result = from_linear(resource, context->device, out, &texels);
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      result = from_pitch(resource, context->device, out, &texels);
      break;
    default:
      break;
  }
  if (result) return result;
  if (view) {
    const bool mipmapped = resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    const bool array = resource.resType == CU_RESOURCE_TYPE_ARRAY || mipmapped;
    // Memory that is no array takes a view that changes nothing. What NVIDIA's driver makes of
    // another one is not known, so it is refused.
    if (CUresult viewed = array ? apply_view(*view, mipmapped, out, &texels)
                                : check_view_of_memory(*view, texels))
      return viewed;
  }
  result = take_sampler(how, texels, out);
  // A mipmapped texture reads normalized coordinates also when it is made without (H200).
  if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) out->normalized = true;
  return result;
}

CUresult make_surface(const CUDA_RESOURCE_DESC& resource, Texture* out) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (resource.flags) return CUDA_ERROR_INVALID_VALUE;
  *out = {};
  out->kind = Texture::Kind::surface;
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  const Array* array = texels_of(resource.res.array.hArray);
  if (!array) return CUDA_ERROR_INVALID_VALUE;
  // CUDA_ARRAY3D_SURFACE_LDST is not asked for: an H200 makes the object without it.
  return from_array(*array, out);
}

}  // namespace limen::cpu
