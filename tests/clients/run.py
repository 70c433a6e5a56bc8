"""Runs the test suites of CUDA's Python clients, unmodified, on Limen's CPU device and counts.

    tests/clients/run.py numba --folder /tmp/clients --limen build/bin/limen [--source DIR] [FILE...]

Each client is a row of clients.toml: packages with their versions, where its tests are, which files
to leave out and why. The packages go into a virtual environment under --folder. Each test file runs
in a process of its own, so that a crash or a hang costs one file. Not part of CI; how to use it and
what came out: docs/how/run_clients.md.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent


def install(client, venv):
    """Makes the virtual environment once; a changed row makes it anew."""
    mark = venv / "limen-packages"
    over = client.get("packages_over", [])
    wanted = "\n".join(client["packages"] + over)
    if mark.exists() and mark.read_text() == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
    subprocess.run([str(venv / "bin/pip"), "install", "-q", *client["packages"]], check=True)
    if over:
        subprocess.run([str(venv / "bin/pip"), "install", "-q", "--no-deps", *over], check=True)
    mark.write_text(wanted)


def test_folder(client, venv, source):
    if client.get("in_package"):
        return next(venv.glob("lib/python3*/site-packages")) / client["in_package"]
    if not source:
        raise SystemExit(f"--source: a checkout of {client['repository']}")
    return Path(source) / client["in_source"]


def choose_files(client, folder, words):
    left_out = client.get("left_out", {})
    files = sorted({p for pattern in client["files"] for p in folder.glob(pattern)})
    names = [str(p.relative_to(folder)) for p in files]
    if words:
        return [n for n in names if any(w in n for w in words)]
    return [n for n in names if not any(n.startswith(prefix) for prefix in left_out)]


def run_file(client, limen, venv, folder, cwd, name, out, more):
    """One file: (counts, failures)."""
    report = out / (name.replace("/", "__") + ".xml")
    report.unlink(missing_ok=True)
    command = [str(limen), "run", str(venv / "bin/python"), "-m", "pytest", "-q",
               f"--junitxml={report}", "-p", "no:cacheprovider", "-p", "share",
               f"--timeout={client.get('test_timeout_s', 120)}", *client.get("arguments", []), *more]
    for pattern in client.get("deselect", {}):
        command += ["--deselect", pattern]
    if prefix := client.get("module"):
        command += ["--pyargs", prefix + "." + name.removesuffix(".py").replace("/", ".")]
    else:
        command.append(str(folder / name))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LD_")}
    for variable, value in client.get("environment", {}).items():
        environment[variable] = value.replace("{fronts}", str(limen.parent.parent / "lib/limen-fronts"))
    environment["PYTHONPATH"] = str(HERE)  # plugins of ours
    limit = client.get("file_timeout_s", 900)
    begin = time.time()
    with open(out / (name.replace("/", "__") + ".log"), "w") as log:
        try:
            code = subprocess.run(command, cwd=cwd, env=environment,
                                  stdout=log, stderr=subprocess.STDOUT, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            code = "timeout"
    counts, failures = collections.Counter(), []
    if report.exists():
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            kind = next((c for c in case if c.tag in ("failure", "error", "skipped")), None)
            state = {None: "passed", "failure": "failed", "error": "failed",
                     "skipped": "skipped"}[kind.tag if kind is not None else None]
            if state == "skipped" and kind.get("type") == "pytest.xfail":
                state = "xfailed"
            counts[state] += 1
            if state in ("failed", "skipped"):
                text = (kind.get("message") or "").strip().split("\n")[0]
                failures.append([state, f"{name}::{case.get('name')}", text[:200]])
    elif code not in (0, 5):
        counts["broken files"] += 1
        failures.append(["broken", name, f"exit {code}; see its log"])
    return counts, failures, time.time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("client")
    parser.add_argument("files", nargs="*", help="parts of file names; all, if none")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--limen", type=Path, required=True)
    parser.add_argument("--source", help="a checkout, where the wheel carries no tests")
    parser.add_argument("--pytest", action="append", default=[], metavar="WORD",
                        help="one more word for pytest: --pytest=--share=8")
    parser.add_argument("--venv", type=Path, help="an environment that is there already")
    words = parser.parse_intermixed_args()
    client = tomllib.loads((HERE / "clients.toml").read_text())["client"][words.client]
    out = words.folder / f"{words.client}-results"
    out.mkdir(parents=True, exist_ok=True)
    venv = words.venv or words.folder / words.client
    if not words.venv:
        install(client, venv)
    folder = test_folder(client, venv, words.source)
    cwd = Path(words.source) / client["run_in"] if client.get("run_in") else folder
    total, all_failures = collections.Counter(), []
    for name in choose_files(client, folder, words.files):
        counts, failures, seconds = run_file(client, words.limen.resolve(), venv.absolute(),
                                             folder.absolute(), cwd, name, out, words.pytest)
        total += counts
        all_failures += failures
        print(f"{name}: {dict(counts)} {seconds:.0f} s", flush=True)
        (out / "failures.json").write_text(json.dumps(all_failures, indent=1))
    counted = {k: total[k] for k in ("passed", "failed", "skipped")}
    print(", ".join(f"{n} {k}" for k, n in counted.items()),
          {k: n for k, n in total.items() if k not in counted} or "")
    for left, why in client.get("left_out", {}).items():
        print(f"left out: {left}: {why}")
    return 1 if total["failed"] or total["broken files"] else 0


if __name__ == "__main__":
    sys.exit(main())
