// Types of NVRTC's C interface. source: NVRTC 13.0 manual; 12 has the same. Thread rule: constants.
#pragma once
#include <cstddef>

struct _nvrtcProgram;
using nvrtcProgram = _nvrtcProgram*;
using nvrtcFlowCallback = int (*)(void* payload, void* reserved);
using nvrtcResult = int;

inline constexpr nvrtcResult nvrtc_success = 0;
inline constexpr nvrtcResult nvrtc_internal_error = 11;
