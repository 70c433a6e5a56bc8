// What a replay found: a row a case for machines, mismatches with their operands for people.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tools/test/golden_file.h"
#include "tools/test/run_cases.h"

namespace limen::golden {

class Report {
 public:
  /// shown: mismatching tuples printed a case. known: cases that are wrong, with the reason; one
  /// that turns out right is a failure too, so that the list stays true. any_nan: of several different
  /// f64 NaNs among the operands any may come out.
  Report(std::string family, size_t shown, const std::map<std::string, std::string>& known,
         bool any_nan)
      : family_(std::move(family)), shown_(shown), known_(known), any_nan_(any_nan) {}

  void add(const Kernel& kernel, const Case& item, const std::vector<uint8_t>& input,
           const std::vector<uint8_t>& want, const Outcome& outcome);
  void add_stale(const std::string& name, const std::string& why);
  void add_unrecorded(const std::string& name);
  void print_summary(const GoldenFile& golden) const;

  /// No mismatch, nothing over its bound, nothing stale. Cases that the driver refuses are counted
  /// but are no failures: a refusal is an answer, a wrong value is not.
  bool good() const { return wrong_ == 0 && stale_ == 0 && fixed_ == 0; }
  std::vector<std::string>& rows() { return rows_; }

 private:
  void print_mismatch(const Kernel& kernel, const std::vector<uint8_t>& input, size_t tuple,
                      uint64_t want, uint64_t got, unsigned bytes) const;

  std::string family_;
  size_t shown_;
  const std::map<std::string, std::string>& known_;
  bool any_nan_;
  std::vector<std::string> rows_;
  size_t exact_ = 0, bounded_ = 0, refused_ = 0, wrong_ = 0, stale_ = 0, unrecorded_ = 0;
  size_t known_wrong_ = 0, fixed_ = 0, other_nans_ = 0;
};

}  // namespace limen::golden
