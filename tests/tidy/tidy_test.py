"""Lints the tree: include rules, file lengths, banned words, paths that documents name.

Looks at the files that git tracks (at all files, where there is no git). Each finding is one line
with file and line; the rules are those of STYLE.md and rooms.toml.
"""
import re
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = {".h", ".cpp", ".c", ".cu", ".py", ".inc"}
TEXT = CODE | {".md", ".toml", ".txt", ".cmake", ".ptx", ".json", ".sh", ""}
LINES_MAX = 1000
# clang-format holds code to 100; this is what comments and tables may not pass.
COLUMNS_MAX = 120
# Names that a line may hold only where the rule itself is written.
SELF = "tests/tidy/tidy_test.py"
# Each: what to look for, why it is banned, where it is allowed.
BANNED = [
    (re.compile(r"\b(?:FIXME|XXX|HACK)\b"), "leftover", {"STYLE.md"}),
    (re.compile(r"\bTODO\b(?!\(#\d+\))"), "a TODO without an issue", {"STYLE.md"}),
    (re.compile(r"(?<!ask )\bfor now\b", re.I), "a promise to come back", {"STYLE.md"}),
    (re.compile(r"/work/|/tmp/build-|/home/\w+/"), "a path of one machine", set()),
    (re.compile(r"pypi\.org|registry\.npmjs|crates\.io|deb\.debian\.org|proxy\.golang"),
     "the host of a package registry", set()),
    (re.compile(r"\b(?:[Ww]orkgroup|[Ww]avefront)s?\b"), "another vendor's word; see the glossary",
     {"docs/glossary.md", "bench/"}),
]
NVIDIA_HEADERS = re.compile(
    r"#\s*include\s*[<\"](?:cuda\w*|cu(?:blas|fft|rand|solver|sparse|pti|dnn)\w*|nv\w+|fatbinary\w*"
    r"|device_launch\w*|cooperative_groups\w*|crt/\w+)\.(?:h|hpp)[>\"]")
# Headers of the C and C++ standard libraries that carry a ".h" or a "/" of their own.
C_HEADERS = {"assert.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdarg.h",
             "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h"}
# Compiler intrinsics and file formats; they ask nothing of the operating system.
NEUTRAL_HEADERS = {"elf.h", "immintrin.h", "xmmintrin.h", "emmintrin.h", "pmmintrin.h", "cpuid.h",
                   "x86intrin.h", "cxxabi.h", "lz4.h", "zstd.h", "xxhash.h", "zlib.h"}
# Everything at the root, so that what a run leaves there is not committed by chance.
AT_ROOT = {".clang-format", ".clang-tidy", ".gitignore", "ARCHITECTURE.md", "CMakeLists.txt",
           "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "Makefile", "NOTICE", "README.md",
           "STYLE.md", "rooms.toml"}
PTX_OF_DEVICE_LIBRARY = re.compile(r"__nv_\w+|__internal_\w+|libdevice")


def tracked_files():
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True)
    if done.returncode == 0 and done.stdout:
        names = done.stdout.decode().split("\0")
    else:
        skip = re.compile(r"^(build|\.git|\.cache|out)")
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")
                 if not skip.match(str(p.relative_to(ROOT)))]
    return sorted(n for n in names if n and (ROOT / n).is_file())


FILES = tracked_files()
NAMES = {Path(name).name for name in FILES}


def lines_of(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()


class Tidy(unittest.TestCase):
    maxDiff = None

    def report(self, findings):
        if findings:
            self.fail(f"{len(findings)} findings\n  " + "\n  ".join(findings))

    def test_files_are_short(self):
        found = []
        for name in FILES:
            if Path(name).suffix in CODE and "corpus/" not in name:
                count = len(lines_of(name))
                if count > LINES_MAX:
                    found.append(f"{name}: {count} lines, the most is {LINES_MAX}")
        self.report(found)

    def test_lines_are_short(self):
        found = []
        for name in FILES:
            if name.startswith("src/") and Path(name).suffix in {".h", ".cpp"}:
                for number, line in enumerate(lines_of(name), 1):
                    if len(line) > COLUMNS_MAX:
                        found.append(f"{name}:{number}: {len(line)} columns, the most is {COLUMNS_MAX}")
        self.report(found)

    def test_banned_words(self):
        found = []
        for name in FILES:
            if Path(name).suffix not in TEXT or name == SELF or name == "LICENSE":
                continue
            if "corpus/" in name:
                continue
            for number, line in enumerate(lines_of(name), 1):
                for pattern, why, allowed in BANNED:
                    if pattern.search(line) and not any(name.startswith(a) for a in allowed):
                        found.append(f"{name}:{number}: {why}: {line.strip()[:80]}")
        self.report(found)

    def test_no_nvidia_headers_in_src(self):
        found = []
        own = {Path(n).name for n in FILES if n.startswith("src/")}
        for name in FILES:
            if not name.startswith("src/"):
                continue
            for number, line in enumerate(lines_of(name), 1):
                hit = NVIDIA_HEADERS.search(line)
                if hit and not re.search(r'"(?:abi|loader|drivers|cudart)/', line):
                    if Path(re.search(r'[<"]([^>"]+)', line).group(1)).name not in own:
                        found.append(f"{name}:{number}: {line.strip()}")
        self.report(found)

    def test_files_open_with_a_comment(self):
        found = []
        for name in FILES:
            if name.startswith("src/") and Path(name).suffix in {".h", ".cpp", ".c"}:
                first = next(iter(lines_of(name)), "")
                if not first.startswith(("//", "/*")):
                    found.append(f"{name}: does not open with what it does")
        self.report(found)

    def test_headers_are_included_once(self):
        self.report([f"{name}: no #pragma once" for name in FILES
                     if name.startswith("src/") and name.endswith(".h")
                     and not any(l.startswith("#pragma once") or l.startswith("#ifndef LIMEN_")
                                 for l in lines_of(name))])

    def test_no_rooms_for_everything(self):
        bad = re.compile(r"(?:^|/)(?:utils?|common|misc)(?:/|\.|$)")
        self.report([name for name in FILES if bad.search(name)])

    def test_committed_ptx_is_our_own(self):
        found = []
        for name in FILES:
            if name.endswith(".ptx"):
                for number, line in enumerate(lines_of(name), 1):
                    if PTX_OF_DEVICE_LIBRARY.search(line):
                        found.append(f"{name}:{number}: code of NVIDIA's device library: {line.strip()}")
        self.report(found)

    def test_root_holds_what_belongs_there(self):
        self.report(sorted({name for name in FILES if "/" not in name} - AT_ROOT))

    def test_no_binaries_but_named_kinds(self):
        allowed = (".png", ".ppm", ".golden")
        found = []
        for name in FILES:
            if name.endswith(allowed) or "corpus/" in name:
                continue
            if b"\0" in (ROOT / name).read_bytes()[:4096]:
                found.append(name)
        self.report(found)


class Includes(unittest.TestCase):
    """rooms.toml: who may include whom."""

    @classmethod
    def setUpClass(cls):
        rooms = tomllib.loads((ROOT / "rooms.toml").read_text())["room"]
        # Longest path first, so that src/compiler/ptx is not taken for a shorter one.
        cls.rooms = sorted(rooms.items(), key=lambda item: -len(item[1]["path"]))

    def room_of(self, path):
        for name, room in self.rooms:
            if path.startswith(room["path"] + "/"):
                return name, room
        return None, None

    def check(self, name, number, line):
        hit = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not hit:
            return None
        quoted, target = hit.group(1) == '"', hit.group(2)
        own, room = self.room_of(name)
        if own is None:
            return f"{name}: no room of rooms.toml holds this file"
        if target.startswith(("llvm/", "llvm-c/", "clang/")):
            return None if room.get("llvm") else f"{name}:{number}: room {own} includes LLVM"
        if quoted:
            if (ROOT / name).parent.joinpath(target).is_file():
                return None
            other, _ = self.room_of("src/" + target)
            if other in (None, own) or other in room["rooms"] or target in room.get("headers", []):
                return None
            return f"{name}:{number}: room {own} may not include {target} of room {other}"
        system = target.endswith(".h") and target not in C_HEADERS | NEUTRAL_HEADERS
        system = system and not target.startswith(("fmt/", "boost/", "sanitizer/", "valgrind/"))
        if system and not room.get("os"):
            return f"{name}:{number}: room {own} includes the system's <{target}>"
        return None

    def test_rooms(self):
        found = []
        for name in FILES:
            if name.startswith("src/") and Path(name).suffix in {".h", ".cpp", ".c", ".inc"}:
                for number, line in enumerate(lines_of(name), 1):
                    finding = self.check(name, number, line)
                    if finding:
                        found.append(finding)
        self.assertFalse(found, "\n  ".join([""] + sorted(set(found))))

    def test_every_named_path_exists(self):
        for name, room in self.rooms:
            for rule in room["rooms"]:
                self.assertIn(rule, dict(self.rooms), f"room {name} names an unknown room")


class Documents(unittest.TestCase):
    """A path that a document names must exist."""

    PATH = re.compile(r"`((?:\.?[\w-]+/)+[\w.*-]*|[A-Z]+\.md|\w+\.(?:toml|json))`")
    LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
    # Made by the build or by a run, so not in the tree.
    MADE = ("build/", "build-", "lib/", "bin/", "../lib", "out/", "cudart/", "abi/", "usr/")

    def exists(self, document, path):
        if path.startswith(self.MADE) or re.search(r"(?:^|/)[A-Z]+/", path):
            return True  # made elsewhere, or words in capitals that stand for names
        if "/" not in path and path in NAMES:
            return True
        if "/" in path and "." not in path and not path.endswith("/"):
            # "a/b" may be two words; it is a path when its first part is a folder here.
            first = path.split("/")[0]
            if not (ROOT / first).exists() and not (ROOT / "src" / first).exists():
                return True
        for base in (ROOT, (ROOT / document).parent, ROOT / "src"):
            if "*" in path:
                if list(base.glob(path)):
                    return True
            elif (base / path).exists():
                return True
        return False

    def test_paths_and_links(self):
        found = []
        for name in FILES:
            if not name.endswith(".md") or name.startswith("docs/adr/"):
                continue
            for number, line in enumerate(lines_of(name), 1):
                targets = self.PATH.findall(line) + self.LINK.findall(line)
                for target in targets:
                    if not self.exists(name, target):
                        found.append(f"{name}:{number}: names {target}, which is not there")
        self.assertFalse(found, "\n  ".join([""] + found))

    def test_launch_path_of_architecture(self):
        text = (ROOT / "ARCHITECTURE.md").read_text()
        block = re.search(r"<!-- launch path -->\s*```(.*?)```", text, re.S)
        self.assertTrue(block, "ARCHITECTURE.md has no block after <!-- launch path -->")
        files = re.findall(r"[\w/]+\.(?:cpp|h)\b", block.group(1))
        self.assertGreaterEqual(len(files), 6, "the launch path names too few files")
        missing = [f for f in files if not (ROOT / "src" / f).is_file()]
        self.assertFalse(missing, f"ARCHITECTURE.md's launch path names missing files: {missing}")

    def test_packages_are_explained(self):
        explained = (ROOT / "docs/packages.md").read_text()
        for line in lines_of("docs/packages.txt"):
            if line and not line.startswith("#"):
                self.assertIn(line.split()[1], explained, "docs/packages.md misses a package")


if __name__ == "__main__":
    sys.exit(unittest.main())
