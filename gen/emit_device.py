"""Prints drivers/cpu/device_attributes.inc from spec/device.toml: one `{id, value}` a fixed attribute.

Computed attributes are left out; a row with an unknown key is an error.
"""
import sys
from pathlib import Path

import model

KEYS = {"id", "name", "value", "why"}


def main(out):
    rows = model.load_toml(model.SPEC / "device.toml")["attribute"]
    lines = ["// Fixed attributes of the CPU device. Generated from spec/device.toml by gen/emit_device.py."]
    seen = set()
    for row in rows:
        if set(row) - KEYS or row["id"] in seen:
            raise SystemExit(f"device.toml: bad row {row}")
        seen.add(row["id"])
        if row["value"] != "computed":
            lines.append(f"{{CU_DEVICE_ATTRIBUTE_{row['name']}, {row['value']}}},")
    target = Path(out) / "drivers" / "cpu" / "device_attributes.inc"
    model.write_if_changed(target, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
