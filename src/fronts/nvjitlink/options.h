// The options of a link. Thread rule: pure functions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace limen::fronts::nvjitlink {

struct Options {
  uint32_t sm = 0;     ///< 75, 90 ...
  char suffix = 0;     ///< 'a', 'f' or 0
  bool lto = false;
  bool ptx = false;    ///< the program asked for PTX
  uint32_t most_registers = 0;  ///< of -maxrregcount; 0: not given
  std::vector<std::string> words;  ///< as they came
};

/// Gives a code of the interface: unrecognized_option, missing_arch, unrecognized_arch,
/// incompatible_options. `options` then holds what was read before.
int read_options(uint32_t count, const char* const* words, Options& options);

}  // namespace limen::fronts::nvjitlink
