// PTX text to ir.h. parse_module reads the directory (variables, functions, parameters) and finds
// each body's extent; parse_body reads one function's instructions. Any text, however hostile, gives
// a Module or an error with line, column and the offending text; never a crash.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "compiler/ptx/ir.h"

namespace limen::ptx {

/// The newest .version that is read.
inline constexpr uint32_t newest_major = 9, newest_minor = 0;

/// errors: invalid_ptx (syntax, with line), unsupported_ptx_version (newer than 9.0),
///         no_binary_for_gpu is decided by the caller from Module::target_sm.
Result<std::unique_ptr<Module>> parse_module(std::string text);

/// Parses function `index`; idempotent. errors: invalid_ptx with line and column.
Result<void> parse_body(Module& module, Index index);

/// Gives the memory of a parsed body back (some fifteen times its text); parse_body reads it again.
void forget_body(Module& module, Index index);

/// Checks operand types, counts, spaces, version and target of a parsed body against the table.
Result<void> verify_body(const Module& module, Index index);

/// Canonical text of an instruction, for messages.
std::string to_text(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace limen::ptx
