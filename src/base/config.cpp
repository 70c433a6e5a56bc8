// The reader of LIMEN_* variables: one pass over the generated table. An ill-formed value and an
// unknown LIMEN_ name are reported on standard error, because a silently ignored setting is worse
// than a noisy one. A program with raised rights reads none of them (secure_getenv). Does not use
// the log: the log asks this file where to write.
#include "base/config.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

extern char** environ;

namespace limen {
namespace {

constexpr ConfigVariable variables[] = {
#define ROW(type, field, name, fallback, min, max, values, meaning) \
  {name, #type, fallback, values, meaning},
#include "base/config_table.inc"
#undef ROW
};

bool parse_int(std::string_view text, int64_t& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_one_of(std::string_view text, std::string_view values) {
  while (!values.empty()) {
    size_t bar = values.find('|');
    if (text == values.substr(0, bar)) return true;
    if (bar == std::string_view::npos) return false;
    values.remove_prefix(bar + 1);
  }
  return false;
}

bool read_string(std::string_view text, std::string& out, int64_t, int64_t, const char*) {
  out = text;
  return true;
}
bool read_choice(std::string_view text, std::string& out, int64_t, int64_t, const char* values) {
  if (!is_one_of(text, values)) return false;
  out = text;
  return true;
}
bool read_int(std::string_view text, int64_t& out, int64_t min, int64_t max, const char*) {
  int64_t value = 0;
  if (!parse_int(text, value) || value < min || value > max) return false;
  out = value;
  return true;
}
[[maybe_unused]] bool read_bool(std::string_view text, bool& out, int64_t, int64_t, const char*) {
  if (text != "0" && text != "1") return false;
  out = text == "1";
  return true;
}
bool read_size(std::string_view text, uint64_t& out, int64_t, int64_t, const char*) {
  return parse_size(text, out);
}
bool read_cc(std::string_view text, ComputeCapability& out, int64_t, int64_t, const char*) {
  if (text == "off") {
    out = {};
    return true;
  }
  return parse_compute_capability(text, out);
}

void report(const char* name, const char* text, const char* type, int64_t min, int64_t max,
            const char* values, const char* fallback) {
  if (!tells_of_configuration()) return;
  std::string wanted = std::string("a ") + type;
  if (*values) wanted = std::string("one of ") + values;
  if (min != max) wanted = "a number from " + std::to_string(min) + " to " + std::to_string(max);
  std::fprintf(stderr, "limen: error: %s=%s is not %s; using %s (see: limen env)\n", name, text,
               wanted.c_str(), *fallback ? fallback : "the default");
}

void report_unknown_names() {
  if (getauxval(AT_SECURE)) return;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string_view text(*entry);
    if (!text.starts_with("LIMEN_")) continue;
    std::string_view name = text.substr(0, text.find('='));
    bool known = false;
    for (const ConfigVariable& variable : variables) known |= name == variable.name;
    if (!known && tells_of_configuration()) {
      std::fprintf(stderr, "limen: error: no such variable: %.*s (see: limen env)\n",
                   static_cast<int>(name.size()), name.data());
    }
  }
}

/// Leaves a mark in this process, a mapping of no content: its name is what all copies of this code
/// can see, whatever scope of the dynamic linker they live in. It goes with exec. False: it is
/// there already.
bool leave_mark() {
  constexpr const char* name = "limen-configuration-told";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return false;
  constexpr size_t bytes = 4096;
  const int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0) return true;
  if (ftruncate(file, bytes) == 0) mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  close(file);
  return true;
}

Config* read_environment() {
  auto* config = new Config;
#define ROW(type, field, name, fallback, min, max, values, meaning) \
  read_##type(fallback, config->field, min, max, values);           \
  if (const char* text = secure_getenv(name); text && *text) {      \
    if (!read_##type(text, config->field, min, max, values))        \
      report(name, text, #type, min, max, values, fallback);        \
  }
#include "base/config_table.inc"
#undef ROW
  report_unknown_names();
  return config;
}

}  // namespace

const Config& config() {
  static const Config* const values = read_environment();  // leaked: used after static destructors
  return *values;
}

bool tells_of_configuration() {
  static const bool first = leave_mark();
  return first;
}

std::span<const ConfigVariable> config_variables() { return variables; }

bool parse_size(std::string_view text, uint64_t& bytes) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return false;
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.size() > 1 && (unit.ends_with("iB") || unit.ends_with("ib"))) unit.remove_suffix(2);
  if (unit.size() > 1 && (unit.ends_with('B') || unit.ends_with('b'))) unit.remove_suffix(1);
  int shift = 0;
  if (unit == "K" || unit == "k")
    shift = 10;
  else if (unit == "M" || unit == "m")
    shift = 20;
  else if (unit == "G" || unit == "g")
    shift = 30;
  else if (unit == "T" || unit == "t")
    shift = 40;
  else if (!unit.empty() && unit != "B")
    return false;
  value *= static_cast<double>(uint64_t{1} << shift);
  if (value >= 9.2e18) return false;
  bytes = static_cast<uint64_t>(value);
  return true;
}

bool parse_compute_capability(std::string_view text, ComputeCapability& cc) {
  int64_t major = 0;
  int64_t minor = 0;
  if (size_t dot = text.find('.'); dot != std::string_view::npos) {
    if (!parse_int(text.substr(0, dot), major) || !parse_int(text.substr(dot + 1), minor)) {
      return false;
    }
  } else {
    int64_t both = 0;
    if (!parse_int(text, both)) return false;
    major = both / 10;
    minor = both % 10;
  }
  if (major < 1 || major > 99 || minor < 0 || minor > 9) return false;
  cc = {static_cast<int>(major), static_cast<int>(minor)};
  return true;
}

}  // namespace limen
