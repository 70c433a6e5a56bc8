// From CUDA's descriptors to what the engine samples: shared by texture objects, surface objects
// and the old texture references. Thread rule: any thread.
#pragma once
#include <cstdint>

#include "abi/cuda_abi.h"
#include "engine/texture.h"

namespace limen::cpu {

/// errors: CUDA_ERROR_INVALID_VALUE, INVALID_HANDLE; NOT_SUPPORTED for what is not built, named.
CUresult make_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& how,
                      const CUDA_RESOURCE_VIEW_DESC* view, engine::Texture* out);
CUresult make_surface(const CUDA_RESOURCE_DESC& resource, engine::Texture* out);

/// Makes the handles of a context that ends unknown to kernels.
void forget_texture_objects(uint32_t owner);

}  // namespace limen::cpu
