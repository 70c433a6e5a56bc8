// cuModuleGetTexRef, cuModuleGetSurfRef, cuTexRef* and cuSurfRef*. Deprecated by NVIDIA, still
// exported by driver 13.0: PTX with .texref and .surfref variables needs them. See reference.h.
#include "drivers/cpu/texture/reference.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/module/module.h"
#include "drivers/cpu/texture/texture.h"

namespace limen::cpu {

namespace {

struct Book {
  std::mutex mutex;
  std::unordered_map<uint64_t, TextureReference*> by_handle;
  std::shared_ptr<const engine::TextureBindings> bindings;
  std::atomic<bool> any{false};  ///< a launch of a program without references takes no lock
};
Book& book() {
  static auto* made = new Book;
  return *made;
}

/// What NVIDIA's driver takes for a handle is asked for its context: foreign memory has none, and a
/// reference of the other kind has one that is none any more. A handle that was destroyed crashes
/// there. measured H200, driver 580.159.04
template <typename T, typename Handle>
CUresult refusal(const Arena<T>& arena, Handle handle) {
  return !handle || arena.once_was(handle) ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult resolve(const void* handle, bool surface, TextureReference** out) {
  *out = driver().texture_references.resolve(handle);
  if (!*out) return refusal(driver().texture_references, handle);
  return (*out)->surface == surface ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/// Changes what later launches read through a reference; null: nothing is bound. Under the lock.
void set_binding(uint64_t handle, const engine::Texture* texture) {
  auto next = book().bindings ? std::make_shared<engine::TextureBindings>(*book().bindings)
                              : std::make_shared<engine::TextureBindings>();
  if (texture)
    next->set(handle, *texture);
  else
    next->by_handle.erase(handle);
  book().any.store(!next->by_handle.empty(), std::memory_order_release);
  book().bindings = std::move(next);
}

/// The reference behind a module's variable; the same one each time.
CUresult reference_of(CUmodule hmod, const char* name, ptx::Type type, TextureReference** out) {
  Module* module;
  if (CUresult result = resolve_module(hmod, &module)) return result;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = module->context->sticky()) return result;
  const Program& program = module->instance->program();
  const ptx::Index index = program.find_variable(name);
  if (index == ptx::no_index) return CUDA_ERROR_NOT_FOUND;
  const ptx::Variable& variable = program.module().variables[index];
  if (variable.type != type) return CUDA_ERROR_NOT_FOUND;
  const uint64_t handle = module->instance->address(index);
  std::lock_guard lock(book().mutex);
  TextureReference*& reference = book().by_handle[handle];
  if (!reference) {
    reference = driver().texture_references.create();
    if (!reference) return CUDA_ERROR_OUT_OF_MEMORY;
    reference->handle = handle;
    reference->surface = type == ptx::Type::surfref;
  }
  *out = reference;
  return CUDA_SUCCESS;
}

/// Tells later launches what the reference means. Settings may come in any order: a reference that
/// cannot be read as it is set now counts as unbound until it can.
void publish(const TextureReference& reference) {
  if (!reference.handle) return;
  if (!reference.bound) return set_binding(reference.handle, nullptr);
  engine::Texture texture;
  const CUresult result = reference.surface
                              ? make_surface(reference.resource, &texture)
                              : make_texture(reference.resource, reference.how, nullptr, &texture);
  texture.reference = true;
  set_binding(reference.handle, result ? nullptr : &texture);
}

/// Changes a reference, or leaves it as it is where that fails.
template <typename Change>
CUresult change(const void* handle, bool surface, Change how) {
  std::lock_guard lock(book().mutex);
  // The handle is looked at before the context. measured H200, driver 580.x
  TextureReference* reference;
  if (CUresult result = resolve(handle, surface, &reference)) return result;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  TextureReference changed = *reference;
  if (CUresult result = how(changed)) return result;
  *reference = changed;
  publish(*reference);
  return CUDA_SUCCESS;
}

/// Binds memory to a reference. What is wrong with the memory alone is found here; a format that
/// cannot be read is not looked at (see publish). measured H200, driver 580.159.04
CUresult bind(TextureReference& r, const CUDA_RESOURCE_DESC& resource, bool known_format = true) {
  r.resource = resource;
  r.bound = true;
  if (!known_format) return CUDA_SUCCESS;
  engine::Texture texture;
  const CUresult result = r.surface
                              ? make_surface(resource, &texture)
                              : make_texture(resource, CUDA_TEXTURE_DESC{}, nullptr, &texture);
  return result;
}

/// Whether the flags of cuTexRefSet*Array ask for the array's format. Without, it has to be the
/// reference's already.
bool takes_format(const TextureReference& r, unsigned flags, const CUDA_ARRAY3D_DESCRIPTOR& desc) {
  return flags == CU_TRSA_OVERRIDE_FORMAT ||
         (!flags && r.format == desc.Format && r.channels == static_cast<int>(desc.NumChannels));
}

template <typename Read>
CUresult ask(CUtexref handle, Read read) {
  std::lock_guard lock(book().mutex);
  TextureReference* reference;
  if (CUresult result = resolve(handle, false, &reference)) return result;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  return read(*reference);
}

template <typename T, typename Read>
CUresult ask(CUtexref handle, T* out, Read read) {
  return ask(handle,
             [&](const TextureReference& r) { return out ? read(r) : CUDA_ERROR_INVALID_VALUE; });
}

uint64_t texture_alignment() {
  Context* context;
  if (current(&context)) return 1;
  return static_cast<uint64_t>(context->device.limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
}

bool is_filter(CUfilter_mode mode) {
  return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
}

}  // namespace

CUresult cuModuleGetTexRef(CUtexref* pTexRef, CUmodule hmod, const char* name) {
  TextureReference* reference;
  if (CUresult result = reference_of(hmod, name, ptx::Type::texref, &reference)) return result;
  if (!pTexRef) return CUDA_ERROR_INVALID_VALUE;
  *pTexRef = reinterpret_cast<CUtexref>(reference);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetSurfRef(CUsurfref* pSurfRef, CUmodule hmod, const char* name) {
  TextureReference* reference;
  if (CUresult result = reference_of(hmod, name, ptx::Type::surfref, &reference)) return result;
  if (!pSurfRef) return CUDA_ERROR_INVALID_VALUE;
  *pSurfRef = reinterpret_cast<CUsurfref>(reference);
  return CUDA_SUCCESS;
}

std::shared_ptr<const engine::TextureBindings> texture_bindings() {
  if (!book().any.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard lock(book().mutex);
  return book().bindings;
}

void forget_references(const Module& module) {
  const auto& variables = module.instance->program().module().variables;
  std::lock_guard lock(book().mutex);
  if (book().by_handle.empty()) return;
  for (ptx::Index i = 0; i < variables.size(); ++i) {
    if (variables[i].type != ptx::Type::texref && variables[i].type != ptx::Type::surfref) continue;
    auto found = book().by_handle.find(module.instance->address(i));
    if (found == book().by_handle.end()) continue;
    if (found->second && found->second->bound) set_binding(found->first, nullptr);
    if (found->second) driver().texture_references.destroy(found->second);
    book().by_handle.erase(found);
  }
}

CUresult cuTexRefCreate(CUtexref* pTexRef) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pTexRef) return CUDA_ERROR_INVALID_VALUE;
  TextureReference* reference = driver().texture_references.create();
  if (!reference) return CUDA_ERROR_OUT_OF_MEMORY;
  *pTexRef = reinterpret_cast<CUtexref>(reference);
  return CUDA_SUCCESS;
}

CUresult cuTexRefDestroy(CUtexref hTexRef) {
  std::lock_guard lock(book().mutex);
  TextureReference* reference;
  if (CUresult result = resolve(hTexRef, false, &reference)) return result;
  // A module's own references live as long as it does.
  if (reference->handle) return CUDA_ERROR_INVALID_HANDLE;
  driver().texture_references.destroy(reference);
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
  return change(hTexRef, false, [&](TextureReference& r) {
    const Array* array = array_of(hArray);
    if (!array) return refusal(driver().arrays, hArray);
    if (!takes_format(r, Flags, array->desc)) return CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = hArray;
    if (CUresult result = bind(r, resource)) return result;
    r.format = array->desc.Format;
    r.channels = static_cast<int>(array->desc.NumChannels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray,
                                   unsigned int Flags) {
  return change(hTexRef, false, [&](TextureReference& r) {
    const MipmappedArray* levels = mipmapped_array_of(hMipmappedArray);
    if (!levels) return refusal(driver().mipmapped_arrays, hMipmappedArray);
    if (!takes_format(r, Flags, levels->desc)) return CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = hMipmappedArray;
    if (CUresult result = bind(r, resource)) return result;
    r.format = levels->desc.Format;
    r.channels = static_cast<int>(levels->desc.NumChannels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddress(size_t* ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes) {
  return change(hTexRef, false, [&](TextureReference& r) {
    // The texture begins at the alignment below; the caller adds the offset to its indices.
    // source: CUDA Driver API 13.0, cuTexRefSetAddress.
    const uint64_t offset = dptr % texture_alignment();
    uint64_t all;
    if ((offset && !ByteOffset) || __builtin_add_overflow(bytes, offset, &all))
      return CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {dptr - offset, r.format, static_cast<unsigned>(r.channels), all};
    TexelLayout texels;
    const bool known =
        layout_of(r.format, resource.res.linear.numChannels, &texels) != CUDA_ERROR_INVALID_VALUE;
    if (!dptr) {
      // Nothing is bound then. measured H200, driver 580.159.04: success
      r.bound = false;
    } else if (CUresult result = bind(r, resource, known)) {
      return result;
    }
    if (ByteOffset) *ByteOffset = offset;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr,
                              size_t Pitch) {
  return change(hTexRef, false, [&](TextureReference& r) {
    if (!desc || dptr % texture_alignment()) return CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {dptr,        desc->Format, desc->NumChannels,
                            desc->Width, desc->Height, Pitch};
    TexelLayout texels;
    const CUresult format = layout_of(desc->Format, desc->NumChannels, &texels);
    // Rows do not overlap, other than a texture object's. measured H200, driver 580.159.04
    if (!format && desc->Height > 1 && desc->Width > Pitch / texels.bytes())
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = bind(r, resource, format != CUDA_ERROR_INVALID_VALUE)) return result;
    r.format = desc->Format;
    r.channels = static_cast<int>(desc->NumChannels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
  return change(hTexRef, false, [&](TextureReference& r) {
    // Three channels are refused and nothing else; what cannot be read is found where memory is
    // bound. measured H200, driver 580.159.04
    if (NumPackedComponents == 3) return CUDA_ERROR_INVALID_VALUE;
    r.format = fmt;
    r.channels = NumPackedComponents;
    if (r.bound && r.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      r.resource.res.linear.format = fmt;
      r.resource.res.linear.numChannels = static_cast<unsigned>(NumPackedComponents);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
  return change(hTexRef, false, [&](TextureReference& r) {
    // The axis is looked at, the mode is not. measured H200, driver 580.159.04
    if (dim < 0 || dim > 2) return CUDA_ERROR_INVALID_VALUE;
    r.how.addressMode[dim] = am;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  return change(hTexRef, false, [&](TextureReference& r) {
    // Taken as it is, unlike a filter of levels. measured H200, driver 580.159.04
    r.how.filterMode = fm;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  return change(hTexRef, false, [&](TextureReference& r) {
    if (!is_filter(fm)) return CUDA_ERROR_INVALID_VALUE;
    r.how.mipmapFilterMode = fm;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias) {
  return change(hTexRef, false, [&](TextureReference& r) {
    r.how.mipmapLevelBias = bias;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp,
                                     float maxMipmapLevelClamp) {
  return change(hTexRef, false, [&](TextureReference& r) {
    r.how.minMipmapLevelClamp = minMipmapLevelClamp;
    r.how.maxMipmapLevelClamp = maxMipmapLevelClamp;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso) {
  return change(hTexRef, false, [&](TextureReference& r) {
    r.how.maxAnisotropy = maxAniso;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float* pBorderColor) {
  return change(hTexRef, false, [&](TextureReference& r) {
    if (!pBorderColor) return CUDA_ERROR_INVALID_VALUE;
    std::copy(pBorderColor, pBorderColor + 4, r.how.borderColor);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags) {
  return change(hTexRef, false, [&](TextureReference& r) {
    constexpr unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                               CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                               CU_TRSF_SEAMLESS_CUBEMAP;
    if (Flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    r.how.flags = Flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddress(CUdeviceptr* pdptr, CUtexref hTexRef) {
  return ask(hTexRef, [&](const TextureReference& r) {
    const bool linear = r.resource.resType == CU_RESOURCE_TYPE_LINEAR;
    if (!r.bound || (!linear && r.resource.resType != CU_RESOURCE_TYPE_PITCH2D))
      return CUDA_ERROR_INVALID_VALUE;
    // Without a place it tells only whether there is an address. measured H200, driver 580.159.04
    if (pdptr) *pdptr = linear ? r.resource.res.linear.devPtr : r.resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetArray(CUarray* phArray, CUtexref hTexRef) {
  return ask(hTexRef, phArray, [&](const TextureReference& r) {
    if (!r.bound || r.resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    *phArray = r.resource.res.array.hArray;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* phMipmappedArray, CUtexref hTexRef) {
  return ask(hTexRef, phMipmappedArray, [&](const TextureReference& r) {
    if (!r.bound || r.resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
      return CUDA_ERROR_INVALID_VALUE;
    *phMipmappedArray = r.resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddressMode(CUaddress_mode* pam, CUtexref hTexRef, int dim) {
  return ask(hTexRef, pam, [&](const TextureReference& r) {
    if (dim < 0 || dim > 2) return CUDA_ERROR_INVALID_VALUE;
    *pam = r.how.addressMode[dim];
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
  return ask(hTexRef, pfm, [&](const TextureReference& r) {
    *pfm = r.how.filterMode;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetFormat(CUarray_format* pFormat, int* pNumChannels, CUtexref hTexRef) {
  return ask(hTexRef, [&](const TextureReference& r) {
    if (pFormat) *pFormat = r.format;
    if (pNumChannels) *pNumChannels = r.channels;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
  return ask(hTexRef, pfm, [&](const TextureReference& r) {
    *pfm = r.how.mipmapFilterMode;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmapLevelBias(float* pbias, CUtexref hTexRef) {
  return ask(hTexRef, pbias, [&](const TextureReference& r) {
    *pbias = r.how.mipmapLevelBias;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmapLevelClamp(float* pminMipmapLevelClamp, float* pmaxMipmapLevelClamp,
                                     CUtexref hTexRef) {
  return ask(hTexRef, pminMipmapLevelClamp, [&](const TextureReference& r) {
    if (!pmaxMipmapLevelClamp) return CUDA_ERROR_INVALID_VALUE;
    *pminMipmapLevelClamp = r.how.minMipmapLevelClamp;
    *pmaxMipmapLevelClamp = r.how.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMaxAnisotropy(int* pmaxAniso, CUtexref hTexRef) {
  return ask(hTexRef, pmaxAniso, [&](const TextureReference& r) {
    *pmaxAniso = static_cast<int>(r.how.maxAnisotropy);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetBorderColor(float* pBorderColor, CUtexref hTexRef) {
  return ask(hTexRef, pBorderColor, [&](const TextureReference& r) {
    std::copy(r.how.borderColor, r.how.borderColor + 4, pBorderColor);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetFlags(unsigned int* pFlags, CUtexref hTexRef) {
  return ask(hTexRef, pFlags, [&](const TextureReference& r) {
    *pFlags = r.how.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
  return change(hSurfRef, true, [&](TextureReference& r) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = hArray;
    if (!array_of(hArray)) return refusal(driver().arrays, hArray);
    if (Flags) return CUDA_ERROR_INVALID_VALUE;
    return bind(r, resource);
  });
}

CUresult cuSurfRefGetArray(CUarray* phArray, CUsurfref hSurfRef) {
  std::lock_guard lock(book().mutex);
  TextureReference* reference;
  if (CUresult result = resolve(hSurfRef, true, &reference)) return result;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!phArray || !reference->bound) return CUDA_ERROR_INVALID_VALUE;
  *phArray = reference->resource.res.array.hArray;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
