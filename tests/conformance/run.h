// What the runner and the cases share inside the suite; test files include conform.h only.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "conformance/calls.h"
#include "conformance/conform.h"

namespace limen::conform {

std::vector<Case>& cases();
void open_driver();
/// From here on a signal inside a call of the driver ends the call only.
void catch_crashes();
void set_mutant(const std::string& function);

extern int report_descriptor;              ///< where a case's observations go
extern std::string_view running_function;  ///< of the case that this process runs

}  // namespace limen::conform
