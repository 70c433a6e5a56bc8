// Names: long with two dashes, short with one; a value behind "=" or in the next word, "-O3" and
// "-m64" joined. Read from ptxas 13.0's help. Thread rule: see the header.
#include "fronts/ptxas/options.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string_view>

namespace limen::fronts::ptxas {

namespace {

struct Name {
  std::string_view full, brief;
  bool takes_value;
};

constexpr Name names[] = {
    {"Ofast-compile", "Ofc", true},
    {"allow-expensive-optimizations", "allow-expensive-optimizations", true},
    {"compile-as-tools-patch", "astoolspatch", false},
    {"compile-only", "c", false},
    {"compiler-annotations", "annotate", false},
    {"def-load-cache", "dlcm", true},
    {"def-store-cache", "dscm", true},
    {"device-debug", "g", false},
    {"device-function-maxrregcount", "func-maxrregcount", true},
    {"device-stack-protector", "device-stack-protector", true},
    {"disable-optimizer-constants", "disable-optimizer-consts", false},
    {"disable-warnings", "w", false},
    {"dont-merge-basicblocks", "no-bb-merge", false},
    {"entry", "e", true},
    {"extensible-whole-program", "ewp", false},
    {"fmad", "fmad", true},
    {"force-load-cache", "flcm", true},
    {"force-store-cache", "fscm", true},
    {"g-tensor-memory-access-check", "g-tmem-access-check", false},
    {"generate-line-info", "lineinfo", false},
    {"gno-tensor-memory-access-check", "gno-tmem-access-check", false},
    {"gpu-name", "arch", true},
    {"help", "h", false},
    {"input-as-string", "ias", true},
    {"legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior", false},
    {"list-version", "version-ls", false},
    {"machine", "m", true},
    {"make-errors-visible-at-exit", "make-errors-visible-at-exit", false},
    {"maxntid", "maxntid", true},
    {"maxrregcount", "maxrregcount", true},
    {"minnctapersm", "minnctapersm", true},
    {"opt-level", "O", true},
    {"optimize-float-atomics", "opt-fp-atomics", false},
    {"options-file", "optf", true},
    {"output-file", "o", true},
    {"override-directive-values", "override-directive-values", false},
    {"position-independent-code", "pic", true},
    {"preserve-relocs", "preserve-relocs", false},
    {"register-usage-level", "regUsageLevel", true},
    {"return-at-end", "ret-end", false},
    {"sanitize", "sanitize", true},
    {"sp-bounds-check", "sp-bounds-check", false},
    {"split-compile", "split-compile", true},
    {"suppress-async-bulk-multicast-advisory-warning",
     "suppress-async-bulk-multicast-advisory-warning", false},
    {"suppress-debug-info", "suppress-debug-info", false},
    {"suppress-double-demote-warning", "suppress-double-demote-warning", false},
    {"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", false},
    {"suppress-stack-size-warning", "suppress-stack-size-warning", false},
    {"verbose", "v", false},
    {"version", "V", false},
    {"warn-on-double-precision-use", "warn-double-usage", false},
    {"warn-on-local-memory-usage", "warn-lmem-usage", false},
    {"warn-on-spills", "warn-spills", false},
    {"warning-as-error", "Werror", false},
};

Error unknown(std::string_view word) {
  return {Code::invalid_value,
          fmt::format("Unknown option '{}'", word.substr(word.substr(0, 2) == "--" ? 1 : 0)), ""};
}

const Name* find(std::string_view name) {
  for (const Name& row : names)
    if (name == row.full || name == row.brief) return &row;
  return nullptr;
}

/// "sm_90a", "compute_90": the first makes code, the others only check.
Result<void> read_architecture(std::string_view value, Options& options) {
  const std::string_view whole = value;
  options.parse_only = value.substr(0, 3) != "sm_";
  for (std::string_view prefix : {"sm_", "compute_", "lto_"})
    if (value.substr(0, prefix.size()) == prefix) value.remove_prefix(prefix.size());
  options.sm = 0;
  while (!value.empty() && value[0] >= '0' && value[0] <= '9' && options.sm < 1000) {
    options.sm = options.sm * 10 + static_cast<uint32_t>(value[0] - '0');
    value.remove_prefix(1);
  }
  options.suffix = value.empty() ? 0 : value[0];
  if (options.sm >= 50 && options.sm < 1000 && (value.empty() || value == "a" || value == "f"))
    return {};
  return Error{Code::invalid_value,
               fmt::format("Value '{}' is not defined for option 'gpu-name'", whole), ""};
}

Result<std::vector<std::string>> words_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return Error{Code::file_not_found, fmt::format("Input file '{}' could not be opened", path), ""};
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  return words;
}

class Reader {
 public:
  Result<void> read(const std::vector<std::string>& words, int depth) {
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word.size() < 2 || word[0] != '-') {
        out_.inputs.push_back(word);
        continue;
      }
      std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
      const size_t equals = name.find('=');
      bool has_value = equals != std::string_view::npos;
      std::string value(has_value ? name.substr(equals + 1) : "");
      name = name.substr(0, equals);
      const Name* row = find(name);
      if (!row && (name[0] == 'O' || name[0] == 'm') && name.size() > 1) {
        row = find(name.substr(0, 1));
        value = name.substr(1);
        has_value = true;
      }
      // ptxas has options that its help does not name (Triton uses one); with "=" their form is plain.
      if (!row && equals != std::string_view::npos) {
        out_.unknown.push_back(word);
        continue;
      }
      if (!row) return unknown(word);
      if (row->takes_value && !has_value) {
        if (++i == words.size())
          return Error{Code::invalid_value,
                       fmt::format("'{}': expected a value", word), ""};
        value = words[i];
      }
      LIMEN_CHECK(apply(*row, value, depth));
    }
    return {};
  }

  Options take() { return std::move(out_); }

 private:
  Result<void> apply(const Name& row, const std::string& value, int depth) {
    constexpr int depth_max = 8;  // of options files in options files
    if (row.full == "gpu-name") return read_architecture(value, out_);
    if (row.full == "options-file") {
      if (depth == depth_max) return Error{Code::invalid_value, "options files too deep", ""};
      LIMEN_TRY(const std::vector<std::string> words, words_of_file(value));
      return read(words, depth + 1);
    }
    if (row.full == "output-file") out_.output = value;
    if (row.full == "input-as-string") out_.texts.push_back(value);
    if (row.full == "verbose") out_.verbose = true;
    if (row.full == "version") out_.version = true;
    if (row.full == "list-version") out_.list_versions = true;
    if (row.full == "help") out_.help = true;
    if (row.full == "compile-only") out_.compile_only = true;
    if (row.full == "maxrregcount") return read_registers(value);
    return {};
  }

  Result<void> read_registers(const std::string& value) {
    const char* end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, out_.most_registers);
    if (error == std::errc() && at == end) return {};
    return Error{Code::invalid_value,
                 fmt::format("Value '{}' is not defined for option 'maxrregcount'", value), ""};
  }

  Options out_;
};

}  // namespace

Result<Options> read_options(const std::vector<std::string>& words) {
  Reader reader;
  LIMEN_CHECK(reader.read(words, 0));
  return reader.take();
}

}  // namespace limen::fronts::ptxas
