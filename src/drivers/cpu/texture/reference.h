// Texture and surface references of the old API: module variables of type .texref and .surfref.
// Each is a handle of its own in the driver's texture table; what is bound to it goes along with
// each launch, so that a launch keeps the bindings it was made with. Thread rule: any thread; one
// lock around all references.
#pragma once
#include <cstdint>
#include <memory>

#include "abi/cuda_abi.h"
#include "engine/texture.h"

namespace limen::cpu {

struct TextureReference {
  TextureReference() {
    for (CUaddress_mode& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  }

  uint64_t handle = 0;  ///< in Driver::textures; 0 for one made by cuTexRefCreate
  bool surface = false;
  bool bound = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC how{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  int channels = 1;
};

/// What references mean to a grid that is launched now; null when none is bound.
std::shared_ptr<const engine::TextureBindings> texture_bindings();

struct Module;

/// The references of a module that is unloaded are no handles any more.
void forget_references(const Module& module);

}  // namespace limen::cpu
