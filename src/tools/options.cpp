// See options.h. A value is checked here so that a slip of the hand is told at once, with the
// option's name; the driver checks again when it reads the variable.
#include "tools/options.h"

#include "base/config.h"
#include "base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace limen::tools {
namespace {

bool is_number(const std::string& text, uint64_t low, uint64_t high) {
  if (text.empty() || text.size() > 19) return false;
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value >= low && value <= high;
}

bool is_capability(const std::string& text) {
  ComputeCapability cc;
  return parse_compute_capability(text, cc);
}

bool is_size(const std::string& text) {
  uint64_t bytes = 0;
  return parse_size(text, bytes);
}

bool is_log_setting(const std::string& text) {
  log::Level level;
  std::string_view path;
  return log::parse_log_setting(text, level, path) && text.back() != ':';
}

bool is_strategy(const std::string& text) {
  return text == "auto" || text == "region" || text == "fiber" || text == "lane" ||
         text == "independent";
}

struct CheckedRow {
  OptionRow row;
  std::function<bool(const std::string&)> accepts;
  const char* wanted;
};

const std::vector<CheckedRow>& rows() {
  static const std::vector<CheckedRow> all = {
      {{"--devices", "N", "LIMEN_DEVICES", "show N devices (default 1)"},
       [](const std::string& v) { return is_number(v, 0, 64); },
       "a number from 0 to 64"},
      {{"--cc", "X.Y", "LIMEN_CC", "compute capability of the devices (default 12.0)"},
       is_capability,
       "a compute capability such as 8.0 or 12.0"},
      {{"--threads", "N", "LIMEN_THREADS",
        "worker threads (default: the cores this process may use)"},
       [](const std::string& v) { return is_number(v, 1, 4096); },
       "a number from 1 to 4096"},
      {{"--memory", "SIZE", "LIMEN_MEMORY", "memory of a device, such as 512M or 8G"},
       is_size,
       "a size such as 512M or 8G"},
      {{"--sms", "N", "LIMEN_SMS", "multiprocessors that a device reports"},
       [](const std::string& v) { return is_number(v, 1, 1024); },
       "a number from 1 to 1024"},
      {{"--strategy", "NAME", "LIMEN_STRATEGY",
        "auto, region, fiber, lane or independent (docs/engine.md)"},
       is_strategy,
       "one of auto, region, fiber, lane, independent"},
      {{"--cache", "DIR", "LIMEN_CACHE_DIR", "folder of the cache of compiled kernels"},
       [](const std::string& v) { return !v.empty(); },
       "a folder"},
      {{"--log", "LEVEL[:FILE]", "LIMEN_LOG",
        "off, error, warn, info or trace; to standard error or to FILE"},
       is_log_setting,
       "a level (off, error, warn, info, trace), with :FILE to write to a file"},
  };
  return all;
}

Result<Route> parse_route(const std::string& value) {
  if (value == "auto") return Route::automatic;
  if (value == "path") return Route::path;
  if (value == "preload") return Route::preload;
  if (value == "audit") return Route::audit;
  return Error{Code::invalid_value,
               fmt::format("--route takes one of auto, path, preload, audit, not '{}'", value), ""};
}

}  // namespace

const std::vector<OptionRow>& run_option_rows() {
  static const std::vector<OptionRow> all = [] {
    std::vector<OptionRow> out;
    for (const CheckedRow& row : rows()) out.push_back(row.row);
    out.push_back({"--route", "NAME", "",
                   "how the program finds Limen: auto, path, preload or audit (docs/run.md)"});
    return out;
  }();
  return all;
}

Result<RunOptions> parse_run_options(const std::vector<std::string>& words) {
  RunOptions out;
  size_t at = 0;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word.empty() || word[0] != '-') break;
    if (word == "--help" || word == "-h") {
      out.help = true;
      return out;
    }
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    auto row = std::find_if(rows().begin(), rows().end(),
                            [&](const CheckedRow& r) { return name == r.row.name; });
    if (row == rows().end() && name != "--route")
      return Error{Code::invalid_value, fmt::format("unknown option {}", name),
                   "see: limen help run"};
    std::string value;
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (at + 1 < words.size()) {
      value = words[++at];
    } else {
      return Error{Code::invalid_value, fmt::format("{} needs a value", name),
                   "see: limen help run"};
    }
    if (name == "--route") {
      LIMEN_TRY(out.route, parse_route(value));
      continue;
    }
    if (!row->accepts(value))
      return Error{Code::invalid_value,
                   fmt::format("{} takes {}, not '{}'", name, row->wanted, value), ""};
    out.variables.emplace_back(row->row.variable, value);
  }
  out.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  if (out.command.empty())
    return Error{Code::invalid_value, "no program is named",
                 "write: limen run [options] program [arguments]"};
  return out;
}

}  // namespace limen::tools
