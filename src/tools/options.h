// The options of `limen run`: what the command line says, checked, as environment variables for the
// driver. Knows the words and their ranges; sets no variable and starts nothing.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace limen::tools {

/// How the program is led to Limen's libcuda.so.1 (docs/run.md).
enum class Route {
  automatic,  ///< the search path, and more only where the program's file shows the need
  path,       ///< LD_LIBRARY_PATH alone
  preload,    ///< and LD_PRELOAD of the library
  audit,      ///< and LD_AUDIT of the redirector
};

struct RunOptions {
  std::vector<std::pair<std::string, std::string>> variables;  ///< LIMEN_* name, value
  Route route = Route::automatic;
  bool help = false;
  std::vector<std::string> command;  ///< program and its arguments, untouched
};

/// Reads the words after `run`. The first word that is no option begins the command; so does
/// whatever follows "--". Options may be written "--name value" or "--name=value".
/// errors: invalid_value (names the option and what it takes).
Result<RunOptions> parse_run_options(const std::vector<std::string>& words);

/// One row of the option list, for `limen help run`.
struct OptionRow {
  const char* name;      ///< with its dashes
  const char* value;     ///< what follows it
  const char* variable;  ///< the variable it sets; empty: none
  const char* meaning;
};
const std::vector<OptionRow>& run_option_rows();

}  // namespace limen::tools
