"""The parser and verifier must accept everything that nvcc emits for nvcc/*.cu.

Usage: nvcc_test.py <ptx_check>. Exit code 77 where nvcc is absent.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "nvcc"
FLAGS = [["-arch=compute_75"], ["-arch=compute_80", "-G"], ["-arch=compute_80"],
         ["-arch=compute_90", "-rdc=true"], ["-arch=compute_120", "-lineinfo"],
         ["-arch=compute_120", "-use_fast_math"]]


def main(tool):
    nvcc = shutil.which("nvcc")
    if not nvcc:
        print("skipped: nvcc is not on the PATH")
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(FOLDER.glob("*.cu")):
            for flags in FLAGS:
                out = Path(folder) / f"{source.stem}.ptx"
                done = subprocess.run([nvcc, "-ptx", "-w", *flags, "-o", str(out), str(source)],
                                      capture_output=True, text=True)
                if done.returncode:
                    print(f"{source.name} {flags}: nvcc failed\n{done.stderr}")
                    bad += 1
                    continue
                checked = subprocess.run([tool, str(out)], capture_output=True, text=True)
                if checked.returncode:
                    print(f"{source.name} {flags}:\n{checked.stdout}{checked.stderr}")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
