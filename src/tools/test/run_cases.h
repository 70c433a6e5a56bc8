// Runs the cases of a kernel together, and apart from those that the driver refuses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/test/cases.h"
#include "tools/test/driver.h"

namespace limen::golden {

struct Outcome {
  std::vector<uint8_t> output;  ///< planes of the case's results, one after the other
  std::string message;          ///< why there is none; empty otherwise
};

/// One outcome a case of the kernel.
std::vector<Outcome> run_cases(Driver& driver, const Family& family, const Kernel& kernel,
                               const std::vector<uint8_t>& input);

}  // namespace limen::golden
