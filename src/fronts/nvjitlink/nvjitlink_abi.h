// Types of nvJitLink's C interface. source: nvJitLink 13.0 manual; 12 has the same codes up to
// lto_not_enabled. Thread rule: constants.
#pragma once
#include <cstddef>
#include <cstdint>

struct nvJitLink;
using nvJitLinkHandle = nvJitLink*;
using nvJitLinkResult = int;
using nvJitLinkInputType = int;

namespace limen::fronts::nvjitlink {

enum LinkResult : int {
  success = 0,
  unrecognized_option = 1,
  missing_arch = 2,
  invalid_input = 3,
  ptx_compile = 4,
  internal = 6,
  unrecognized_input = 8,
  null_input = 10,
  incompatible_options = 11,
  incorrect_input_type = 12,
  unrecognized_arch = 16,
  unsupported_arch = 17,
  lto_not_enabled = 18,
};

enum InputType : int {
  cubin = 1,
  ptx = 2,
  ltoir = 3,
  fatbin = 4,
  object = 5,
  library = 6,
  index = 7,
  any = 10,
};

}  // namespace limen::fronts::nvjitlink
