// NVRTC's options, as far as they say what comes out: machine code or PTX. Thread rule: pure
// functions.
#pragma once
#include <string>
#include <vector>

namespace limen::fronts::nvrtc {

struct Options {
  std::vector<std::string> words;  ///< what to ask NVRTC for
  bool machine_code = false;       ///< the program asked for machine code and gets PTX instead
};

/// Turns each sm_N of an architecture option into compute_N, unless LTO-IR or OptiX-IR is asked for:
/// these hold no machine code. Everything else stays as it is, faults too, for NVRTC to report.
Options ask_for_ptx(int count, const char* const* options);

}  // namespace limen::fronts::nvrtc
