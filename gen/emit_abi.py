"""Prints abi/cuda_abi.h: every type and constant of the CUDA driver API, from spec/api/types.toml.

Function declarations are not in it: emit_driver_table.py prints those.
"""
import sys
from pathlib import Path

import model

OPENER = """\
// The types and constants of the CUDA driver API {version}, by their own names. Generated from
// spec/api/types.toml by gen/emit_abi.py; layouts are checked below against the sizes in the table.
// Declares no function. C and C++; no dependency but the integer headers.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#define LIMEN_ALIGN(bytes) alignas(bytes)
// Callers, which may be C, store any number in an enumeration: with a fixed type every one is valid.
#define LIMEN_ENUM_TYPE(type) : type
extern "C" {{
#else
#include <stdbool.h>
#define LIMEN_ALIGN(bytes) _Alignas(bytes)
#define LIMEN_ENUM_TYPE(type)
#endif
"""


def emit_enum(enum):
    tag = enum.get("tag", "")
    signed = any("= -" in value for value in enum["values"])
    type_name = "int" if signed else "unsigned int"
    lines = [f"typedef enum {tag} LIMEN_ENUM_TYPE({type_name}) {{".replace("  ", " ")]
    lines += [f"  {value}," for value in enum["values"]]
    lines.append(f"}} {', '.join(enum['names'])};\n")
    return "\n".join(lines)


def emit_type(row):
    kind = row["kind"]
    if kind == "alias":
        return f"typedef {row['of']} {row['name']};"
    if kind == "handle":
        return f"typedef struct {row['tag']}* {row['name']};"
    if kind == "callback":
        return f"typedef {row['decl']};"
    if kind not in ("struct", "union"):
        raise SystemExit(f"types.toml: unknown kind {kind!r}")
    body = "\n".join("  " + line for line in row["body"].strip("\n").split("\n"))
    text = f"typedef {kind} {row.get('tag', '')} {{\n{body}\n}} {', '.join(row['names'])};"
    name = row["names"][0]
    check = f"sizeof({name}) == {row['size']}"
    return f'{text}\n#ifdef __cplusplus\nstatic_assert({check}, "{name}");\n#endif\n'


def main(out):
    types = model.load_types()
    version = next(c["value"] for c in types["const"] if c["name"] == "CUDA_VERSION")
    parts = [OPENER.format(version=f"{int(version) // 1000}.{int(version) % 1000 // 10}")]
    parts += [emit_enum(enum) for enum in types["enum"]]
    parts += [emit_type(row) for row in types["type"]]
    parts += [f"#define {c['name']} {c['value']}" for c in types["const"]]
    parts.append("#ifdef __cplusplus\n}\n#endif\n")
    model.write_if_changed(Path(out) / "abi" / "cuda_abi.h", "\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1])
