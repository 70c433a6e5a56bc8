// How far a result of an approximate instruction may be from the device's, and is.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace limen::golden {

struct Distance {
  double ulp = 0;       ///< between the two results; infinite where one is a NaN or infinity alone
  bool within = true;   ///< of the bound
  bool counted = true;  ///< the operands lie where the manual states its bound
};

/// Compares one result of `text` (PTX). A result passes if it is the device's; if its error against
/// the true value is at most the bound, or no more than the error of the device's own result.
/// Zeros, infinities and NaNs must be the device's, and so must zeros where the bound is relative.
Distance compare_bounded(const std::string& text, const std::string& bound,
                         const std::vector<uint64_t>& operands, uint64_t want, uint64_t got);

}  // namespace limen::golden
