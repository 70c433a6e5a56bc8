// Names and texts of the runtime API's errors, as kernels are told them. Data: from
// spec/runtime_errors.toml. Thread rule: constants.
#include <algorithm>
#include <iterator>

#include "drivers/cpu/device_runtime/device_grid.h"

namespace limen::cpu {

namespace {

struct Row {
  int code;
  const char* name;
  const char* text;
};

constexpr Row rows[] = {
#include "drivers/cpu/runtime_errors.inc"
};

const Row* find(int code) {
  const Row* row = std::lower_bound(std::begin(rows), std::end(rows), code,
                                    [](const Row& one, int wanted) { return one.code < wanted; });
  return row != std::end(rows) && row->code == code ? row : nullptr;
}

constexpr const char* unknown = "unrecognized error code";

}  // namespace

const char* runtime_error_name(int code) {
  const Row* row = find(code);
  return row ? row->name : unknown;
}

const char* runtime_error_text(int code) {
  const Row* row = find(code);
  return row ? row->text : unknown;
}

}  // namespace limen::cpu
