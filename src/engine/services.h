// The table of services that generated code calls (kernel::Runtime), as the engine provides it.
// Thread rule: the table is constant; each service runs on the worker of the block it is given.
#pragma once
#include "devlib/kernel_abi.h"

namespace limen::engine {

extern const kernel::Runtime runtime_table;

}  // namespace limen::engine
