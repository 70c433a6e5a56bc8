"""The peers of the benchmark: how each is built, run and told how many threads to use."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = {
    "limen": "CUDA under Limen",
    "openmp": "OpenMP, g++ -O3 -march=native",
    "openmp_fast": "the same with -ffast-math",
    "openmp_clang": "OpenMP, clang++-19 -O3 -march=native",
    "opencl": "OpenCL on PoCL",
}
CLANG = "clang++-19"
# The first libomp that has all that clang++-19 calls.
LIBOMP_WHOLE = 19


def fail(text):
    print(f"bench: {text}", file=sys.stderr)
    raise SystemExit(1)


def find_nvcc():
    for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if path and os.access(path, os.X_OK):
            return path
    fail("nvcc is needed to build the CUDA programs, and was not found")


def find_libomp():
    """Version and folder of the newest libomp up to clang's own version, Debian's places."""
    found = []
    for library in Path("/usr/lib").glob("llvm-*/lib/libomp.so"):
        version = int(re.search(r"llvm-(\d+)", str(library)).group(1))
        if version <= LIBOMP_WHOLE:
            found.append((version, library.parent))
    return max(found, default=None)


def build_command(peer, source, out):
    gxx = ["g++", "-std=c++17", "-O3", "-march=native"]
    if peer == "limen":
        return [find_nvcc(), "-std=c++17", "-O3", "-x", "cu", "-DPEER_CUDA", "-o", out, source]
    if peer == "openmp":
        return [*gxx, "-fopenmp", "-DPEER_OPENMP", "-o", out, source]
    if peer == "openmp_fast":
        return [*gxx, "-ffast-math", "-fopenmp", "-DPEER_OPENMP", "-o", out, source]
    if peer == "openmp_clang":
        command = [CLANG, "-std=c++17", "-O3", "-march=native", "-fopenmp=libomp", "-DPEER_OPENMP",
                   "-o", out, source]
        # Elsewhere than in Debian's places clang may know itself where its libomp is.
        version, folder = find_libomp() or (LIBOMP_WHOLE, None)
        if version < LIBOMP_WHOLE:
            command.append(ROOT / "bench/libomp_older.cpp")
        return command + ([f"-L{folder}", f"-Wl,-rpath,{folder}"] if folder else [])
    return [*gxx, "-DPEER_OPENCL", "-o", out, source, "-lOpenCL"]


def compile_once(command, out, newest):
    """Runs the compiler where `out` is missing or older than `newest`; the compiler's words or None."""
    if out.exists() and out.stat().st_mtime >= newest:
        return None
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except FileNotFoundError:
        return f"{command[0]} was not found; run scripts/setup bench"
    return None if done.returncode == 0 else done.stderr[-2000:] or f"exit {done.returncode}"


def build(peer, name, folder):
    source = ROOT / "bench/kernels" / f"{name}.cpp"
    out = folder / f"{name}.{peer}"
    newest = max(source.stat().st_mtime,
                 *(p.stat().st_mtime for p in (ROOT / "bench/kernels").glob("*.h")))
    error = compile_once(build_command(peer, source, out), out, newest)
    if error:
        print(f"bench: {name} does not build for {peer}:\n{error}", file=sys.stderr)
        return None
    return out


def build_roofline(folder):
    source, out = ROOT / "bench/roofline.cpp", folder / "roofline"
    command = ["g++", "-std=c++17", "-O3", "-march=native", "-fopenmp", "-o", out, source]
    error = compile_once(command, out, source.stat().st_mtime)
    if error:
        fail(f"{source} does not build:\n{error}")
    return out


def environment(threads):
    """The environment in which every peer uses that many threads; 0: as many as it likes."""
    out = dict(os.environ)
    if threads:
        for name in ("OMP_NUM_THREADS", "LIMEN_THREADS", "POCL_MAX_PTHREAD_COUNT"):
            out[name] = str(threads)
    return out
