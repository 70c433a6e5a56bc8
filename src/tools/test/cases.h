// The kernels of a family as gen/golden_cases.py writes them: PTX with lines `//!` that say which
// instructions make which case. Can be put together again without some cases.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace limen::golden {

/// One operand of a kernel's cases: a column of the input.
struct Column {
  std::string name;
  std::string value_class;  ///< what values it takes, see inputs.h
};

struct Case {
  std::string name;   ///< its PTX text
  std::string bound;  ///< empty: exact
  std::string outs;   ///< types of the registers it stores, with commas
  std::vector<unsigned> out_bytes;
  std::string body;
  size_t offset = 0;  ///< of its first plane in the output
  unsigned bytes_a_tuple() const;
};

struct Kernel {
  std::string name;
  unsigned tuples = 0;
  std::vector<Column> columns;
  std::string prologue;
  std::vector<Case> cases;
  size_t output_bytes = 0;
  /// Columns and number of tuples: what the input depends on.
  std::string signature() const;
};

struct Family {
  std::string name;
  std::string header;
  std::vector<Kernel> kernels;
};

/// errors: invalid_source (names the line).
Result<Family> read_family(const std::string& path);

/// A module with the kernel and those of its cases in `members`; `first_lines[i]` is the line at
/// which the case members[i] begins.
std::string module_text(const Family& family, const Kernel& kernel,
                        const std::vector<size_t>& members, std::vector<size_t>* first_lines);

}  // namespace limen::golden
