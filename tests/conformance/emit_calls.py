"""Prints conformance/driver_calls.h: one inline function a name of the driver API, newest ABI.

Each finds its symbol in the libcuda.so.1 under test, so that the same binary runs on any driver,
and passes the result through `called`, where mutants and counts are made.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))
import model  # noqa: E402

HEAD = """\
// The driver API under the names of the documentation. Printed by tests/conformance/emit_calls.py.
#pragma once
#include "abi/cuda_abi.h"

namespace limen::conform {

/// The address of an exported symbol of the driver under test; ends the case where it has none.
void* driver_symbol(const char* name);
/// Whether calls of `function` shall answer success and do nothing.
bool is_mutant(const char* function);
/// Counts the call; returns `result`.
CUresult called(const char* function, CUresult result);

"""


def newest(function):
    plain = [s for s in function.symbols if not s.per_thread]
    return max(plain or function.symbols, key=lambda s: (s.since, len(s.name))).name


def call(function):
    names = ", ".join(arg.name for arg in function.args)
    return (
        f"inline CUresult {function.name}({model.params(function.args)}) {{\n"
        f"  using Call = CUresult (*)({model.params(function.args, False)});\n"
        f'  static const auto call = reinterpret_cast<Call>(driver_symbol("{newest(function)}"));\n'
        f'  if (is_mutant("{function.name}")) return CUDA_SUCCESS;\n'
        f'  return called("{function.name}", call({names}));\n'
        "}\n")


def main(out):
    text = HEAD + "\n".join(call(f) for f in model.load_functions()) + "\n}  // namespace limen::conform\n"
    model.write_if_changed(Path(out) / "conformance" / "driver_calls.h", text)


if __name__ == "__main__":
    main(sys.argv[1])
