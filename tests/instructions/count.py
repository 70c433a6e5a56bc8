"""Counts the machine instructions that the compiler makes and compares with what is committed.

forms: a kernel for each PTX form (form_kernels.py), forms.txt. bench: the kernels of bench/kernels
as nvcc's PTX, with the block dimensions that the bench launches (bench_blocks.txt), bench.txt.
Kernels are compiled for x86-64-v3 (AVX2) and x86-64-v4 (AVX-512), on any machine; nothing is run.
Counts belong to a version of LLVM, those of the bench to one of nvcc too: with another one the part
is skipped (exit 77). docs/how/instruction_counts.md says what to do about a difference.

usage: count.py --emit build/bin/emit_objects [--nvcc nvcc] [--work build/instructions] [--update]
                [forms] [bench]
"""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import form_kernels
import listing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from kernel_list import all_kernels  # noqa: E402

LEVELS = {"v3": "x86-64-v3", "v4": "x86-64-v4"}
# Whole warps; the compiler chooses strategy and width itself.
FORM_BLOCK = (str(form_kernels.THREADS), "1", "1")
SKIP = 77
COLUMN = 6


class Skip(Exception):
    pass


def run(command):
    """What a program prints. Its failure ends the test with its own words."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} fails ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def llvm_version(emit):
    return ".".join(run([emit, "--llvm"]).strip().split(".")[:2])


def nvcc_version(nvcc):
    return re.search(r"release ([\d.]+)", run([nvcc, "--version"])).group(1)


def emit(arguments, part, jobs):
    """Compiles the jobs; what each object holds, in their order."""
    list_file = arguments.work / f"{part}.jobs"
    list_file.write_text("".join("\t".join(job) + "\n" for job in jobs))
    run([arguments.emit, list_file])
    objects = [job[-1] for job in jobs]
    counts = listing.count_files(arguments.objdump, objects, with_loops=part == "bench")
    return [counts[path] for path in objects]


def forms(arguments):
    """Rows of forms.txt: name, counts."""
    entries = form_kernels.kernels()
    ptx = arguments.work / "forms.ptx"
    ptx.write_text(form_kernels.module_text(entries))
    jobs = [(target, str(ptx), kernel, *FORM_BLOCK, "free", str(arguments.work / f"{kernel}.{level}.o"))
            for level, target in LEVELS.items() for _, _, _, kernel in entries]
    counts = emit(arguments, "forms", jobs)
    rows = {}
    for at, (family, name, _, _) in enumerate(entries):
        key = f"{family}: {name}"
        if key in rows:
            raise SystemExit(f"two kernels are called '{key}'")
        rows[key] = " ".join(f"{c.total:{COLUMN}}" for c in counts[at::len(entries)])
    return rows


def bench_ptx(arguments, program):
    """The program's PTX; nvcc is asked where a source is newer."""
    out = arguments.work / f"{program}.ptx"
    source = ROOT / "bench/kernels" / f"{program}.cpp"
    newest = max(p.stat().st_mtime for p in (source, ROOT / "bench/kernels/bench.h"))
    if not out.exists() or out.stat().st_mtime < newest:
        made = out.with_suffix(".new")
        run([arguments.nvcc, "-std=c++17", "-O3", "-x", "cu", "-DPEER_CUDA", "-ptx", "-o", made, source])
        made.rename(out)
    return out


def bench_blocks():
    """(program, kernel, block dimensions, residency) of each launch of the bench."""
    rows = [line.split() for line in (HERE / "bench_blocks.txt").read_text().splitlines()
            if line and not line.startswith("#")]
    return [(program, kernel, tuple(block.split("x")), residency)
            for program, kernel, block, residency in rows]


def check_bench(launches, ptx):
    """Every program of the bench and every kernel of its PTX is counted."""
    known = {(program, kernel) for program, kernel, _, _ in launches}
    there = {(program, kernel) for program, path in ptx.items()
             for kernel in re.findall(r"\.entry\s+([\w$]+)", path.read_text())}
    wrong = [f"bench_blocks.txt lacks {' '.join(pair)}" for pair in sorted(there - known)]
    wrong += [f"bench_blocks.txt has {' '.join(pair)}, which is not there" for pair in sorted(known - there)]
    if wrong:
        raise SystemExit("\n".join(wrong))


def bench(arguments):
    """Rows of bench.txt: program, kernel, blocks and level; all instructions and those of loops."""
    launches = bench_blocks()
    ptx = {program: bench_ptx(arguments, program) for program in all_kernels()}
    check_bench(launches, ptx)
    jobs, names = [], []
    for program, kernel, block, residency in launches:
        for level, target in LEVELS.items():
            stem = f"{program}.{kernel[:60]}.{'x'.join(block)}.{level}.o"
            jobs.append((target, str(ptx[program]), kernel, *block, residency,
                         str(arguments.work / stem)))
            names.append(f"{program} {kernel} {'x'.join(block)} {level}")
    return dict(zip(names, (c.text() for c in emit(arguments, "bench", jobs))))


def golden_line(part, name, counts):
    """Numbers in columns come first, lists of any length last."""
    return f"{counts}  | {name}\n" if part == "forms" else f"{name}  | {counts}\n"


def read_golden(part, path):
    """(header, rows)."""
    head, rows = "", {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#"):
            head += line + "\n"
        elif line:
            first, _, second = line.partition("  | ")
            name, counts = (second, first) if part == "forms" else (first, second)
            rows[name] = counts
    return head, rows


def versions_of(head):
    return dict(re.findall(r"^# (LLVM|nvcc) ([\d.]+)$", head, re.M))


def differences(old, new):
    """Lines that say what changed: form, old, new."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if was is None or now is None:
            lines.append(f"  {name}\n    {'new' if was is None else 'gone'}: {' '.join((was or now).split())}")
        else:
            lines.append(f"  {name}\n    old: {' '.join(was.split())}\n    new: {' '.join(now.split())}")
    return lines


PARTS = {
    "forms": (forms, "forms.txt",
              "# Machine instructions of one kernel a PTX form: x86-64-v3 (AVX2), x86-64-v4 (AVX-512), form.\n"),
    "bench": (bench, "bench.txt",
              "# Machine instructions of the bench's kernels: program, kernel, block, level; in all, of each region\n"
              "# (what a warp does from one barrier to the next), of each innermost loop, of each loop around\n"
              "# others with what is in them (n*size: n loops of that size).\n"),
}


def spoken(versions):
    return " and ".join(f"{tool} {version}" for tool, version in versions.items())


def find_nvcc():
    there = Path("/usr/local/cuda/bin/nvcc")
    return shutil.which("nvcc") or (str(there) if there.exists() else None)


def versions(arguments, part):
    found = {"LLVM": llvm_version(arguments.emit)}
    if part == "bench":
        if not arguments.nvcc:
            raise Skip("nvcc, which makes the PTX of the bench's kernels, is not there")
        found["nvcc"] = nvcc_version(arguments.nvcc)
    return found


def handle(arguments, part):
    """True if the part is as committed, or was written."""
    make, name, opening = PARTS[part]
    path = HERE / name
    head, old = read_golden(part, path)
    here = versions(arguments, part)
    if not arguments.update and (there := versions_of(head)) != here:
        if not there:
            raise SystemExit(f"{path} names no version; write it with --update")
        raise Skip(f"counts are those of {spoken(there)}, here is {spoken(here)}")
    new = make(arguments)
    changes = differences(old, new)
    if arguments.update:
        head = opening + "# Written by tests/instructions/count.py --update; do not edit.\n"
        head += "".join(f"# {tool} {version}\n" for tool, version in here.items())
        path.write_text(head + "".join(golden_line(part, name, new[name]) for name in sorted(new)))
        print(f"{part}: {len(new)} rows, {len(changes)} changed: {path}")
        return True
    if changes:
        print("\n".join([f"{part}: {len(changes)} of {len(new)} rows differ from {path.name}", *changes,
                         "If that is meant: cmake --build build --target update_instruction_counts, and",
                         "commit the difference with the change that made it, and its reason."]))
    else:
        print(f"{part}: {len(new)} rows as committed")
    return not changes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--emit", type=Path, default=ROOT / "build/bin/emit_objects")
    parser.add_argument("--nvcc", default=find_nvcc())
    parser.add_argument("--objdump", default=shutil.which("objdump"))
    parser.add_argument("--work", type=Path, default=ROOT / "build/instructions")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    arguments = parser.parse_args()
    if not arguments.objdump:
        raise SystemExit("objdump is not there; it comes with g++ (Debian: binutils)")
    arguments.work.mkdir(parents=True, exist_ok=True)
    codes = set()
    for part in arguments.parts or PARTS:
        try:
            codes.add(0 if handle(arguments, part) else 1)
        except Skip as why:
            print(f"skipped {part}: {why}")
            codes.add(SKIP)
    return 1 if 1 in codes else 0 if 0 in codes else SKIP


if __name__ == "__main__":
    sys.exit(main())
