// Tells debuggers and profilers about generated code, on demand: LIMEN_GDB=1 for gdb and lldb (the
// GDB JIT interface), LIMEN_PERF=1 for perf (/tmp/perf-PID.map). Private to this room.
#pragma once
#include <memory>

#include "compiler/image/object.h"

namespace limen::image {

/// Withdraws the code from the debugger's list when destroyed. Empty unless LIMEN_GDB=1.
using DebugRegistration = std::shared_ptr<void>;

/// Announces a loaded object to whoever asked by environment variable.
/// thread: any; a lock of its own.
DebugRegistration register_debug(const Object& object);

}  // namespace limen::image
