"""Prints devlib/device_runtime.inc and drivers/cpu/runtime_errors.inc.

The first from spec/device_runtime.toml: the functions of the device runtime that Limen provides to
kernels. The second from spec/runtime_errors.toml, in ascending order of code.
"""
import json
import sys
from pathlib import Path

import model

PREFIX = "__cudaCDP2"
GRAPH_PREFIX = "cudaGraph"  # graphs came with the second version: one name only
KEYS = {"name", "call", "returns", "params", "ptsz"}
MOST_PARAMS = 8


def functions(table):
    """One dictionary an entry point, the _ptsz twins included."""
    found = []
    for row in table["function"]:
        if set(row) - KEYS or not row["name"].startswith((PREFIX, GRAPH_PREFIX)) or len(row["params"]) > MOST_PARAMS:
            raise SystemExit(f"device_runtime.toml: bad row {row}")
        found.append({**row, "ptsz": False})
        if row.get("ptsz"):
            found.append({**row, "name": row["name"] + "_ptsz", "ptsz": True})
    return found


def main(out):
    table = model.load_toml(model.SPEC / "device_runtime.toml")
    rows = functions(table)
    calls = list(dict.fromkeys(row["call"] for row in rows))
    old = table["first_version"]["names"] + ["cuda" + row["name"].removeprefix(PREFIX) for row in rows if row["name"].startswith(PREFIX)]
    lines = ["// Generated from spec/device_runtime.toml by gen/emit_device_runtime.py.",
             "enum class DeviceCall : uint32_t {", *(f"  {call}," for call in calls), "};",
             "inline constexpr DeviceFunction device_functions[] = {"]
    for row in rows:
        ptsz = " | device_call_per_thread" if row["ptsz"] else ""
        sizes = ", ".join(str(size) for size in row["params"])
        lines.append(f"  {{\"{row['name']}\", static_cast<uint32_t>(DeviceCall::{row['call']}){ptsz}, "
                     f"{row['returns']}, {len(row['params'])}, {{{sizes}}}}},")
    lines += ["};", "inline constexpr std::string_view old_device_functions[] = {",
              *(f"  \"{name}\"," for name in old), "};"]
    model.write_if_changed(Path(out) / "devlib" / "device_runtime.inc", "\n".join(lines) + "\n")
    errors = sorted(model.load_toml(model.SPEC / "runtime_errors.toml")["error"], key=lambda e: e["code"])
    lines = ["// Generated from spec/runtime_errors.toml by gen/emit_device_runtime.py."]
    lines += [f"{{{e['code']}, {json.dumps(e['name'])}, {json.dumps(e['text'])}}}," for e in errors]
    model.write_if_changed(Path(out) / "drivers" / "cpu" / "runtime_errors.inc", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
