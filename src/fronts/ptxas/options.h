// The command line of ptxas, as programs write it. Thread rule: pure functions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace limen::fronts::ptxas {

struct Options {
  std::vector<std::string> inputs;  ///< files
  std::vector<std::string> texts;   ///< of --input-as-string
  std::string output = "elf.o";
  uint32_t sm = 75;
  char suffix = 0;
  bool parse_only = false;  ///< a virtual architecture: nothing is written
  bool verbose = false;
  bool version = false;
  bool list_versions = false;
  bool help = false;
  bool compile_only = false;
  uint32_t most_registers = 0;  ///< of -maxrregcount; 0: not given
  std::vector<std::string> unknown;  ///< of the form name=value: no effect, to be told
};

/// Options that steer NVIDIA's code generator are read and have no effect.
/// errors: invalid_value, in ptxas's words; file_not_found for an options file.
Result<Options> read_options(const std::vector<std::string>& words);

}  // namespace limen::fronts::ptxas
