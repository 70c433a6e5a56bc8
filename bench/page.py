"""Writes the page of a benchmark run (docs/bench/latest.md) and the plot beside it."""
import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

import figures
from peers import CLANG, PEERS, ROOT, find_nvcc
from plot import ratio_plot

# From here on a ratio to OpenMP is explained under the table.
SLOW = 2.0
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


def first_line(*command):
    """What a program says first; nothing where it is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return ""


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


def compilers():
    nvcc = subprocess.run([find_nvcc(), "--version"], capture_output=True, text=True).stdout
    there = [line for line in (first_line("g++", "--version"), first_line(CLANG, "--version")) if line]
    return (f"Compilers: {'; '.join(there)}; nvcc {nvcc.split('release ')[-1].split(',')[0]} with -O3 and its "
            "default architecture.")


def number(value, form):
    return "-" if value is None else format(value, form)


def table(rows, kernels, peers, limits):
    head = ["kernel", "kind", *[PEERS[p] + ", ms" for p in peers], "limen / openmp",
            "limen / best native", "opencl / openmp", "share of the roofline", "first launch, ms"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, row in rows.items():
        share = None
        if limits and "limen" in row["medians"]:
            share = figures.roofline_share(kernels[name], limits, row["medians"]["limen"])
        cells = [name, kernels[name].kind]
        cells += [number(row["medians"].get(p), ".2f") for p in peers]
        cells += [number(row["ratios"].get("limen"), ".2f"), number(row["to_best"], ".2f"),
                  number(row["ratios"].get("opencl"), ".2f"), number(share, ".0%"),
                  number(row["cold"].get("limen"), ".0f")]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def summary(rows, kernels):
    """The geometric means, and every kernel above SLOW with its reason."""
    mean = figures.means(rows)
    count = sum("limen" in row["ratios"] for row in rows.values())
    lines = [f"Geometric means over {count} kernels: Limen takes {number(mean['openmp'], '.2f')} times "
             f"as long as OpenMP by g++, {number(mean['best'], '.2f')} times as long as the best native "
             f"peer of each kernel, and PoCL takes {number(mean['over_opencl'], '.2f')} times as long "
             "as Limen."]
    slow = [(row["ratios"]["limen"], name) for name, row in rows.items()
            if row["ratios"].get("limen", 0) > SLOW]
    if slow:
        lines += ["", f"Above {SLOW:.1f} times OpenMP:", ""]
        lines += [f"- {name}, {value:.2f}: {kernels[name].reason or 'not explained yet'}."
                  for value, name in sorted(slow, reverse=True)]
    return lines


def limits_note(limits):
    return ("Limits of the machine, measured in the same run by `bench/roofline.cpp` with "
            f"{limits['threads']} threads: read {limits['read_gbs']:.1f}, write "
            f"{limits['write_gbs']:.1f}, triad {limits['triad_gbs']:.1f} GB/s; multiply-adds "
            f"{limits['f32_gflops']:.0f} GFLOP/s in f32, {limits['f64_gflops']:.0f} in f64. A kernel's "
            "share is the least time that its bytes and operations (`bench/kernels.toml`) need at the "
            "greatest bandwidth and the peak, by Limen's time; more than 100% means that data stayed "
            "in cache.")


def plot(rows, threads):
    series = [("Limen / OpenMP (g++)", {n: r["ratios"]["limen"] for n, r in rows.items()
                                        if "limen" in r["ratios"]}),
              ("Limen / best native", {n: r["to_best"] for n, r in rows.items() if r["to_best"]}),
              ("PoCL / OpenMP (g++)", {n: r["ratios"]["opencl"] for n, r in rows.items()
                                       if "opencl" in r["ratios"]})]
    title = "Time by OpenMP's time: left of 1 is faster"
    if threads:
        title += f" (threads: {threads})"
    return ratio_plot(title, series, list(rows))


def page(args, kernels, rows, limits, process, calls, notes, load, picture):
    commit = first_line("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    threads = f" Every peer was told to use {args.threads} thread(s)." if args.threads else ""
    clock = ("CPU time of the process, while other work ran on the machine" if args.cpu_time
             else "from launch to completion on the host's clock")
    out = ["# Benchmarks", "",
           f"Written by `make bench` on {datetime.date.today()}, commit {commit}. Do not edit.", "",
           f"Machine: {machine()}. {load}{threads}", compilers(), "",
           f"Kernel time only, warm, {clock}. {args.reps} "
           f"repetitions, in each of which all peers ran in turn; a repetition's time is the median "
           f"of {args.runs} runs. Ratios are medians of ratios within a repetition: below 1 is "
           "faster than OpenMP. The best native peer is the one of the three by g++ and clang with the "
           "shortest median. Only ratios within this page compare. Every result was compared "
           "with OpenMP's; a peer whose result differs, or that fails, has no number.", "",
           f"![ratios by kernel]({picture})", ""]
    out += table(rows, kernels, args.peers, limits)
    out += ["", *summary(rows, kernels)]
    wrong = [f"- {name}, {PEERS[peer]}: {text}" for name, row in rows.items()
             for peer, text in row["wrong"].items()]
    if wrong:
        out += ["", "Without a number:", "", *wrong]
    if limits:
        out += ["", limits_note(limits)]
    out += ["", "`first launch` is the first launch in each process, compilation or cache look-up "
            "included (median over the repetitions; all but the first find the cache filled).",
            "The programs are in `bench/kernels/`, one file a kernel with all peers. g++ "
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
