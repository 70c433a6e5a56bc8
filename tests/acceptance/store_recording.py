#!/usr/bin/env python3
"""Turns recordings of run_open_programs.py --record into h200_outputs.json: numbers only.

Programs whose own check fails when kernels do nothing keep their summary and no records; the others
keep the records that must match. Later recordings replace earlier ones of the same program.
"""
import json
import sys
from pathlib import Path

KEPT = ("count", "launches", "records", "unstable", "seconds", "needs_checksum")


def main() -> int:
    device, *recordings = sys.argv[1:]
    programs = {}
    for recording in recordings:
        for name, result in json.loads(Path(recording).read_text()).items():
            entry = {k: result[k] for k in KEPT}
            if not entry["needs_checksum"]:
                entry["records"] = []
            programs[name.split(" ")[0]] = entry
    lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(programs[n])}" for n in sorted(programs))
    out = Path(__file__).resolve().parent / "h200_outputs.json"
    out.write_text('{"device": %s,\n"programs": {\n%s\n}}\n' % (json.dumps(device), lines))
    print(f"{out.name}: {len(programs)} programs, {out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
