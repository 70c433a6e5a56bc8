// For machines without a sampler of several lanes at a time: every lane is left to the scalar
// samplers. See texture_lanes.h.
#include "engine/texture_lanes.h"

namespace limen::engine {

bool machine_fetches_lanes() { return false; }

LanePlan plan_of(const Texture&) { return {}; }

uint32_t fetch_lanes(const Texture&, const TextureCall&) { return 0; }

}  // namespace limen::engine
