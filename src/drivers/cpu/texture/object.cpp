// cuTexObject* and cuSurfObject*. A handle is the engine's own; what it was made of is kept here to
// be read back. Thread rule: any thread; one lock around the book.
#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/texture/texture.h"

namespace limen::cpu {

namespace {

struct Object {
  uint32_t owner = 0;
  bool surface = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

struct Book {
  std::mutex mutex;
  std::unordered_map<uint64_t, Object> objects;
};
Book& book() {
  static auto* made = new Book;
  return *made;
}

CUresult enter(const engine::Texture& texture, Object object, unsigned long long* handle) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  object.owner = context->owner;
  const uint64_t made = driver().textures.add(texture);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard lock(book().mutex);
  book().objects.emplace(made, std::move(object));
  *handle = made;
  return CUDA_SUCCESS;
}

CUresult remove(uint64_t handle, bool surface) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  std::lock_guard lock(book().mutex);
  auto found = book().objects.find(handle);
  // What is no object, or none any more, is nothing to destroy. measured H200, driver 580.159.04
  if (found == book().objects.end() || found->second.surface != surface) return CUDA_SUCCESS;
  driver().textures.remove(handle);
  book().objects.erase(found);
  return CUDA_SUCCESS;
}

template <typename Read>
CUresult look_up(uint64_t handle, bool surface, const void* out, Read read) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  auto found = book().objects.find(handle);
  if (found == book().objects.end() || found->second.surface != surface)
    return CUDA_ERROR_INVALID_VALUE;
  return read(found->second);
}

/// Memory under a texture object begins at the device's texture alignment, as an H200 demands;
/// references may begin anywhere, theirs is an offset of the caller's.
bool aligned(const CUDA_RESOURCE_DESC& resource, const Device& device) {
  const auto step = static_cast<uint64_t>(device.limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR) return resource.res.linear.devPtr % step == 0;
  if (resource.resType == CU_RESOURCE_TYPE_PITCH2D) return resource.res.pitch2D.devPtr % step == 0;
  return true;
}

}  // namespace

void forget_texture_objects(uint32_t owner) {
  std::lock_guard lock(book().mutex);
  std::erase_if(book().objects, [owner](const auto& entry) {
    if (entry.second.owner != owner) return false;
    driver().textures.remove(entry.first);
    return true;
  });
}

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pTexObject || !pResDesc || !pTexDesc) return CUDA_ERROR_INVALID_VALUE;
  if (!aligned(*pResDesc, context->device)) return CUDA_ERROR_INVALID_VALUE;
  engine::Texture texture;
  if (CUresult result = make_texture(*pResDesc, *pTexDesc, pResViewDesc, &texture)) return result;
  Object object{0, false, *pResDesc, *pTexDesc, {}};
  if (pResViewDesc) object.view = *pResViewDesc;
  return enter(texture, std::move(object), pTexObject);
}

CUresult cuTexObjectDestroy(CUtexObject texObject) { return remove(texObject, false); }

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
  return look_up(texObject, false, pResDesc, [&](const Object& o) {
    *pResDesc = o.resource;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
  return look_up(texObject, false, pTexDesc, [&](const Object& o) {
    *pTexDesc = o.texture;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc,
                                        CUtexObject texObject) {
  return look_up(texObject, false, pResViewDesc, [&](const Object& o) {
    // Without a view nothing is written. measured H200, driver 580.159.04: success
    if (o.view) *pResViewDesc = *o.view;
    return CUDA_SUCCESS;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pSurfObject || !pResDesc) return CUDA_ERROR_INVALID_VALUE;
  engine::Texture surface;
  if (CUresult result = make_surface(*pResDesc, &surface)) return result;
  return enter(surface, Object{0, true, *pResDesc, {}, {}}, pSurfObject);
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) { return remove(surfObject, true); }

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
  return look_up(surfObject, true, pResDesc, [&](const Object& o) {
    *pResDesc = o.resource;
    return CUDA_SUCCESS;
  });
}

}  // namespace limen::cpu
