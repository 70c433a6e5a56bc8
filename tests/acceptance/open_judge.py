"""Decides whether a public program's run on Limen is right.

Three witnesses: the program's own check, its output against the H200's with times, rates and device
names left out, and the numbers that dtoh_hash.cpp took of its memory. Pure functions, no state.
"""
from __future__ import annotations

import re
from pathlib import Path

NUMBER = r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?"
# Lines whose numbers belong to the machine, not to the computation.
MACHINE_LINE = re.compile(
    r"(?i)nvidia|limen cpu|time|second|\bms\b|\busec|\(us\)|/s\b|/sec\b|bandwidth|"
    r"throughput|speed|gpu |hopper|"
    r"device(?! result)|\bcompute capabilit|\bSM \d|cpu executed|launching|starting|host cpus|"
    r"cpu thread|clock")
TOLERANCE = 1e-3
MEMORY_TOLERANCE = 2e-4

# Where the general rule does not fit, with the reason.
OVERRIDES = {
    # Particles deposit charge by float atomics: two runs on the H200 differ in the third digit.
    "hecbench/sheath": {"tolerance": 0.05},
    # Lanes race for the data by design and its size follows the L2 cache: what can be asked is that
    # the kernel changed both buffers, which start as copies of the host's (record indices).
    "cuda-samples/simpleAttributes": {"changed": [[2, 0], [3, 1]]},
    # An 8-bit picture: a few of its bytes may fall on the other side of a rounding.
    "hecbench/aobench": {"bytes": 1e-5},
    # Its error bars are roots of cancelled sums (one is -nan on the H200); the means are not.
    "hecbench/vmc": {"mask": r"\+- \S+"},
    # It writes ten pictures and upstream ships two of them; its scratch memory follows the device.
    "cuda-samples/segmentationTreeThrust": {
        "files": [["level_00.ppm", "data/ref_00.ppm"], ["level_09.ppm", "data/ref_09.ppm"]]},
    # The upstream's input file is absent, and without one no kernel runs; its example has one.
    "hecbench/logan": {
        "args": "inputs/example.txt 17 21 1", "data": ["src/logan-cuda/inputs/example.txt"],
        "output": "192 122 812 5669 552 179 2205 943 4107 3710 3103 1458 334 202 2353 253 53 176 "
                  "560 931 406 1339 5603 41 549 1413 147 3467 4887"},
}


def key(program: dict) -> str:
    return f"{program['suite']}/{program['name']}"


def comparable_lines(text: str) -> list[str]:
    lines = []
    for line in text.splitlines():
        line = line.strip()
        if line and not MACHINE_LINE.search(line):
            lines.append(line)
    return lines


def same_line(got: str, want: str, tolerance: float) -> bool:
    if re.sub(NUMBER, "#", got) != re.sub(NUMBER, "#", want):
        return False
    for a, b in zip(re.findall(NUMBER, got), re.findall(NUMBER, want)):
        x, y = float(a), float(b)
        if abs(x - y) > tolerance * max(abs(y), 1e-6) and abs(x - y) > 1e-4:
            return False
    return True


def compare_output(got: str, want: str, tolerance: float, mask: str = "") -> str:
    """'' or where the output leaves the H200's. A recorded output may be cut at its end."""
    cut = len(want) >= 1500
    wanted = comparable_lines(want)
    if cut and wanted:
        wanted = wanted[:-1]
    given = comparable_lines(got)
    if mask:
        wanted = [re.sub(mask, "", line) for line in wanted]
        given = [re.sub(mask, "", line) for line in given]
    if len(given) < len(wanted) or (not cut and len(given) > len(wanted)):
        return f"output has {len(given)} comparable lines, the H200's {len(wanted)}"
    for a, b in zip(given, wanted):
        if not same_line(a, b, tolerance):
            return f"output {a[:80]!r}, the H200's {b[:80]!r}"
    return ""


def judge_output(program: dict, run) -> str:
    """'' when the program's check and, if it has none, the H200's output are met."""
    check = program["check"]
    override = OVERRIDES.get(key(program), {})
    if run.timed_out:
        return f"no end after {run.seconds:.0f} s"
    if run.status < 0:
        return f"ended by signal {-run.status}"
    if check["exit_status"] is not None and run.status != check["exit_status"]:
        return f"exit status {run.status}"
    if check["fail_regex"]:
        found = re.search(check["fail_regex"], run.output)
        if found:
            line = run.output[:found.end()].splitlines()[-1]
            return f"its output says {line[-80:]!r}"
    if check["pass_regex"] and not re.search(check["pass_regex"], run.output):
        return "its output lacks the pass line"
    if check["mode"] != "hard" and not override.get("ignore_output"):
        own = override.get("output")  # recorded by us, where the arguments are ours
        wanted = "\n".join(own.split()) if own else program.get("h200_output", "")
        return compare_output(run.output, wanted,
                              override.get("tolerance", TOLERANCE), override.get("mask", ""))
    return ""


def memory_verdict(program: dict, known: dict, records: list[dict],
                   folder: Path) -> tuple[bool, str]:
    """Whether what the kernels left is right, and the sentence for the table."""
    files = OVERRIDES.get(key(program), {}).get("files")
    if files:
        same = sum((folder / a).exists() and (folder / a).read_bytes() == (folder / b).read_bytes()
                   for a, b in files)
        return same == len(files), f"{same} of {len(files)} files are upstream's"
    pairs = OVERRIDES.get(key(program), {}).get("changed")
    if pairs:
        data = [r for r in records if r["what"] != "end"]
        changed = sum(max(a, b) < len(data) and data[a]["bytes"] == data[b]["bytes"] and
                      data[a]["hash"] != data[b]["hash"] for a, b in pairs)
        return changed == len(pairs), f"{changed} of {len(pairs)} buffers changed"
    compared = compare_records(known, records, known.get("unstable", []),
                               OVERRIDES.get(key(program), {}).get("bytes", 0))
    return compared["good"], compared["summary"]


def same_sums(a: list, b: list, tolerance: float) -> bool:
    if a[1] != b[1]:
        return False  # numbers of infinities and NaNs
    scale = max(a[3], 1e-30)
    return all(abs(x - y) <= tolerance * scale for x, y in zip(a[2:], b[2:]))


def same_record(a: dict, b: dict, tolerance: float, byte_tolerance: float) -> bool:
    """Whether b holds what the recorded a held: bit by bit, or as floats within the tolerance."""
    if a["hash"] == b["hash"]:
        return True
    if byte_tolerance:
        return all(abs(x - y) <= byte_tolerance * x for x, y in zip(a["u8"], b["u8"]))
    for kind in ("f32", "f64", "f16"):
        if a[kind][0] >= 0.98:
            return same_sums(a[kind], b[kind], tolerance)
    return False


def compare_records(known: dict, got: list[dict], unstable=(), byte_tolerance: float = 0) -> dict:
    """Compares a recording with the records of another run.

    Records pair up by what they are and their size, in order, so that an extra one does not shift
    the others. `unstable` are indices that differ between two runs on the H200 itself.
    """
    data = [r for r in got if r["what"] != "end"]
    known_records = known["records"]
    cut = known["count"] > len(known_records)
    by_kind: dict[tuple, list] = {}
    for r in data:
        by_kind.setdefault((r["what"], r["bytes"]), []).append(r)
    position: dict[tuple, int] = {}
    different, compared = [], 0
    for r in known_records:
        if cut:
            other = data[r["at"]] if r["at"] < len(data) else None
        else:
            kind = (r["what"], r["bytes"])
            i = position.get(kind, 0)
            position[kind] = i + 1
            there = by_kind.get(kind, [])
            other = there[i] if i < len(there) else None
        if r["at"] in unstable:
            continue
        compared += 1
        if not other or other["bytes"] != r["bytes"] or not same_record(
                r, other, MEMORY_TOLERANCE, byte_tolerance):
            different.append(r["at"])
    good = compared > 0 and not different
    summary = f"{compared - len(different)} of {compared} records match"
    return {"good": good, "different": different, "compared": compared, "summary": summary}


def table(results: dict, programs: list[dict], control: bool) -> str:
    """The markdown page: one row a program, then the programs left out with the reason."""
    import open_build

    variants = sorted({name.split(" ")[1] for name in results})
    lines = ["| program | judged by | " + " | ".join(variants) + " | seconds | memory |",
             "|---|---|" + "---|" * len(variants) + "---|---|"]
    good = dict.fromkeys(variants, 0)
    total = 0
    for p in programs:
        rows = {v: results.get(f"{key(p)} {v}") for v in variants}
        if not any(rows.values()):
            continue
        total += 1
        cells = []
        for v in variants:
            r = rows[v]
            if r is None:
                cells.append("not run")
            elif r["pass"]:
                good[v] += 1
                cells.append("pass")
            else:
                cells.append(r["reason"].replace("|", "\\|").replace("\n", " ")[:120])
        first = next(r for r in rows.values() if r)
        seconds = max((r.get("seconds", 0) for r in rows.values() if r), default=0)
        lines.append(f"| {key(p)} | {first.get('by', '')} | " + " | ".join(cells) +
                     f" | {seconds} | {first.get('checksum', '')} |")
    head = ", ".join(f"{v}: {good[v]} of {total} pass" for v in variants)
    if control:
        head = "Control run, kernels do nothing (a pass here is a failure). " + head
    lines = [head, "", *lines, "", "Left out:", "", "| program | why not yet |", "|---|---|"]
    for p in programs:
        reasons = open_build.reasons_out_of_scope(p)
        if reasons:
            lines.append(f"| {key(p)} | {', '.join(reasons)} |")
    return "\n".join(lines) + "\n"
