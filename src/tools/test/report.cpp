// Rows are JSON objects: family, name, kind, and for bounded cases bound and largest ulp; failures
// as the number of tuples.
#include "tools/test/report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tools/test/bound.h"
#include "tools/test/inputs.h"

namespace limen::golden {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

uint64_t value_at(const std::vector<uint8_t>& plane, size_t at, unsigned bytes) {
  uint64_t value = 0;
  std::memcpy(&value, &plane[at], bytes);
  return value;
}

bool is_nan_f64(uint64_t bits) { return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000; }

/// Is `got` one of several different f64 NaNs among the operands, made quiet?
bool is_any_nan(const Kernel& kernel, const std::vector<uint8_t>& input, size_t tuple, uint64_t got) {
  constexpr uint64_t quiet = uint64_t{1} << 51;
  bool other = false, same = false;
  for (size_t c = 0; c < kernel.columns.size(); ++c) {
    if (kernel.columns[c].value_class != "f64") continue;
    const uint64_t v = input_value(kernel, input, c, tuple);
    if (is_nan_f64(v)) ((v | quiet) == got ? same : other) = true;
  }
  return same && other;
}

}  // namespace

void Report::print_mismatch(const Kernel& kernel, const std::vector<uint8_t>& input, size_t tuple,
                            uint64_t want, uint64_t got, unsigned bytes) const {
  fmt::print("   ");
  for (size_t c = 0; c < kernel.columns.size(); ++c) {
    unsigned digits = 2 * class_bytes(kernel.columns[c].value_class);
    fmt::print(" {}={:0{}x}", kernel.columns[c].name, input_value(kernel, input, c, tuple), digits);
  }
  fmt::print("  want {:0{}x} got {:0{}x}\n", want, 2 * bytes, got, 2 * bytes);
}

void Report::add(const Kernel& kernel, const Case& item, const std::vector<uint8_t>& input,
                 const std::vector<uint8_t>& want, const Outcome& outcome) {
  std::string head =
      fmt::format("{{\"family\": {}, \"name\": {}, \"kind\": \"{}\"", quoted(family_),
                  quoted(item.name), item.bound.empty() ? "exact" : "bounded");
  if (!item.bound.empty()) head += fmt::format(", \"bound\": {}", quoted(item.bound));
  if (!outcome.message.empty()) {
    ++refused_;
    fmt::print("{}: refused: {}: {}\n", family_, item.name, outcome.message);
    rows_.push_back(head + fmt::format(", \"message\": {}}}", quoted(outcome.message)));
    return;
  }
  size_t failures = 0, excused = 0, at = 0;
  double most_ulp = 0;
  auto known = known_.find(item.name);
  for (unsigned bytes : item.out_bytes) {
    for (size_t t = 0; t < kernel.tuples; ++t) {
      uint64_t w = value_at(want, at + t * bytes, bytes),
               g = value_at(outcome.output, at + t * bytes, bytes);
      if (w == g) continue;
      if (!item.bound.empty()) {
        std::vector<uint64_t> operands;
        for (size_t c = 0; c < kernel.columns.size(); ++c)
          operands.push_back(input_value(kernel, input, c, t));
        Distance distance = compare_bounded(item.name, item.bound, operands, w, g);
        most_ulp = std::max(most_ulp, distance.ulp);
        if (distance.within) continue;
      }
      if (any_nan_ && bytes == 8 && is_any_nan(kernel, input, t, g)) {
        ++other_nans_;
        continue;
      }
      if (known != known_.end()) {
        ++excused;
        continue;
      }
      ++failures;
      if (failures == 1) fmt::print("{}: WRONG: {}\n", family_, item.name);
      if (failures <= shown_) print_mismatch(kernel, input, t, w, g, bytes);
    }
    at += size_t{bytes} * kernel.tuples;
  }
  ++(item.bound.empty() ? exact_ : bounded_);
  if (known != known_.end() && !failures) {
    ++(excused ? known_wrong_ : fixed_);
    if (!excused)
      fmt::print("{}: right, but listed as wrong ({}): {}\n", family_, known->second, item.name);
  } else if (failures) {
    ++wrong_;
    fmt::print("    {} of {} tuples\n", failures, kernel.tuples);
  }
  if (!item.bound.empty())
    head += std::isinf(most_ulp) ? ", \"ulp\": \"inf\"" : fmt::format(", \"ulp\": {}", most_ulp);
  rows_.push_back(head +
                  fmt::format(", \"tuples\": {}, \"failures\": {}}}", kernel.tuples, failures));
}

void Report::add_stale(const std::string& name, const std::string& why) {
  ++stale_;
  fmt::print("{}: stale: {}: {}\n", family_, name, why);
}

void Report::add_unrecorded(const std::string& name) {
  ++unrecorded_;
  rows_.push_back(fmt::format("{{\"family\": {}, \"name\": {}, \"kind\": \"unrecorded\"}}",
                              quoted(family_), quoted(name)));
}

void Report::print_summary(const GoldenFile& golden) const {
  fmt::print(
      "{}: {} exact and {} bounded cases against {} ({}, {}): {} wrong, {} known to be "
      "wrong, {} refused, {} stale, {} not recorded{}\n",
      family_, exact_, bounded_, golden.device, golden.driver, golden.date, wrong_, known_wrong_,
      refused_, stale_, unrecorded_,
      any_nan_ ? fmt::format("; another of several NaNs in {} tuples", other_nans_) : "");
}

}  // namespace limen::golden
