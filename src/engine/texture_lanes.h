// The sampler that does eight lanes of a warp at a time (AVX2): the usual fetches of one texture,
// bit for bit as texture.cpp gives them. Private to this room; texture_plain.cpp decides who may
// call it. Thread rule: any worker. docs/design/textures.md, "Eight lanes at a time".
#pragma once
#include <cstdint>

#include "engine/texture_service.h"

namespace limen::engine {

/// Whether this machine runs fetch_lanes.
bool has_fetch_lanes();
/// Does the lanes it can, of a call whose lanes all fetch from `texture`; returns their bits. 0
/// where the texture or the instruction is none of its kinds. Lanes with coordinates that are not
/// finite, beyond 2^22, or so small that the format's rounding shows are left to the scalar
/// samplers. Requires has_fetch_lanes(). Words of lanes that take no part are overwritten.
uint32_t fetch_lanes(const Texture& texture, const TextureCall& call);

}  // namespace limen::engine
