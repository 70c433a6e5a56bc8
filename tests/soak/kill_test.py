"""kill -9 at random moments leaves nothing behind that a later run trips over.

Starts programs (kill_victim.cpp) that compile into the disk cache, share memory, pools and events,
write core dumps and logs; kills them at random moments; then looks at what is left: no shared
memory, no temporary files, whole cache entries and core dumps only, and a later run that works.
Processes that had opened a killed one's memory and event get an error, and none of them hangs.
Standard library only.

usage: kill_test.py --victim PROGRAM --lib FOLDER [--seconds N] [--seed N]
"""
import argparse
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# How long a peer may take to notice that the other process is gone, on a loaded machine.
PATIENCE_S = 30


class Failure(Exception):
    pass


class Test:
    def __init__(self, args, folder):
        self.args = args
        self.random = random.Random(args.seed)
        self.folder = folder
        for name in ("cache", "cwd", "tmp", "home"):
            (folder / name).mkdir()
        self.started = []
        self.counts = {}
        self.env = {
            "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": args.lib, "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"), "LIMEN_CACHE_DIR": str(folder / "cache"),
            "LIMEN_THREADS": "2", "LIMEN_LOG": f"error:{folder}/cwd/limen.log",
            "CUDA_LOG_FILE": str(folder / "cwd/cuda.log"),
            "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1",
            "CUDA_COREDUMP_GENERATION_FLAGS": "skip_abort",
        }
        for name, value in os.environ.items():
            if name.endswith("SAN_OPTIONS"):
                self.env[name] = value

    def start(self, *words, **more):
        process = subprocess.Popen([self.args.victim, *words], env=self.env, text=True,
                                   cwd=self.folder / "cwd", stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, stdout=subprocess.PIPE, **more)
        self.started.append(process)
        return process

    def kill(self, process, what):
        """Kills what must not have ended on its own."""
        if process.poll() is None:
            process.kill()
        _, errors = process.communicate()
        if process.returncode != -signal.SIGKILL:
            raise Failure(f"{what} ended before it was killed ({process.returncode}): {errors}")
        self.counts[what] = self.counts.get(what, 0) + 1

    def pause(self, most_s):
        time.sleep(self.random.random() * most_s)

    def kill_workers(self):
        roles = [("kernels", str(self.random.randrange(10 ** 6))) for _ in range(2)]
        roles += [("pools",), ("dumps",)]
        self.random.shuffle(roles)
        started = [(self.start(*role), role[0]) for role in roles[:3]]
        self.pause(0.6)
        for process, role in started:
            self.kill(process, role)
            self.pause(0.05)

    def open_pair(self):
        exporter = self.start("exporter")
        handles = exporter.stdout.readline().strip()
        importers = [self.start("importer", handles) for _ in range(2)]
        for importer in importers:
            if importer.stdout.readline().strip() != "opened":
                raise Failure(f"an importer could not open: {importer.communicate()[1]}")
        return exporter, importers

    def kill_exporter(self):
        exporter, importers = self.open_pair()
        self.pause(0.3)
        self.kill(exporter, "exporter")
        for importer in importers:
            try:
                out, errors = importer.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                importer.kill()
                raise Failure("an importer hangs after its exporter was killed") from None
            if importer.returncode != 0 or out.strip() != "refused 400":
                raise Failure(f"an importer ended with {importer.returncode}: {out}{errors}")

    def kill_importer(self):
        exporter, (first, second) = self.open_pair()
        self.pause(0.3)
        self.kill(first, "importer")
        self.pause(0.1)
        if exporter.poll() is not None or second.poll() is not None:
            raise Failure("a killed importer took others along")
        self.kill(exporter, "exporter")
        try:
            out, errors = second.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            second.kill()
            raise Failure("an importer hangs after two processes were killed") from None
        if second.returncode != 0 or out.strip() != "refused 400":
            raise Failure(f"an importer ended with {second.returncode}: {out}{errors}")

    def check_leftovers(self):
        left = [str(p) for p in (self.folder / "tmp").rglob("*")]
        left += [str(p) for p in (self.folder / "home").rglob("*")]
        marks = {str(process.pid) for process in self.started}
        for shared in (Path("/dev/shm"), Path("/tmp")):
            for path in shared.glob("*") if shared.is_dir() else []:
                name = path.name
                if path != self.folder and "limen" in name and marks & set(re.findall(r"\d+", name)):
                    left.append(str(path))
        if left:
            raise Failure(f"left behind: {left}")

    def check_cache(self):
        for path in (self.folder / "cache").rglob("*"):
            if path.is_dir():
                continue
            data = path.read_bytes()
            if path.suffix != ".kernel":
                raise Failure(f"{path} is no entry of the cache")
            magic, _, meta, key, notes, size = struct.unpack_from("<8s4IQ", data)
            if magic != b"LIMENKC\n" or 48 + meta + key + notes + size != len(data):
                raise Failure(f"{path} is not a whole entry")

    def check_work(self):
        """Whole core dumps and logs, and nothing of a process that is gone."""
        for path in (self.folder / "cwd").iterdir():
            if path.name in ("limen.log", "cuda.log"):
                continue
            if not path.name.startswith("core.cuda."):
                raise Failure(f"left behind: {path}")
            text = path.read_bytes()
            if not text.startswith(b"Limen core dump 1\n") or b"\nend\n" not in text:
                raise Failure(f"{path} is not a whole core dump")

    def run_later(self):
        began = time.monotonic()
        process = self.start("all")
        try:
            _, errors = process.communicate(timeout=PATIENCE_S * 4)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure("a later run hangs") from None
        if process.returncode != 0 or errors:
            raise Failure(f"a later run ended with {process.returncode}: {errors}")
        return time.monotonic() - began

    def run(self):
        end = time.monotonic() + self.args.seconds
        rounds = 0
        while time.monotonic() < end or rounds < 2:
            self.kill_workers()
            self.kill_exporter()
            self.kill_importer()
            rounds += 1
        self.run_later()
        warm_s = self.run_later()
        self.check_leftovers()
        self.check_cache()
        self.check_work()
        killed = ", ".join(f"{count} {role}" for role, count in sorted(self.counts.items()))
        print(f"{rounds} rounds, killed: {killed}; a later run takes {warm_s:.2f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--victim", required=True)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    args = parser.parse_args()
    args.victim, args.lib = os.path.abspath(args.victim), os.path.abspath(args.lib)
    folder = Path(tempfile.mkdtemp(prefix="limen-kill-"))
    test = Test(args, folder)
    try:
        test.run()
    except Failure as failure:
        print(f"FAILED (seed {args.seed}): {failure}")
        return 1
    finally:
        for process in test.started:
            process.kill()  # does nothing to one that has ended
        shutil.rmtree(folder, ignore_errors=True)
    print("PASSED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
