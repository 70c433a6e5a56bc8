// Built once for each major version, which the build names. Thread rule: constants.
#include "fronts/real_library.h"

namespace limen::fronts {

const Identity identity = {
    .stem = "libnvJitLink",
    .major = LIMEN_FRONT_MAJOR,
    .other_major = LIMEN_FRONT_MAJOR == 13 ? 12 : 13,
    .companion = "",
    .variable = "LIMEN_NVJITLINK",
    .file = &Config::nvjitlink,
    .packages = LIMEN_FRONT_MAJOR == 13
                    ? "libnvjitlink of the CUDA 13 toolkit, or Python's nvidia-nvjitlink"
                    : "libnvjitlink of the CUDA 12 toolkit, or Python's nvidia-nvjitlink-cu12"};

}  // namespace limen::fronts
