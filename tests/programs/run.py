#!/usr/bin/env python3
"""Builds the whole-program tests with nvcc and runs them on Limen (or on any driver).

A program with `matrix = true` is built in every variant of VARIANTS, the others with their own
flags only; each binary runs under each value of LIMEN_STRATEGY that its test.toml names. Binaries
are kept in --build and rebuilt when a source, the flags or nvcc change. Standard library only. Exit
status: 0 all good, 1 some failed, 77 nothing could be run (the reason is printed).
"""
from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
STRATEGIES = ["auto", "region", "fiber", "lane"]

# Ways to build: static and shared runtime, -rdc, per-thread streams, debug and line information,
# every compression mode, and several sets of architectures.
VARIANTS = {
    "default": [],
    "shared": ["--cudart", "shared"],
    "rdc": ["-rdc=true"],
    "rdc-ptx-only": ["-rdc=true", "-gencode", "arch=compute_75,code=compute_75"],
    "per-thread": ["-default-stream", "per-thread"],
    "debug": ["-G"],
    "lineinfo": ["-lineinfo"],
    "compress-size": ["--compress-mode=size"],
    "compress-speed": ["--compress-mode=speed"],
    "compress-balance": ["--compress-mode=balance"],
    "compress-none": ["--compress-mode=none"],
    "compress-all": ["-Xfatbin", "-compress-all"],
    "ptx-80": ["-gencode", "arch=compute_80,code=compute_80"],
    "two-archs": ["-gencode", "arch=compute_80,code=[sm_80,compute_80]",
                  "-gencode", "arch=compute_90,code=[sm_90,compute_90]"],
    "ptx-120": ["-arch=compute_120"],
    "O3-80": ["-O3", "-gencode", "arch=compute_80,code=[sm_80,compute_80]"],
}


class Test:
    """One folder: what test.toml says, with the defaults filled in."""

    def __init__(self, folder: Path):
        self.name = folder.name
        self.folder = folder
        settings = tomllib.loads((folder / "test.toml").read_text())
        self.flags = settings.pop("flags", [])
        self.sources = settings.pop("sources", [f"{self.name}.cu"])
        self.args = settings.pop("args", [])
        self.exit = settings.pop("exit", 0)
        self.strategies = settings.pop("strategies", STRATEGIES)
        self.matrix = settings.pop("matrix", False)
        self.seconds = settings.pop("seconds", 60)
        self.env = settings.pop("env", {})
        self.devices = settings.pop("devices", 1)
        self.not_in = settings.pop("not_in", [])
        self.large = settings.pop("large", None)
        if settings:
            raise ValueError(f"{folder}/test.toml: unknown keys {', '.join(settings)}")

    def use_large(self) -> None:
        """Takes the settings of the long run for those of CI."""
        self.flags = [*self.flags, *self.large.get("flags", [])]
        self.args = self.large.get("args", self.args)
        self.seconds = self.large.get("seconds", self.seconds)
        self.strategies = ["auto"]

    def variants(self, wanted: list[str]) -> list[str]:
        names = [v for v in VARIANTS if v not in self.not_in
                 and (self.matrix or v == "default")]
        return [v for v in names if not wanted or v in wanted]


def discover(only: list[str]) -> list[Test]:
    tests = [Test(f.parent) for f in sorted(HERE.glob("*/test.toml"))]
    unknown = set(only) - {t.name for t in tests}
    if unknown:
        raise SystemExit(f"no such tests: {', '.join(sorted(unknown))}")
    return [t for t in tests if not only or t.name in only]


def build(test: Test, variant: str, options) -> tuple[Path, str]:
    """The executable and '' or the compiler's message."""
    flags = [*VARIANTS[variant], *test.flags]
    sources = [test.folder / s for s in test.sources]
    digest = hashlib.sha256(repr((options.nvcc_version, flags)).encode())
    folders = {test.folder, HERE / "include", *(s.resolve().parent for s in sources)}
    for path in sorted(p for f in folders for p in f.glob("*")):
        if path.suffix in (".cu", ".cpp", ".h"):
            digest.update(path.read_bytes())
    out = options.build / variant / test.name
    stamp = out.with_suffix(".stamp")
    if out.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest():
        return out, ""
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [options.nvcc, "-std=c++17", "-I", HERE / "include", *sources, *flags, "-o", out]
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        return out, done.stdout[-2000:]
    stamp.write_text(digest.hexdigest())
    return out, ""


def toolkit_libraries(nvcc: str) -> list[str]:
    root = Path(nvcc).resolve().parent.parent
    return [str(d) for d in (root / "lib64", root / "targets/x86_64-linux/lib") if d.is_dir()]


def run(test: Test, exe: Path, strategy: str, options) -> tuple[bool, str, float]:
    env = dict(os.environ, **test.env)
    paths = toolkit_libraries(options.nvcc)
    command = [str(exe), *test.args]
    if options.limen and options.limen.is_dir():
        paths.insert(0, str(options.limen))
    elif options.limen:
        more = ["--devices", str(test.devices)] if test.devices != 1 else []
        command = [str(options.limen), "run", *more, *command]
    env["LD_LIBRARY_PATH"] = ":".join([*paths, env.get("LD_LIBRARY_PATH", "")]).strip(":")
    if strategy != "auto":
        env["LIMEN_STRATEGY"] = strategy
    start = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = process.communicate(timeout=test.seconds * options.patience)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0] + b"\n(stopped: time limit)"
    seconds = time.monotonic() - start
    text = output.decode(errors="replace")
    passed = process.returncode == test.exit and "FAILED" not in text
    if test.exit == 0:
        passed = passed and "PASSED" in text
    return passed, f"exit status {process.returncode}\n{text[-1500:]}", seconds


def parse_arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--limen", type=Path, help="bin/limen, or a folder that holds libcuda.so.1")
    p.add_argument("--build", type=Path, required=True, help="where the binaries go")
    p.add_argument("--only", default="", help="comma-separated names of tests")
    p.add_argument("--strategies", default="", help="comma-separated: auto region fiber lane")
    p.add_argument("--variants", default="", help="comma-separated names of variants")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--patience", type=float, default=1, help="factor on every time limit")
    p.add_argument("--build-only", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("--large", action="store_true", help="only tests with a long run: that run")
    p.add_argument("--nvcc", default=shutil.which("nvcc"))
    return p.parse_args()


def one_test(test: Test, options, wanted: dict) -> list[str]:
    """Builds and runs one test in all its ways; the lines of what went wrong."""
    wrong = []
    for variant in test.variants(wanted["variants"]):
        exe, message = build(test, variant, options)
        if message:
            print(f"{test.name} [{variant}] does not build\n{message}", flush=True)
            wrong.append(f"{test.name} [{variant}]: does not build")
            continue
        if options.build_only:
            continue
        strategies = test.strategies if variant == "default" else ["auto"]
        for strategy in strategies:
            if wanted["strategies"] and strategy not in wanted["strategies"]:
                continue
            good, text, seconds = run(test, exe, strategy, options)
            what = f"{test.name} [{variant}] {strategy}"
            print(f"{'pass' if good else 'FAIL'} {what} {seconds:.2f} s", flush=True)
            if not good:
                print(text, flush=True)
                wrong.append(what)
    return wrong


def main() -> int:
    options = parse_arguments()
    tests = discover([n for n in options.only.split(",") if n])
    if options.large:
        tests = [t for t in tests if t.large]
        options.build = options.build / "large"
        for t in tests:
            t.use_large()
    if options.list:
        for t in tests:
            print(t.name, ",".join(t.variants([])), ",".join(t.strategies))
        return 0
    if not options.nvcc or not Path(options.nvcc).exists():
        print("skipped: nvcc is not on the PATH, and these programs are built with it")
        return SKIPPED
    version = subprocess.run([options.nvcc, "--version"], capture_output=True, text=True,
                             check=True)
    options.nvcc_version = version.stdout
    wanted = {k: [v for v in getattr(options, k).split(",") if v]
              for k in ("strategies", "variants")}
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for lines in pool.map(lambda t: one_test(t, options, wanted), tests):
            wrong += lines
    print(f"{len(tests)} tests, {len(wrong)} failures")
    for line in wrong:
        print("  " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
