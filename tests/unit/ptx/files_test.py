"""Runs ptx_check over tests/ptx: parse/*.ptx must be accepted; in reject/*.ptx each line that ends
with `// error: text` must be reported with that text. A reject file holds one fault a function, or
one fault in all when it is outside functions.

Usage: files_test.py <ptx_check>
"""
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "ptx"


def check(tool, path):
    done = subprocess.run([tool, str(path)], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path}: ptx_check ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def main(tool):
    failures = []
    parsed = sorted((FOLDER / "parse").glob("*.ptx"))
    rejected = sorted((FOLDER / "reject").glob("*.ptx"))
    if not parsed or not rejected:
        failures.append(f"no files in {FOLDER}")
    for path in parsed:
        if out := check(tool, path):
            failures.append(out)
    for path in rejected:
        out = check(tool, path)
        wanted = [(n, m[1].strip()) for n, line in enumerate(path.read_text().splitlines(), 1)
                  if (m := re.search(r"// error: (.*)", line))]
        for number, text in wanted:
            hit = re.compile(rf"line {number}[,:].*{re.escape(text)}")
            if not hit.search(out):
                failures.append(f"{path}: line {number}: no error {text!r}; got:\n{out}")
        if len(out.splitlines()) != len(wanted):
            failures.append(f"{path}: {len(wanted)} errors wanted, got:\n{out}")
    print("\n".join(failures) or f"{len(parsed)} accepted, {len(rejected)} rejected as written")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
