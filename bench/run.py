"""Benchmarks: CUDA programs under Limen against the same work in OpenMP C++ and in OpenCL on PoCL.

Builds every program of bench/kernels once per peer, then runs them interleaved: in each repetition
all peers of a kernel run one after the other, in changing order, so that a slow spell of the machine
meets all of them. A time is the median of a program's warm runs; a ratio is taken within one
repetition; the table shows medians over the repetitions. Results are compared between the peers: a
kernel whose results differ gets no number. Standard library only.

What there is to run stands in kernels.toml (kernel_list.py), how a peer is built in peers.py, what is
reckoned in figures.py, and how it is shown in page.py and plot.py.

usage: run.py --build build [--reps 5] [--only NAME,...] [--threads 1] [--out docs/bench/latest.md]
              [--cpu-time] [--no-micro]
"""
import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from figures import best_native, ratio
from kernel_list import all_kernels
from page import load_note, machine, page, plot
from peers import PEERS, ROOT, build, build_roofline, environment, fail, find_nvcc

KERNELS = all_kernels()
TIMEOUT_S = 300


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
        self.environment = environment(args.threads)
        self.notes = []

    def command(self, peer, program, *words):
        if peer == "limen":
            return [str(self.limen), "run", "--cache", self.cache, str(program), *words]
        return [str(program), *words]

    def run_once(self, peer, program, runs):
        try:
            done = subprocess.run(self.command(peer, program, str(runs)), capture_output=True,
                                  text=True, timeout=TIMEOUT_S, env=self.environment)
        except subprocess.TimeoutExpired:
            return None, f"takes longer than {TIMEOUT_S} s"
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        try:
            return json.loads(done.stdout.strip().splitlines()[-1]), None
        except (ValueError, IndexError):
            return None, "prints no result"

    def limits(self):
        """What bench/roofline.cpp finds of this machine, with the peers' number of threads."""
        done = subprocess.run([str(build_roofline(self.folder))], capture_output=True, text=True,
                              env=self.environment, timeout=TIMEOUT_S)
        if done.returncode != 0:
            fail(f"bench/roofline.cpp fails: {done.stderr.strip() or done.returncode}")
        return json.loads(done.stdout)

    def kernel(self, name):
        """Medians and ratios to OpenMP by peer, Limen to others, and what went wrong by peer."""
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
                times[peer].append(statistics.median(line["cpu_ms" if self.args.cpu_time else "ms"]))
                cold[peer].append(line["cold_ms"])
                results[peer] = line
        for peer in list(results):
            difference = compare(name, results.get("openmp"), results[peer])
            if difference:
                wrong[peer] = difference
        medians = {p: statistics.median(t) for p, t in times.items() if t and p not in wrong}
        times = {p: times[p] for p in medians}
        ratios = {p: ratio(times, p, "openmp") for p in medians if "openmp" in medians}
        best = best_native(medians)
        limen = "limen" in medians
        self.progress(name, medians, ratios, wrong)
        return {"medians": medians, "ratios": ratios, "wrong": wrong,
                "to_best": ratio(times, "limen", best) if limen and best else None,
                "over_opencl": ratio(times, "opencl", "limen") if limen and "opencl" in medians
                else None,
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
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S,
                              env=self.environment)
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


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5, help="warm runs of a program in a repetition")
    parser.add_argument("--only", default="", help="kernels, separated by commas")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--threads", type=int, default=0,
                        help="threads of every peer; 0: as many as each one likes")
    parser.add_argument("--out", help="the page; its plot gets the same name with .svg")
    parser.add_argument("--cpu-time", action="store_true",
                        help="CPU time instead of the clock's: for a loaded machine, with --threads 1")
    parser.add_argument("--no-micro", action="store_true")
    args = parser.parse_args()
    if args.cpu_time and args.threads != 1:
        parser.error("--cpu-time needs --threads 1: more threads wait for each other busily")
    page_name = f"threads_{args.threads}.md" if args.threads else "latest.md"
    args.out = args.out or str(ROOT / "docs/bench" / page_name)
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
        limits = bench.limits()
        rows = {name: bench.kernel(name) for name in args.names}
        process = calls = None
        if not args.no_micro and "limen" in args.peers:
            process = bench.process_times()
            if process is None:
                bench.notes.append("`limen run ./vector_add` failed, so there are no process times")
            calls = bench.calls()
        out = Path(args.out)
        picture = out.with_suffix(".svg")
        text = page(args, KERNELS, rows, limits, process, calls, bench.notes, load, picture.name)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)
        picture.write_text(plot(rows, args.threads))
        print(text)
        print(f"bench: written to {out} and {picture}")
    finally:
        shutil.rmtree(bench.cache, ignore_errors=True)


if __name__ == "__main__":
    main()
