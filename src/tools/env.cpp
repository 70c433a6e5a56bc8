// `limen env`: the variables that steer Limen, what each means and what it is set to now. The list
// comes from spec/config.toml, through the generated table in base; nothing is typed here twice.
#include "base/config.h"
#include "tools/verb.h"

#include <fmt/format.h>

#include <cstdlib>

namespace limen::tools {

int env_verb(const Words& words) {
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    env_help();
    return 0;
  }
  if (!words.empty()) {
    print_error({Code::invalid_value, fmt::format("limen env takes no '{}'", words[0]),
                 "see: limen help env"});
    return exit_usage;
  }
  for (const ConfigVariable& variable : config_variables()) {
    const char* value = std::getenv(variable.name);
    const char* fallback = *variable.fallback ? variable.fallback : "\"\"";
    if (value && *value) {
      fmt::print("{}={}  (default {})\n", variable.name, value, fallback);
    } else {
      fmt::print("{}  (not set; default {})\n", variable.name, fallback);
    }
    if (*variable.values) fmt::print("    one of {}\n", variable.values);
    fmt::print("    {}\n", variable.meaning);
  }
  return 0;
}

void env_help() {
  fmt::print(
      "usage: limen env\n\nLists every LIMEN_* variable: its value now, default, meaning.\n");
}

}  // namespace limen::tools
