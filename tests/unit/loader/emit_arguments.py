"""Prints the argument kinds of every exported symbol, for bad_arguments_test: one line a symbol,
its name and a letter an argument.

  h handle   d device address   p pointer   s string   n size or count   i other number
  f callback   v device   t stream (null means the default stream)
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "gen"))
import model  # noqa: E402

HANDLES = {"CUarray", "CUasyncCallbackHandle", "CUcontext", "CUdevResourceDesc", "CUevent",
           "CUexternalMemory", "CUexternalSemaphore", "CUfunction", "CUgraph", "CUgraphExec",
           "CUgraphNode", "CUgraphicsResource", "CUgreenCtx", "CUkernel", "CUlibrary", "CUlinkState",
           "CUlogsCallbackHandle", "CUmemGenericAllocationHandle", "CUmemoryPool",
           "CUmipmappedArray", "CUmodule", "CUsurfObject", "CUsurfref", "CUtexObject", "CUtexref",
           "CUuserObject"}
CALLBACKS = {"CUasyncCallback", "CUhostFn", "CUlogsCallback", "CUoccupancyB2DSize",
             "CUstreamCallback"}
SIZES = {"size_t", "cuuint64_t", "unsigned long long"}


def letter(arg):
    if "str" in arg.words:
        return "s"
    if arg.is_pointer:
        return "p"
    if arg.type in HANDLES:
        return "h:" + arg.type
    if arg.type == "CUstream":
        return "t"
    if arg.type in CALLBACKS:
        return "f"
    if arg.type in ("CUdeviceptr", "CUdeviceptr_v1"):
        return "d"
    if arg.type == "CUdevice":
        return "v"
    return "n" if arg.type in SIZES else "i"


def main(out):
    lines = []
    for function in model.load_functions():
        for symbol, args, _ in function.all_symbols():
            lines.append(" ".join([symbol.name] + [letter(a) for a in args]))
    model.write_if_changed(Path(out) / "tests" / "arguments.txt", "\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
