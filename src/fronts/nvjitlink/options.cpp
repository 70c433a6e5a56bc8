// source: the list of options in the nvJitLink 13.0 manual; codes as NVIDIA's library 13.0 gives
// them (measured), except for sm_1 to sm_9, at which that one ends the process.
#include "fronts/nvjitlink/options.h"

#include <charconv>
#include <string_view>

#include "fronts/nvjitlink/nvjitlink_abi.h"

namespace limen::fronts::nvjitlink {

namespace {

constexpr std::string_view plain[] = {
    "-lto", "-ptx", "-time", "-verbose", "-g", "-lineinfo", "-optimize-unused-variables",
    "-no-cache", "-device-stack-protector", "-O0", "-O3"};
constexpr std::string_view with_value[] = {
    "-maxrregcount=", "-ftz=", "-prec-div=", "-prec-sqrt=", "-fma=", "-kernels-used=",
    "-variables-used=", "-Xptxas=", "-Xnvvm=", "-split-compile=", "-split-compile-extended=",
    "-jump-table-density=", "-device-stack-protector=", "-minimal", "-O"};

bool is_known(std::string_view word) {
  for (std::string_view name : plain)
    if (word == name) return true;
  for (std::string_view name : with_value)
    if (word.substr(0, name.size()) == name) return true;
  return false;
}

/// "sm_90a" or "compute_90"; `is_virtual` says which. What names no number is no option that the
/// library knows, a number is an architecture that it does not know (122) or not any more (37).
int read_architecture(std::string_view value, Options& options, bool& is_virtual) {
  is_virtual = value.substr(0, 8) == "compute_";
  if (!is_virtual && value.substr(0, 3) != "sm_") return unrecognized_option;
  value.remove_prefix(is_virtual ? 8 : 3);
  options.sm = 0;
  while (!value.empty() && value[0] >= '0' && value[0] <= '9' && options.sm < 1000) {
    options.sm = options.sm * 10 + static_cast<uint32_t>(value[0] - '0');
    value.remove_prefix(1);
  }
  if (!options.sm) return unrecognized_option;
  options.suffix = value.empty() ? 0 : value[0];
  if (!value.empty() && value != "a" && value != "f") return unrecognized_arch;
  const bool too_old = options.sm >= 10 && options.sm < 50;
  if (too_old || options.sm >= 1000) return unsupported_arch;
  return options.sm < 10 ? unrecognized_arch : success;
}

}  // namespace

int read_options(uint32_t count, const char* const* words, Options& options) {
  constexpr std::string_view architecture = "-arch=";
  bool is_virtual = false;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view word = words && words[i] ? words[i] : "";
    options.words.emplace_back(word);
    if (word.substr(0, architecture.size()) == architecture) {
      if (int code = read_architecture(word.substr(architecture.size()), options, is_virtual))
        return code;
    } else if (!is_known(word)) {
      return unrecognized_option;
    }
    constexpr std::string_view registers = "-maxrregcount=";
    if (word.substr(0, registers.size()) == registers)
      std::from_chars(word.data() + registers.size(), word.data() + word.size(),
                      options.most_registers);
    options.lto |= word == "-lto";
    options.ptx |= word == "-ptx";
  }
  if (!options.sm) return missing_arch;
  if (options.ptx && !options.lto) return incompatible_options;
  if (is_virtual && !options.ptx) return incompatible_options;
  return success;
}

}  // namespace limen::fronts::nvjitlink
