// Reads the LIMEN_* variables once a process. The list is spec/config.toml; the fields are
// generated. Not for values that change while the process runs: the environment is read at the
// first call and never again. Thread rule: any thread, any time; the object is never destroyed.
#pragma once
#include <span>
#include <string_view>

#include "base/config_fields.h"

namespace limen {

/// The values in force for this process.
const Config& config();

/// Whether this copy of the code is the one that tells what is wrong with the configuration. Each of
/// Limen's libraries has a copy; the first of a process that finds something tells all of it.
bool tells_of_configuration();

/// One row of spec/config.toml, for `limen env` and the documents.
struct ConfigVariable {
  const char* name;
  const char* type;
  const char* fallback;  ///< text that an absent variable stands for
  const char* values;    ///< of a choice, separated by |
  const char* meaning;
};

/// Every variable, in the order of the table.
std::span<const ConfigVariable> config_variables();

/// Bytes of "4096", "512M", "1.5G"; false if `text` is not a size. K, M, G, T are powers of 1024.
bool parse_size(std::string_view text, uint64_t& bytes);

/// "12.0" or "86" into major and minor; false if `text` is neither.
bool parse_compute_capability(std::string_view text, ComputeCapability& cc);

}  // namespace limen
