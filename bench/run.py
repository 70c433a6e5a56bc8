"""Benchmarks: CUDA programs under Limen against the same work in OpenMP C++ and in OpenCL on PoCL.

Builds every program of bench/kernels once per peer, then runs them interleaved: in each repetition
all peers of a kernel run one after the other, in changing order, so that a slow spell of the machine
meets all of them. A time is the median of a program's warm runs; a ratio is taken within one
repetition; the table shows medians over the repetitions. Results are compared between the peers: a
kernel whose results differ gets no number. Standard library only.

usage: run.py --build build [--reps 5] [--only NAME,...] [--out docs/bench/latest.md] [--no-micro]
"""
import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kernel_list import all_kernels

ROOT = Path(__file__).resolve().parent.parent
KERNELS = all_kernels()
PEERS = {
    "limen": "CUDA under Limen",
    "openmp": "OpenMP, g++ -O3 -march=native",
    "openmp_fast": "the same with -ffast-math",
    "opencl": "OpenCL on PoCL",
}
TIMEOUT_S = 300


def fail(text):
    print(f"bench: {text}", file=sys.stderr)
    raise SystemExit(1)


def find_nvcc():
    for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if path and os.access(path, os.X_OK):
            return path
    fail("nvcc is needed to build the CUDA programs, and was not found")


def build_command(peer, source, out):
    gxx = ["g++", "-std=c++17", "-O3", "-march=native"]
    if peer == "limen":
        return [find_nvcc(), "-std=c++17", "-O3", "-x", "cu", "-DPEER_CUDA", "-o", out, source]
    if peer == "openmp":
        return [*gxx, "-fopenmp", "-DPEER_OPENMP", "-o", out, source]
    if peer == "openmp_fast":
        return [*gxx, "-ffast-math", "-fopenmp", "-DPEER_OPENMP", "-o", out, source]
    return [*gxx, "-DPEER_OPENCL", "-o", out, source, "-lOpenCL"]


def build(peer, name, folder):
    source = ROOT / "bench/kernels" / f"{name}.cpp"
    out = folder / f"{name}.{peer}"
    newest = max(p.stat().st_mtime for p in (ROOT / "bench/kernels").iterdir())
    if not out.exists() or out.stat().st_mtime < newest:
        done = subprocess.run([str(w) for w in build_command(peer, source, out)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"bench: {name} does not build for {peer}:\n{done.stderr[-2000:]}", file=sys.stderr)
            return None
    return out


class Bench:
    def __init__(self, args):
        self.args = args
        self.build = Path(args.build).resolve()
        self.limen = self.build / "bin/limen"
        if not self.limen.exists():
            fail(f"{self.limen} is not there; run make first")
        self.folder = self.build / "bench"
        self.folder.mkdir(exist_ok=True)
        self.cache = tempfile.mkdtemp(prefix="limen-bench-cache-")
        self.notes = []

    def command(self, peer, program, *words):
        if peer == "limen":
            return [str(self.limen), "run", "--cache", self.cache, str(program), *words]
        return [str(program), *words]

    def run_once(self, peer, program, runs):
        try:
            done = subprocess.run(self.command(peer, program, str(runs)), capture_output=True,
                                  text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None, f"takes longer than {TIMEOUT_S} s"
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        try:
            return json.loads(done.stdout.strip().splitlines()[-1]), None
        except (ValueError, IndexError):
            return None, "prints no result"

    def kernel(self, name):
        """Medians by peer, ratios to OpenMP by peer, and what went wrong by peer."""
        programs = {peer: build(peer, name, self.folder) for peer in self.args.peers}
        wrong = {peer: "does not build" for peer, path in programs.items() if not path}
        order = [peer for peer, path in programs.items() if path]
        times = {peer: [] for peer in order}
        cold = {peer: [] for peer in order}
        results = {}
        for repetition in range(self.args.reps):
            turn = repetition % max(1, len(order))
            for peer in order[turn:] + order[:turn]:
                if peer in wrong:
                    continue
                line, error = self.run_once(peer, programs[peer], self.args.runs)
                if error:
                    wrong[peer] = error
                    continue
                times[peer].append(statistics.median(line["ms"]))
                cold[peer].append(line["cold_ms"])
                results[peer] = line
        for peer in list(results):
            difference = compare(name, results.get("openmp"), results[peer])
            if difference:
                wrong[peer] = difference
        medians = {p: statistics.median(t) for p, t in times.items() if t and p not in wrong}
        ratios = {p: statistics.median(a / b for a, b in zip(times[p], times["openmp"]))
                  for p in medians if "openmp" in medians}
        self.progress(name, medians, ratios, wrong)
        return {"medians": medians, "ratios": ratios, "wrong": wrong,
                "cold": {p: statistics.median(c) for p, c in cold.items() if c}}

    def progress(self, name, medians, ratios, wrong):
        cells = []
        for peer in self.args.peers:
            if peer in medians:
                cells.append(f"{peer} {medians[peer]:.1f} ms ({ratios.get(peer, 0):.2f})")
            else:
                cells.append(f"{peer}: {wrong.get(peer, 'no result')}")
        print(f"  {name:<15} " + ", ".join(cells), flush=True)

    # Small things: whole processes and single calls.

    def build_micro(self, name):
        out = self.folder / name
        source = ROOT / "bench/micro" / f"{name}.cu"
        if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
            done = subprocess.run([find_nvcc(), "-o", str(out), str(source)], capture_output=True,
                                  text=True)
            if done.returncode != 0:
                fail(f"{source} does not build:\n{done.stderr}")
        return out

    def wall_ms(self, command):
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        took = (time.perf_counter() - begin) * 1e3
        return took, done.returncode == 0 and "PASSED" in done.stdout

    def process_times(self):
        """Cold (empty cache) and warm wall times of `limen run ./vector_add`, in milliseconds."""
        program = self.build_micro("vector_add")
        cold, warm = [], []
        for _ in range(max(5, self.args.reps)):
            cache = tempfile.mkdtemp(prefix="limen-bench-cold-")
            command = [str(self.limen), "run", "--cache", cache, str(program)]
            for list_of_times in (cold, warm, warm):
                took, passed = self.wall_ms(command)
                if not passed:
                    return None
                list_of_times.append(took)
            shutil.rmtree(cache)
        return statistics.median(cold), statistics.median(warm)

    def calls(self):
        program = self.build_micro("calls")
        lines = []
        for _ in range(5):
            line, error = self.run_once("limen", program, 1)
            if error:
                self.notes.append(f"single calls: {error}")
                return None
            lines.append(line)
        return {key: statistics.median(line[key] for line in lines) for key in lines[0]}


def compare(name, wanted, got):
    """Why two results differ, or None."""
    if wanted is None:
        return "the OpenMP result to compare with is missing"
    if wanted["count"] != got["count"]:
        return f"its result has {got['count']} values, OpenMP's {wanted['count']}"
    tolerance = KERNELS[name].tolerance
    mean = wanted["size"] / max(1, wanted["count"])
    odd = [i for i, (a, b) in enumerate(zip(wanted["samples"], got["samples"]))
           if not abs(a - b) <= tolerance * max(abs(a), mean)]
    if len(odd) > KERNELS[name].odd_share * len(wanted["samples"]):
        i = odd[0]
        return (f"result differs: sample {i} is {got['samples'][i]:g}, "
                f"OpenMP's {wanted['samples'][i]:g}")
    if not abs(got["size"] - wanted["size"]) <= max(tolerance, 1e-3) * wanted["size"]:
        return f"result differs: sizes sum to {got['size']:g}, OpenMP's to {wanted['size']:g}"
    return None


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "?"


def load_note():
    """What else the machine was doing when the benchmark began."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    idle = "idle" if load < 0.3 * cores else "not idle: absolute times are too long"
    return f"Load average at the start: {load:.1f} on {cores} cores ({idle})."


def machine():
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", text).group(1)
    flags = re.search(r"flags\s*:\s*(.*)", text).group(1).split()
    simd = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
    memory = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text()).group(1))
    return (f"{model}, {len(os.sched_getaffinity(0))} cores, {simd}, {memory / 2**20:.0f} GiB, "
            f"Linux {platform.release().split('-')[0]}")


def table(rows, peers):
    head = ["kernel", *[PEERS[p] + ", ms" for p in peers],
            *[f"{p} / openmp" for p in peers if p != "openmp"], "first launch, ms"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, row in rows.items():
        cells = [name]
        cells += [f"{row['medians'][p]:.2f}" if p in row["medians"] else "-" for p in peers]
        cells += [f"{row['ratios'][p]:.2f}" if p in row["ratios"] else "-"
                  for p in peers if p != "openmp"]
        cells.append(f"{row['cold']['limen']:.0f}" if "limen" in row["cold"] else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


CALL_NAMES = {
    "launch": "launch of an empty kernel, the call alone",
    "burst": "launch of an empty kernel, 1,000 back to back until done, each",
    "launch_sync": "launch and synchronise",
    "malloc_256B": "cudaMalloc + cudaFree, 256 B",
    "malloc_1MiB": "cudaMalloc + cudaFree, 1 MiB",
    "malloc_64MiB": "cudaMalloc + cudaFree, 64 MiB",
    "pool_loop_1MiB": "cudaMallocAsync, empty kernel, cudaFreeAsync, synchronise, 1 MiB",
    "pool_loop_64MiB": "the same, 64 MiB",
    "copy_4B_up": "cudaMemcpy of 4 bytes to the device",
    "copy_4B_down": "cudaMemcpy of 4 bytes from the device",
}


def page(args, rows, process, calls, notes, load):
    commit = first_line("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    out = ["# Benchmarks", "",
           f"Written by `make bench` on {datetime.date.today()}, commit {commit}. Do not edit.", "",
           f"Machine: {machine()}. {load}",
           f"Compilers: {first_line('g++', '--version')}; "
           f"nvcc {subprocess.run([find_nvcc(), '--version'], capture_output=True, text=True).stdout.split('release ')[-1].split(',')[0]}"
           " with -O3 and its default architecture.", "",
           f"Kernel time only, warm, from launch to completion on the host's clock. {args.reps} "
           f"repetitions, in each of which all peers ran in turn; a repetition's time is the median "
           f"of {args.runs} runs. Ratios are medians of ratios within a repetition: below 1 is "
           "faster than OpenMP. Only ratios within this page compare. Every result was compared "
           "with OpenMP's; a peer whose result differs, or that fails, has no number.", ""]
    out += table(rows, args.peers)
    wrong = [f"- {name}, {PEERS[peer]}: {text}" for name, row in rows.items()
             for peer, text in row["wrong"].items()]
    if wrong:
        out += ["", "Without a number:", "", *wrong]
    out += ["", "`first launch` is the first launch in each process, compilation or cache look-up "
            "included (median over the repetitions; all but the first find the cache filled).",
            "The programs are in `bench/kernels/`, one file a kernel with all three peers. g++ "
            "without -ffast-math calls the scalar math library in blackscholes and keeps mandelbrot "
            "scalar."]
    if process:
        out += ["", "## Whole processes", "",
                "| `limen run ./vector_add`, wall time | ms |", "|---|---|",
                f"| empty cache | {process[0]:.0f} |", f"| warm cache | {process[1]:.0f} |"]
    if calls:
        out += ["", "## Single calls under Limen", "", "| call | us |", "|---|---|"]
        out += [f"| {CALL_NAMES[key]} | {value:.2f} |" for key, value in calls.items()]
    if notes:
        out += ["", *[f"Note: {note}." for note in notes]]
    return "\n".join(out) + "\n"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5, help="warm runs of a program in a repetition")
    parser.add_argument("--only", default="", help="kernels, separated by commas")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--out", default=str(ROOT / "docs/bench/latest.md"))
    parser.add_argument("--no-micro", action="store_true")
    args = parser.parse_args()
    args.names = args.only.split(",") if args.only else list(KERNELS)
    args.peers = args.peers.split(",")
    for name in args.names:
        if name not in KERNELS:
            parser.error(f"there is no kernel '{name}'; there are: {', '.join(KERNELS)}")
    for peer in args.peers:
        if peer not in PEERS:
            parser.error(f"there is no peer '{peer}'; there are: {', '.join(PEERS)}")
    return args


def main():
    args = parse()
    bench = Bench(args)
    try:
        print(f"bench: {len(args.names)} kernels, {args.reps} repetitions, {machine()}", flush=True)
        load = load_note()
        rows = {name: bench.kernel(name) for name in args.names}
        process = calls = None
        if not args.no_micro and "limen" in args.peers:
            process = bench.process_times()
            if process is None:
                bench.notes.append("`limen run ./vector_add` failed, so there are no process times")
            calls = bench.calls()
        text = page(args, rows, process, calls, bench.notes, load)
        out = Path(args.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)
        print(text)
        print(f"bench: written to {out}")
    finally:
        shutil.rmtree(bench.cache, ignore_errors=True)


if __name__ == "__main__":
    main()
