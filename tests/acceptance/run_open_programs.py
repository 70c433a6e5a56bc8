#!/usr/bin/env python3
"""Runs public CUDA programs on Limen, or records on a GPU what they should leave behind.

Builds what open_build.py can build, runs each in-scope program with its reduced arguments, judges
it by its own check, by the H200's printed output and, where that proves nothing, by the H200's
memory contents (dtoh_hash.cpp), and writes results.json and results.md. It resumes: results already in
results.json are kept unless --again. Standard library only; safe to stop at any time.

  run_open_programs.py --programs open_programs.json --source /tmp/open --build /tmp/open/build \\
      --limen build/bin/limen --out /tmp/open/results            # the judgement
  ... --control                                                  # kernels do nothing: all must fail
  ... --record FILE                                              # on the GPU machine
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import open_build
import open_judge

HERE = Path(__file__).resolve().parent
KEPT_RECORDS = 60  # of each program in a recording: the first half and the last half


def parse_arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--programs", type=Path, required=True, help="open_programs.json")
    p.add_argument("--source", type=Path, help="folder of the three checkouts, named by suite")
    p.add_argument("--build", type=Path, required=True, help="where the executables are or go")
    p.add_argument("--limen", type=Path, help="bin/limen, or a folder that holds libcuda.so.1")
    p.add_argument("--out", type=Path, default=Path("."), help="where results.* go")
    p.add_argument("--variant", default="o3,default", help="o3, default or both")
    p.add_argument("--only", default="", help="comma-separated names, or suite/name")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("--control", action="store_true", help="run with LIMEN_NOOP_KERNELS=1")
    p.add_argument("--again", action="store_true", help="ignore earlier results")
    p.add_argument("--build-only", action="store_true")
    p.add_argument("--record", type=Path, help="write this driver's memory contents to a file")
    p.add_argument("--reference", type=Path, default=HERE / "h200_outputs.json")
    p.add_argument("--nvcc", default=shutil.which("nvcc") or "nvcc")
    p.add_argument("--strategy", help="LIMEN_STRATEGY for every program")
    p.add_argument("--all", action="store_true", help="also programs outside issue 2's scope")
    return p.parse_args()


def build_shim(build: Path) -> Path:
    shim = build / "dtoh_hash.so"
    source = HERE / "dtoh_hash.cpp"
    if not shim.exists() or shim.stat().st_mtime < source.stat().st_mtime:
        build.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden",
                        str(source), "-o", str(shim), "-ldl"], check=True)
    return shim


def copy_data(program: dict, source: Path | None, folder: Path) -> None:
    """Puts the files that a program opens beside its executable, under their relative paths."""
    more = open_judge.OVERRIDES.get(open_judge.key(program), {}).get("data", [])
    for name in [*program.get("data_files", []), *more]:
        inside = os.path.relpath(name, program["dir"])
        to = folder / inside
        if name.startswith("ABSENT:") or inside.startswith("..") or to.exists() or not source:
            continue
        origin = source / program["suite"] / name
        if origin.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin, to)


class Run:
    """One execution: exit status, output, seconds and the shim's records."""

    def __init__(self, status, output, seconds, timed_out, records):
        self.status, self.output, self.seconds = status, output, seconds
        self.timed_out, self.records = timed_out, records


def execute(program: dict, exe: Path, options, shim: Path | None, extra: dict, tag: str) -> Run:
    env = dict(os.environ, **extra)
    arguments = open_judge.OVERRIDES.get(open_judge.key(program), {}).get(
        "args", program.get("run_args_small", ""))
    command = [str(exe.resolve()), *arguments.split()]
    if options.limen:
        limen = options.limen.resolve()
        if limen.is_dir():
            env["LD_LIBRARY_PATH"] = f"{limen}:{env.get('LD_LIBRARY_PATH', '')}"
        else:
            command = [str(limen), "run", *command]
    if options.strategy:
        env["LIMEN_STRATEGY"] = options.strategy
    for made, _ in open_judge.OVERRIDES.get(open_judge.key(program), {}).get("files", []):
        (exe.parent / made).unlink(missing_ok=True)
    record_file = exe.parent / f"records.{tag}"
    record_file.unlink(missing_ok=True)
    if shim:
        env["LD_PRELOAD"] = str(shim.resolve())
        env["DTOH_HASH_OUT"] = str(record_file.resolve())
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=exe.parent, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    timed_out = False
    try:
        output, _ = process.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    seconds = time.monotonic() - start
    records = []
    if record_file.exists():
        for line in record_file.read_text(errors="replace").splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                break
        record_file.unlink()
    return Run(process.returncode, output.decode(errors="replace"), seconds, timed_out, records)


def thin(records: list[dict]) -> dict:
    """What a recording keeps: the count and at most KEPT_RECORDS records with their index."""
    data = [r for r in records if r["what"] != "end"]
    ends = [r for r in records if r["what"] == "end"]
    half = KEPT_RECORDS // 2
    kept = data if len(data) <= KEPT_RECORDS else data[:half] + data[-half:]
    indices = range(len(data)) if len(data) <= KEPT_RECORDS else [
        *range(half), *range(len(data) - half, len(data))]
    return {"count": len(data), "launches": ends[0]["launches"] if ends else None,
            "records": [dict(r, at=i) for i, r in zip(indices, kept)]}


def record_program(program: dict, exe: Path, options, shim: Path) -> dict:
    """Runs once, once with kernels that do nothing and, where only memory can tell, once more."""
    first = execute(program, exe, options, shim, {}, "a")
    judged = open_judge.judge_output(program, first)
    control = execute(program, exe, options, shim, {"DTOH_HASH_NOOP": "1"}, "c")
    control_judged = open_judge.judge_output(program, control)
    result = thin(first.records)
    result["unstable"] = []
    if not control_judged:
        second = execute(program, exe, options, shim, {}, "b")
        result["unstable"] = open_judge.compare_records(result, second.records)["different"]
    result.update({
        "seconds": round(first.seconds, 2),
        "check": judged, "control_check": control_judged,
        "needs_checksum": not control_judged,
        "control_differs": not open_judge.memory_verdict(program, result, control.records,
                                                           exe.parent)[0],
        "output_tail": first.output[-600:] if judged else "",
        "control_tail": control.output[-300:],
    })
    return result


def judge_program(program: dict, exe: Path, options, shim: Path, reference: dict) -> dict:
    extra = {"LIMEN_NOOP_KERNELS": "1"} if options.control else {}
    known = reference.get(open_judge.key(program))
    run = execute(program, exe, options, shim if known else None, extra, "run")
    reason = open_judge.judge_output(program, run)
    checksum = "none recorded"
    if known:
        good, checksum = open_judge.memory_verdict(program, known, run.records, exe.parent)
        if not reason and known.get("needs_checksum") and not good:
            reason = f"memory differs from the H200's: {checksum}"
    elif not reason and program["check"]["mode"] != "hard":
        reason = "does not verify, and no checksum of the H200 is recorded"
    return {"pass": not reason, "reason": reason, "seconds": round(run.seconds, 2),
            "checksum": checksum, "status": run.status,
            "by": "memory" if known and known.get("needs_checksum") else program["check"]["mode"],
            "output_tail": run.output[-800:] if reason else ""}


def chosen(program: dict, only: str) -> bool:
    names = [n for n in only.split(",") if n]
    return not names or program["name"] in names or open_judge.key(program) in names


def write_results(results: dict, programs: list[dict], options) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    name = "control" if options.control else "results"
    (options.out / f"{name}.json").write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    (options.out / f"{name}.md").write_text(open_judge.table(results, programs, options.control))


def main() -> int:
    options = parse_arguments()
    programs = json.loads(options.programs.read_text())["programs"]
    variants = options.variant.split(",")
    reference = {}
    if options.reference.exists() and not options.record:
        reference = json.loads(options.reference.read_text())["programs"]
    scope = [p for p in programs
             if chosen(p, options.only) and (options.all or not open_build.reasons_out_of_scope(p))]
    shim = build_shim(options.build)
    earlier = options.out / ("control.json" if options.control else "results.json")
    results = {}
    if earlier.exists() and not options.again and not options.record:
        results = json.loads(earlier.read_text())

    def work(job):
        program, variant = job
        exe = open_build.executable(program, variant, options.build)
        if not exe.exists():
            reason = open_build.build(program, variant, options.source, options.build,
                                      options.nvcc) if options.source else "not built"
            if reason:
                return job, {"pass": False, "reason": reason, "built": False}
        copy_data(program, options.source, exe.parent)
        if options.build_only:
            return job, {"pass": True, "reason": "", "built": True}
        if options.record:
            return job, record_program(program, exe, options, shim)
        return job, judge_program(program, exe, options, shim, reference)

    jobs = [(p, v) for p in scope for v in variants
            if options.record or f"{open_judge.key(p)} {v}" not in results
            or chosen(p, options.only) and options.only]
    if options.record:  # the longest first, so that they do not end up alone
        jobs.sort(key=lambda j: -j[0].get("h200_seconds", 0))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(work, j) for j in jobs]):
            (program, variant), result = future.result()
            name = f"{open_judge.key(program)} {variant}"
            print(name, "pass" if result.get("pass") else result.get("reason") or
                  result.get("check") or "ok", f"{result.get('seconds', 0)} s", flush=True)
            results[name] = result
            if options.record:
                options.record.write_text(json.dumps(results) + "\n")
            else:
                write_results(results, programs, options)
    if options.record or options.build_only:
        return 0
    bad = [n for n, r in results.items() if r["pass"] == options.control and r.get("built", True)]
    print(f"{len(results) - len(bad)} of {len(results)} as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
