"""Builds the public programs of open_programs.json out of their checkouts.

It knows the CMake lists of cuda-samples, the Makefiles of the two other suites and two flag
variants; it does not fetch anything and puts nothing into this repository. Each executable lands in
BUILD/<variant>/<suite>/<name>/, with the files it opens by name beside it where a suite needs that.
Builds run one at a time inside a program's folder, so two builds of one program never overlap.
"""
from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

# What a feature that issue 2 leaves out is called in the table of results.
OUT_OF_SCOPE = {
    "texture": "textures", "surface": "surfaces", "ptx_tex": "textures", "ptx_surf": "surfaces",
    "mma": "mma", "dynamic_parallelism": "dynamic parallelism", "graphs": "graphs",
    "nvrtc": "NVRTC", "lib_nvrtc": "NVRTC", "ipc": "IPC", "vmm_api": "virtual memory management",
    "peer_access": "peer access", "coop_launch_grid": "cooperative grid launch",
    "lib_cublas": "cuBLAS", "lib_cublasLt": "cuBLASLt", "lib_cusparse": "cuSPARSE",
    "lib_cufft": "cuFFT", "lib_curand": "cuRAND",
}

VARIANTS = {
    # As the recorded outputs were built.
    "o3": ["-O3", "-gencode", "arch=compute_80,code=[sm_80,compute_80]"],
    # What a reader types: nvcc app.cu -o app.
    "default": [],
}

DRIVER_FATBINS = {
    # host program -> (kernel source, name of the fat binary it opens at run time)
    "vectorAddDrv": ("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin"),
    "simpleDrvRuntime": ("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin"),
    "simpleTextureDrv": ("simpleTexture_kernel.cu", "simpleTexture_kernel64.fatbin"),
}

EXTRA_FLAGS = {"cudaOpenMP": ["-Xcompiler", "-fopenmp"]}
# PolyBench calls a name that CUDA 13 removed; its successor has the same meaning.
SUITE_FLAGS = {"polybench-gpu": ["-DcudaThreadSynchronize=cudaDeviceSynchronize"]}


def reasons_out_of_scope(program: dict) -> list[str]:
    """Why a program does not belong to issue 2; empty when it does."""
    reasons = []
    if program["on_h200"] != "pass":
        reasons.append(program["on_h200"].replace("not judged: ", "not judged on the H200: "))
    for feature in program.get("features", []):
        name = OUT_OF_SCOPE.get(feature)
        if name and name not in reasons:
            reasons.append(name)
    return reasons


def program_dir(program: dict, source: Path) -> Path:
    return source / program["suite"] / program["dir"]


def executable(program: dict, variant: str, build: Path) -> Path:
    return build / variant / program["suite"] / program["name"] / program["name"]


def write_wrapper(build: Path, variant: str, suite: str, nvcc: str) -> Path:
    """A front named nvcc that replaces a Makefile's architecture and -O flags by the variant's."""
    folder = build / "wrapper" / variant / suite
    folder.mkdir(parents=True, exist_ok=True)
    flags = " ".join(shlex.quote(f) for f in VARIANTS[variant] + SUITE_FLAGS.get(suite, []))
    drop_o = "" if variant == "o3" else "-O3|-O2|-O|"
    front = folder / "nvcc"
    front.write_text(f"""#!/bin/bash
args=()
skip=0
for a in "$@"; do
  if [ $skip = 1 ]; then skip=0; continue; fi
  case "$a" in
    -gencode|-arch) skip=1 ;;
    {drop_o}-arch=*|-gencode=*|--generate-code=*) ;;
    *) args+=("$a") ;;
  esac
done
exec {shlex.quote(nvcc)} {flags} "${{args[@]}}"
""")
    front.chmod(front.stat().st_mode | stat.S_IEXEC)
    return folder


def cmake_sources(folder: Path, name: str) -> list[str]:
    text = (folder / "CMakeLists.txt").read_text()
    match = re.search(r"add_executable\(\s*" + re.escape(name) + r"\s+([^)]*)\)", text)
    if not match:
        raise ValueError(f"{folder}/CMakeLists.txt names no executable {name}")
    return match.group(1).split()


def build_sample(program: dict, variant: str, source: Path, out: Path, nvcc: str, log) -> None:
    folder = program_dir(program, source)
    name = program["name"]
    flags = VARIANTS[variant] + ["-std=c++17", "--extended-lambda", "-I",
                                 str(source / "cuda-samples" / "Common")]
    if program.get("rdc"):
        flags += ["-rdc=true"]
    command = [nvcc, *flags, *EXTRA_FLAGS.get(name, []), *cmake_sources(folder, name), "-o",
               str(out)]
    if "cuda_driver" in program.get("libs", []):
        command.append("-lcuda")
    run(command, folder, log)
    if name in DRIVER_FATBINS:
        kernel, fatbin = DRIVER_FATBINS[name]
        run([nvcc, *VARIANTS[variant], "-fatbin", kernel, "-o", str(out.parent / fatbin)], folder,
            log)


def build_with_make(program: dict, variant: str, source: Path, out: Path, wrapper: Path,
                    log) -> None:
    folder = program_dir(program, source)
    env = dict(os.environ, PATH=f"{wrapper}:{os.environ['PATH']}")
    subprocess.run(["make", "clean"], cwd=folder, env=env, stdout=log, stderr=log)
    target = ["program=main"] if program["suite"] == "hecbench" else []
    run(["make", "-j1", *target], folder, log, env)
    if program["suite"] == "hecbench":
        made = folder / "main"
    else:
        made = next(p for p in folder.iterdir() if p.suffix == ".exe")
    shutil.move(made, out)
    subprocess.run(["make", "clean"], cwd=folder, env=env, stdout=log, stderr=log)


def run(command: list[str], cwd: Path, log, env=None) -> None:
    log.write("$ " + shlex.join(map(str, command)) + "\n")
    log.flush()
    subprocess.run(command, cwd=cwd, env=env, stdout=log, stderr=log, check=True)


def build(program: dict, variant: str, source: Path, build_dir: Path, nvcc: str) -> str:
    """Builds one program unless it is there; returns '' or the reason why there is none."""
    out = executable(program, variant, build_dir)
    failed = out.parent / "failed"
    if out.exists():
        return ""
    if failed.exists():
        return failed.read_text()
    if not program_dir(program, source).is_dir():
        return f"no checkout at {program_dir(program, source)}"
    out.parent.mkdir(parents=True, exist_ok=True)
    with open(out.parent / "build.log", "w", encoding="utf-8") as log:
        try:
            if program["suite"] == "cuda-samples":
                build_sample(program, variant, source, out, nvcc, log)
            else:
                wrapper = write_wrapper(build_dir, variant, program["suite"], nvcc)
                build_with_make(program, variant, source, out, wrapper, log)
        except (subprocess.CalledProcessError, ValueError, StopIteration, OSError) as error:
            failed.write_text(f"build failed: {error}")
            return failed.read_text()
    return ""
