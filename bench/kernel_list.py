"""Reads bench/kernels.toml: which kernels there are, what each moves and computes, how exact it is."""
import dataclasses
import tomllib
from pathlib import Path

FILE = Path(__file__).resolve().parent / "kernels.toml"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One kernel; the fields are those that kernels.toml explains."""
    name: str
    kind: str
    bytes: int
    flops: int
    precision: str = "f32"
    tolerance: float = 1e-3
    odd_share: float = 0.0
    reason: str = ""


def read_kernels(text):
    """All kernels by name, in the file's order. What is unknown, missing or impossible is an error."""
    kernels = {}
    fields = {field.name for field in dataclasses.fields(Kernel)} - {"name"}
    for name, row in tomllib.loads(text).items():
        if not isinstance(row, dict):
            raise ValueError(f"kernels.toml: '{name}' is no table")
        if unknown := sorted(set(row) - fields):
            raise ValueError(f"kernels.toml: {name}: unknown key '{unknown[0]}'")
        if missing := sorted({"kind", "bytes", "flops"} - set(row)):
            raise ValueError(f"kernels.toml: {name}: '{missing[0]}' is missing")
        if row["bytes"] < 0 or row["flops"] < 0 or row["bytes"] + row["flops"] == 0:
            raise ValueError(f"kernels.toml: {name}: bytes {row['bytes']} and flops {row['flops']}")
        kernel = Kernel(name=name, **row)
        if kernel.precision not in ("f32", "f64"):
            raise ValueError(f"kernels.toml: {name}: precision '{kernel.precision}'")
        kernels[name] = kernel
    return kernels


def all_kernels():
    return read_kernels(FILE.read_text())
