// Built once for each major version, which the build names. Thread rule: constants.
#include "fronts/real_library.h"

namespace limen::fronts {

const Identity identity = {
    .stem = "libnvrtc",
    .major = LIMEN_FRONT_MAJOR,
    .other_major = LIMEN_FRONT_MAJOR == 13 ? 12 : 13,
    .companion = "libnvrtc-builtins.so.*",
    .variable = "LIMEN_NVRTC",
    .file = &Config::nvrtc,
    .packages = LIMEN_FRONT_MAJOR == 13
                    ? "cuda-nvrtc of the CUDA 13 toolkit, or Python's nvidia-cuda-nvrtc"
                    : "cuda-nvrtc of the CUDA 12 toolkit, or Python's nvidia-cuda-nvrtc-cu12"};

}  // namespace limen::fronts
