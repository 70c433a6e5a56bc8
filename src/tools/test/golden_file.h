// A golden: what a device answered for the cases of one family. Text header, then one zstd frame
// with an index line a case and the outputs. Outputs are stored as byte planes, predicates as bits,
// each case as its difference from an earlier one where that is smaller.
// docs/how/record_goldens.md.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/test/cases.h"

namespace limen::golden {

struct RecordedCase {
  std::string name;
  std::string bound;
  std::string outs;
  std::string signature;    ///< of the kernel it stood in
  uint32_t input_hash = 0;  ///< of that kernel's input
  std::vector<uint8_t> output;
};

struct GoldenFile {
  std::string family, driver, device, date;
  std::vector<RecordedCase> cases;
};

Result<void> write_golden(const GoldenFile& golden, const std::string& path);
Result<GoldenFile> read_golden(const std::string& path);

/// Sizes of the outputs that a list of register types stands for.
std::vector<unsigned> out_sizes(const std::string& outs);

}  // namespace limen::golden
