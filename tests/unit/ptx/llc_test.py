"""PTX that LLVM's NVPTX backend emits: what ptxas accepts for a plain target, ptx_check must accept.

Runs llc over the .ll files of a folder (LLVM's own llvm/test/CodeGen/NVPTX, which is not part of this
tree), once with the flags of each of the file's RUN lines and once for sm_90, and compares verdicts.
Everything is written to a temporary folder.

Usage: llc_test.py [--llc llc-19] [--ours-only] <ptx_check> <folder>
Exit code 1 when a text that ptxas accepts is refused; 77 where a tool is absent.
"""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = 75  # what ptxas 13 still knows


def runs_of(path):
    """Flag lists of the file's llc runs for nvptx64, and one for sm_90."""
    text = path.read_text(errors="replace")
    found = {("-mcpu=sm_90", "-mattr=+ptx85"), ("-mcpu=sm_90", "-mattr=+ptx85", "-O0")}
    for line in re.findall(r"^; ?RUN:(.*)$", text, re.M):
        for command in re.findall(r"llc\b([^|>]*)", line):
            flags = tuple(w for w in command.split()
                          if re.match(r"-(mcpu|mattr|O\d|nvptx|fp-contract|enable|float-abi|"
                                      r"denormal|frame)", w) and "verify" not in w)
            sm = re.search(r"-mcpu=sm_(\d+)(a?)", command)
            if sm and int(sm[1]) >= OLDEST and not sm[2]:
                found.add(flags)
    return sorted(found)


def emit(llc, path, flags, out):
    done = subprocess.run([llc, "-mtriple=nvptx64-nvidia-cuda", *flags, str(path), "-o", str(out)],
                          capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.returncode == 0 and out.exists() and out.stat().st_size > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llc", default="llc-19")
    parser.add_argument("--ours-only", action="store_true", help="ask ptxas of what we refuse only")
    parser.add_argument("--keep", help="folder for the PTX, kept and used again")
    parser.add_argument("tool")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    if not shutil.which(arguments.llc) or not shutil.which("ptxas"):
        print("skipped: llc or ptxas is not on the PATH")
        return 77
    os.nice(10)
    folder = Path(arguments.keep or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    texts, seen = [], set()
    for path in sorted(Path(arguments.folder).rglob("*.ll")):
        for flags in runs_of(path):
            name = path.stem + "." + hashlib.sha1(" ".join(flags).encode()).hexdigest()[:6]
            out = folder / (name + ".ptx")
            try:
                if not out.exists() and not emit(arguments.llc, path, flags, out):
                    out.write_text("")
            except subprocess.TimeoutExpired:
                out.write_text("")
            digest = hashlib.sha1(out.read_bytes()).digest()
            if out.stat().st_size and digest not in seen:
                seen.add(digest)
                texts.append(out)
    refused = {}
    for at in range(0, len(texts), 200):
        out = subprocess.run([arguments.tool, *map(str, texts[at:at + 200])], capture_output=True,
                             text=True).stdout
        for line in out.splitlines():
            path, _, what = line.partition(": ")
            refused.setdefault(path, what)
    taken = both = 0
    wrong = []
    for path in texts:
        ours = str(path) not in refused
        if ours and arguments.ours_only:
            continue
        target = re.search(r"^\.target (\w+)", path.read_text(errors="replace"), re.M)
        done = subprocess.run(["ptxas", "-O0", "-c", "-arch=" + (target[1] if target else "sm_90"),
                               str(path), "-o", "/dev/null"], capture_output=True)
        if done.returncode:
            continue
        taken += 1
        both += ours
        if not ours:
            wrong.append(path)
    print(f"{len(texts)} texts, ptxas accepts {taken}, of those we accept {both}; "
          f"we refuse {len(refused)} in all")
    for path in wrong:
        print(f"  {path.name}: {refused[str(path)]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
