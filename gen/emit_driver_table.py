"""Prints abi/driver_table.h (struct DriverTable) and abi/cpu_api.h (what the CPU driver may define).

The table holds one function a name, in its newest signature; emit_exports.py turns every
other ABI into that one.
"""
import sys
from pathlib import Path

import model

TABLE = """\
// The driver table: one function a name of the driver API, newest signature. Generated from
// spec/api/driver by gen/emit_driver_table.py. `size_bytes` and `hash` let the loader refuse a
// driver library built from another table. Copies without a stream argument take one last.
#pragma once
#include "abi/cuda_abi.h"
#include "abi/driver_private.h"

namespace limen {{

constexpr uint32_t driver_table_hash = {hash:#x}u;

struct DriverTable {{
  uint32_t size_bytes;
  uint32_t hash;
  DriverPrivate internal;
{entries}
}};

}}  // namespace limen

/// The one symbol of a driver library.
extern "C" __attribute__((visibility("default"))) const limen::DriverTable limen_driver_table;
"""

CPU = """\
// Every function the CPU driver may define, under its API name. Generated from spec/api/driver by
// gen/emit_driver_table.py. Those not defined under src/drivers/cpu answer
// CUDA_ERROR_NOT_SUPPORTED and say their name once (gen/emit_cpu_table.py). See src/abi/README.md.
#pragma once
#include "abi/cuda_abi.h"
#include "abi/driver_private.h"

namespace limen::cpu {{

CUcontext current_context();
CUresult primary_context_handle(CUcontext* context, CUdevice device);
void set_context_end_hook(ContextEndHook hook);

{declarations}

}}  // namespace limen::cpu
"""


def main(out):
    functions = [f for f in model.load_functions() if f.in_table]
    entries = "\n".join(f"  CUresult (*{f.name})({model.params(f.table_args)});" for f in functions)
    declarations = "\n".join(f"CUresult {f.name}({model.params(f.table_args)});" for f in functions)
    abi = Path(out) / "abi"
    table = TABLE.format(hash=model.table_hash(functions), entries=entries)
    model.write_if_changed(abi / "driver_table.h", table)
    model.write_if_changed(abi / "cpu_api.h", CPU.format(declarations=declarations))


if __name__ == "__main__":
    main(sys.argv[1])
