// Operands of cp.async.bulk.tensor and its kin, which the form table leaves open. Reads only.
#pragma once
#include <string>

#include "compiler/ptx/ir.h"

namespace limen::ptx {

/// What is wrong with the instruction's operands; empty if nothing is. Forms whose state is `later`
/// are not looked at.
std::string check_tensor(const Function& function, const Instruction& inst);

/// The same of a tensormap.replace: its constants.
std::string check_replaced_field(const Instruction& inst);

}  // namespace limen::ptx
