// Texture and surface references of the old API: module variables of type .texref and .surfref.
// Each is a handle of its own in the driver's texture table, given a meaning when something is
// bound. Thread rule: set by one thread at a time, as with NVIDIA's driver.
#pragma once
#include <cstdint>

#include "abi/cuda_abi.h"

namespace limen::cpu {

struct TextureReference {
  uint64_t handle = 0;  ///< in Driver::textures; 0 for one made by cuTexRefCreate
  bool surface = false;
  bool bound = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC how{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  int channels = 1;
};

struct Module;

/// The references of a module that is unloaded are no handles any more.
void forget_references(const Module& module);

}  // namespace limen::cpu
