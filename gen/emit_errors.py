"""Prints loader/error_table.inc and drivers/cpu/error_names.inc from spec/errors.toml, in ascending
order of code."""
import json
import sys
from pathlib import Path

import model


def main(out):
    errors = sorted(model.load_toml(model.SPEC / "errors.toml")["error"], key=lambda e: e["code"])
    known = {v.split(" = ")[0]: int(v.split(" = ")[1], 0)
             for enum in model.load_types()["enum"] if enum["names"] == ["CUresult"]
             for v in enum["values"]}
    listed = {e["name"]: e["code"] for e in errors}
    for name, code in listed.items():
        if known.get(name) != code:
            raise SystemExit(f"errors.toml: {name} is {known.get(name)} in types.toml, not {code}")
    for name in known.keys() - listed.keys():
        raise SystemExit(f"errors.toml: {name} is missing")
    rows = [f"{{{e['code']}, {json.dumps(e['name'])}, {json.dumps(e['text'])}}}," for e in errors]
    model.write_if_changed(Path(out) / "loader" / "error_table.inc", "\n".join(rows) + "\n")
    names = [f"{{{e['code']}, {json.dumps(e['name'])}}}," for e in errors]
    model.write_if_changed(Path(out) / "drivers" / "cpu" / "error_names.inc",
                           "\n".join(names) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
