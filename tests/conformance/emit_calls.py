"""Prints conformance/driver_calls.h and .cpp: one function a name of the driver API, newest ABI.

Each finds its symbol in the libcuda.so.1 under test, so that the same binary runs on any driver,
and passes the result through `called`, where mutants and counts are made. A call that ends in a
signal answers `crashed`.
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

/// What a call answers that SIGSEGV, SIGBUS or SIGABRT ended. Locks of the driver may stay taken, so
/// the rest of the case has a few seconds.
constexpr CUresult crashed = static_cast<CUresult>(-1);

/// The address of an exported symbol of the driver under test; ends the case where it has none.
void* driver_symbol(const char* name);

"""

SOURCE = """\
// Printed by tests/conformance/emit_calls.py.
#include "conformance/calls.h"

namespace limen::conform {
namespace {

template <typename Call>
CUresult guarded(Call call) {
  sigjmp_buf here;
  sigjmp_buf* const outer = crash_point;
  CUresult result = crashed;
  if (sigsetjmp(here, 0) == 0) {
    crash_point = &here;
    result = call();
  }
  crash_point = outer;
  return result;
}

}  // namespace

"""

TAIL = "\n}  // namespace limen::conform\n"


def newest(function):
    plain = [s for s in function.symbols if not s.per_thread]
    return max(plain or function.symbols, key=lambda s: (s.since, len(s.name))).name


def declaration(function):
    return f"CUresult {function.name}({model.params(function.args)});\n"


def definition(function):
    names = ", ".join(arg.name for arg in function.args)
    return (
        f"CUresult {function.name}({model.params(function.args)}) {{\n"
        f"  using Call = CUresult (*)({model.params(function.args, False)});\n"
        f'  static const auto call = reinterpret_cast<Call>(driver_symbol("{newest(function)}"));\n'
        f'  if (is_mutant("{function.name}")) return CUDA_SUCCESS;\n'
        f'  return called("{function.name}", guarded([&] {{ return call({names}); }}));\n'
        "}\n")


def main(out):
    functions = model.load_functions()
    folder = Path(out) / "conformance"
    model.write_if_changed(folder / "driver_calls.h",
                           HEAD + "".join(map(declaration, functions)) + TAIL)
    model.write_if_changed(folder / "driver_calls.cpp",
                           SOURCE + "\n".join(map(definition, functions)) + TAIL)


if __name__ == "__main__":
    main(sys.argv[1])
