// The sampler that does eight lanes of a warp at a time (AVX2): the usual fetches of one texture,
// bit for bit as texture.cpp gives them. Private to this room; texture_plain.cpp decides who may
// call it. Thread rule: any worker. docs/design/textures.md, "Eight lanes at a time".
#pragma once
#include <cstdint>

#include "engine/texture_service.h"

namespace limen::engine {

/// How fetch_lanes() reads a texture, whose `plan` does not count. Empty for those that it cannot
/// read. Asks nothing of the machine: plan_lanes() does.
LanePlan plan_of(const Texture& texture);
/// Whether this machine has the instructions of fetch_lanes().
bool machine_fetches_lanes();
/// Sets texture->plan, by all else in it; empty on machines that cannot.
void plan_lanes(Texture* texture);
/// Does the lanes it can, of a call whose lanes all fetch from `texture`; returns their bits. 0
/// where the plan is empty or not for such a fetch. Lanes with coordinates that are not finite,
/// beyond 2^22, or so small that the format's rounding shows are left to the scalar samplers. Words
/// of lanes that take no part are overwritten.
uint32_t fetch_lanes(const Texture& texture, const TextureCall& call);

}  // namespace limen::engine
