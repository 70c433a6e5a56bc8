// Linking of several PTX modules into one, as separate compilation (-rdc=true) and cuLink* need it.
// Works on parsed modules: bodies are parsed first, then every symbol index is rewritten.
// Invariant: internal names of different inputs never meet. Thread rule: pure functions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ptx/ir.h"

namespace limen::ptx {

/// Merges the modules; one module is returned as it is.
/// errors: invalid_ptx for two definitions of one name, or declarations that do not agree.
Result<std::unique_ptr<Module>> link_modules(
    std::vector<std::unique_ptr<Module>> modules);

/// What the module defines for all and no other module may: neither internal, weak nor common.
std::vector<std::string> strong_definitions(const Module& module);

}  // namespace limen::ptx
