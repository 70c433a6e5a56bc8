"""Prints base/config_fields.h (struct Config) and base/config_table.inc, from spec/config.toml."""
import json
import sys
from pathlib import Path

import model

TYPES = {"string": "std::string", "int": "int64_t", "size": "uint64_t", "bool": "bool",
         "choice": "std::string", "cc": "ComputeCapability"}
OPENER = """\
// The values of every LIMEN_* variable. Generated from spec/config.toml by gen/emit_config.py; read
// through limen::config() in base/config.h.
#pragma once
#include <cstdint>
#include <string>

namespace limen {{

struct ComputeCapability {{
  int major = 0;
  int minor = 0;
}};

struct Config {{
{fields}
}};

}}  // namespace limen
"""


def field_name(row):
    return row["name"].removeprefix("LIMEN_").lower()


def main(out):
    rows = model.load_toml(model.SPEC / "config.toml")["var"]
    fields, table = [], []
    for row in rows:
        if row["type"] not in TYPES:
            raise SystemExit(f"config.toml: {row['name']}: unknown type {row['type']!r}")
        unit = ", bytes" if row["type"] == "size" else ""
        fields.append(f"  {TYPES[row['type']]} {field_name(row)}{{}};  ///< {row['name']}{unit}")
        values = "|".join(row.get("values", []))
        table.append("ROW({}, {}, {}, {}, {}, {}, {}, {})".format(
            row["type"], field_name(row), json.dumps(row["name"]), json.dumps(row["default"]),
            row.get("min", 0), row.get("max", 0), json.dumps(values), json.dumps(row["meaning"])))
    base = Path(out) / "base"
    model.write_if_changed(base / "config_fields.h", OPENER.format(fields="\n".join(fields)))
    model.write_if_changed(base / "config_table.inc", "\n".join(table) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
