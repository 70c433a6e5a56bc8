"""Tests of the `limen` command line: options, exit codes, signals, and the ways to libcuda.so.1.

Independent of Limen's driver: the test lays out bin/ and lib/ of its own, with a stand-in
libcuda.so.1 whose cuInit returns 4242, and small C programs compiled on the spot. Another stand-in,
returning 666, plays the library that must not win.
"""
import argparse
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ARGS = None

LIBRARY = "int cuInit(unsigned flags) { (void)flags; return %d; }\n"
# Looks libcuda up by the name in argv[1] (or a fixed one) and exits 0 when it is the right one.
OPENER = r"""
#include <dlfcn.h>
#include <stdio.h>
#ifndef NAME
#define NAME "libcuda.so.1"
#endif
int main(int argc, char** argv) {
  void* lib = dlopen(argc > 1 ? argv[1] : NAME, RTLD_NOW);
  if (!lib) { puts("none"); return 9; }
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
  printf("%d\n", init(0));
  return 0;
}
"""


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="limen-cli-")
        root = Path(cls.folder.name)
        cls.root = root
        for name in ("bin", "lib", "other", "programs"):
            (root / name).mkdir()
        cls.limen = root / "bin" / "limen"
        shutil.copy(ARGS.limen, cls.limen)
        shutil.copy(ARGS.audit, root / "lib" / "liblimen_audit.so")
        cls.library(root / "lib" / "libcuda.so.1", 4242)
        cls.library(root / "other" / "libcuda.so.1", 666)
        cls.opener = cls.program("opener", OPENER)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def compile(cls, text, out, *flags):
        subprocess.run([ARGS.cc, "-x", "c", "-", "-x", "none", "-o", str(out), *flags],
                       input=text, text=True, check=True)
        return out

    @classmethod
    def library(cls, path, answer):
        cls.compile(LIBRARY % answer, path, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1")

    @classmethod
    def program(cls, name, text, *flags):
        return cls.compile(text, cls.root / "programs" / name, *flags, "-ldl")

    def run_limen(self, *words, env=None, stdin=None, cwd=None):
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("LIMEN_", "LD_"))}
        environment.update(env or {})
        return subprocess.run([str(self.limen), *map(str, words)], text=True, cwd=cwd, input=stdin,
                              env=environment, capture_output=True, timeout=60)

    def expect(self, done, code, out=None, error=None):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if out is not None:
            self.assertEqual(done.stdout, out, done.stderr)
        if error is not None:
            self.assertIn(error, done.stderr)

    # The command itself.

    def test_version(self):
        done = self.run_limen("--version")
        self.expect(done, 0)
        self.assertRegex(done.stdout, r"^limen \d+\.\d+\.\d+\n$")

    def test_help(self):
        self.expect(self.run_limen("help"), 0)
        self.expect(self.run_limen("--help"), 0)
        done = self.run_limen("help", "run")
        self.expect(done, 0)
        for option in ("--devices", "--cc", "--threads", "--memory", "--log", "--sms",
                       "--strategy", "--cache"):
            self.assertIn(option, done.stdout)
        self.assertEqual(done.stdout, self.run_limen("run", "--help").stdout)

    def test_wrong_command_lines_exit_2(self):
        for words, error in [
                ((), "usage"),
                (("fly",), "no verb 'fly'"),
                (("--fly",), "unknown option '--fly'"),
                (("help", "fly"), "no verb 'fly'"),
                (("run",), "no program is named"),
                (("run", "--"), "no program is named"),
                (("run", "--fly", "true"), "unknown option --fly"),
                (("run", "--devices"), "--devices needs a value"),
                (("run", "--devices", "none", "true"), "a number from 0 to 64, not 'none'"),
                (("run", "--devices=65", "true"), "a number from 0 to 64, not '65'"),
                (("run", "--threads=-1", "true"), "--threads takes"),
                (("run", "--cc", "new", "true"), "--cc takes"),
                (("run", "--cc", "8.66", "true"), "--cc takes"),
                (("run", "--memory", "much", "true"), "--memory takes"),
                (("run", "--memory", "", "true"), "--memory takes"),
                (("run", "--log", "loud", "true"), "--log takes"),
                (("run", "--log", "info:", "true"), "--log takes"),
                (("run", "--strategy", "best", "true"), "--strategy takes"),
                (("run", "--route", "north", "true"), "--route takes"),
                (("env", "extra"), "takes no 'extra'")]:
            with self.subTest(words=words):
                self.expect(self.run_limen(*words), 2, out="", error=error)

    def test_full_output_device_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(self.limen), "help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)

    # Options reach the program as variables; its own words are left alone.

    def test_options_become_variables(self):
        done = self.run_limen("run", "--devices", "2", "--cc=8.6", "--threads", "3", "--memory",
                              "2G", "--sms", "16", "--strategy", "fiber", "--cache", "/c d",
                              "--log", "info:/l", "env")
        self.expect(done, 0)
        lines = done.stdout.splitlines()
        for line in ("LIMEN_DEVICES=2", "LIMEN_CC=8.6", "LIMEN_THREADS=3", "LIMEN_MEMORY=2G",
                     "LIMEN_SMS=16", "LIMEN_STRATEGY=fiber", "LIMEN_CACHE_DIR=/c d",
                     "LIMEN_LOG=info:/l"):
            self.assertIn(line, lines)

    def test_without_options_only_the_search_path_is_set(self):
        done = self.run_limen("run", "env", env={"LD_LIBRARY_PATH": "/a:/b"})
        lines = done.stdout.splitlines()
        self.assertIn(f"LD_LIBRARY_PATH={self.root}/lib:/a:/b", lines)
        self.assertFalse([l for l in lines if l.startswith(("LIMEN_", "LD_PRELOAD", "LD_AUDIT"))])

    def test_arguments_are_passed_on_unchanged(self):
        show = "import sys; print(sys.argv[1:])"
        words = ["--cc", "-h", "", "a b", "--", "$HOME", "*"]
        done = self.run_limen("run", "python3", "-c", show, *words)
        self.expect(done, 0, out=str(words) + "\n")
        done = self.run_limen("run", "--", "python3", "-c", show, *words)
        self.expect(done, 0, out=str(words) + "\n")

    def test_name_and_streams_are_the_programs(self):
        self.expect(self.run_limen("run", "sh", "-c", "echo $0"), 0, out="sh\n")
        self.expect(self.run_limen("run", "cat", stdin="through"), 0, out="through")

    # Exit codes and signals.

    def test_exit_code_is_the_programs(self):
        for code in (0, 1, 2, 77, 255):
            self.expect(self.run_limen("run", "sh", "-c", f"exit {code}"), code)

    def test_death_by_signal_is_the_programs(self):
        for name in ("SIGKILL", "SIGTERM", "SIGUSR1"):
            number = int(getattr(signal, name))
            done = self.run_limen("run", "sh", "-c", f"kill -{number} $$")
            self.assertEqual(done.returncode, -number)

    def test_signals_reach_the_program(self):
        child = subprocess.Popen(
            [str(self.limen), "run", "sh", "-c", "trap 'exit 42' TERM; echo up; while :; do sleep 0.05; done"],
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "up\n")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(timeout=30), 42)
        child.stdout.close()

    def test_not_found_and_not_runnable(self):
        self.expect(self.run_limen("run", "no-such-program-here"), 127, error="no directory of PATH")
        self.expect(self.run_limen("run", "/no/such"), 127, error="/no/such")
        self.expect(self.run_limen("run", self.root), 126, error="directory")
        plain = self.root / "plain"
        plain.write_text("data")
        self.expect(self.run_limen("run", plain), 126, error="not executable")
        self.expect(self.run_limen("run", "opener", cwd=self.root / "programs"), 127,
                    error="write ./opener")

    def test_missing_library_is_told(self):
        bare = self.root / "bare" / "bin"
        bare.mkdir(parents=True)
        shutil.copy(self.limen, bare / "limen")
        done = subprocess.run([str(bare / "limen"), "run", "true"], capture_output=True, text=True)
        self.expect(done, 1, error="libcuda.so.1 is neither in")

    # Kinds of programs.

    def script(self, name, text):
        path = self.root / "programs" / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def test_scripts(self):
        python = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))\n"
        plain = self.root / "programs" / "plain.py"
        plain.write_text(python)
        self.expect(self.run_limen("run", "python3", plain), 0, out="4242\n")
        by_env = self.script("by_env.py", "#!/usr/bin/env python3\n" + python)
        self.expect(self.run_limen("run", by_env), 0, out="4242\n")
        split = self.script("split.py", "#!/usr/bin/env -S python3 -I\n" + python)
        self.expect(self.run_limen("run", split), 0, out="4242\n")
        shell = self.script("shell.sh", f"#!/bin/sh\nexec {self.opener}\n")
        self.expect(self.run_limen("run", shell), 0, out="4242\n")
        bare = self.script("bare.sh", "echo \"bare $1\"\n")
        self.expect(self.run_limen("run", bare, "word"), 0, out="bare word\n")
        lost = self.script("lost.sh", "#!/no/such/interpreter\n")
        self.expect(self.run_limen("run", lost), 127, error="/no/such/interpreter")

    def test_dynamic_program(self):
        self.expect(self.run_limen("run", self.opener), 0, out="4242\n")

    def test_static_program_runs_with_a_note(self):
        try:
            static = self.program("static", "int main(void) { return 5; }\n", "-static")
        except subprocess.CalledProcessError:
            self.skipTest("no static C library here")
        self.expect(self.run_limen("run", static), 5, error="statically linked")

    def test_foreign_program_is_refused(self):
        data = bytearray(self.opener.read_bytes())
        struct.pack_into("<H", data, 18, 183)
        foreign = self.root / "programs" / "foreign"
        foreign.write_bytes(data)
        foreign.chmod(0o755)
        self.expect(self.run_limen("run", foreign), 126, error="a program for AArch64")

    def test_damaged_program_is_refused(self):
        data = self.opener.read_bytes()
        for length in (20, 63, 64, 200, 700):
            with self.subTest(length=length):
                damaged = self.root / "programs" / "damaged"
                damaged.write_bytes(data[:length])
                damaged.chmod(0o755)
                done = self.run_limen("run", damaged)
                self.expect(done, 126, error="limen: ")

    # Programs that do not ask LD_LIBRARY_PATH first.

    def test_rpath_loses_to_us(self):
        program = self.program("rpath", OPENER, f"-Wl,--disable-new-dtags,-rpath,{self.root}/other")
        self.expect(self.run_limen("run", "--route", "path", program), 0, out="666\n")
        self.expect(self.run_limen("run", program), 0, out="4242\n")

    def test_origin_rpath_and_needed_library_lose_to_us(self):
        program = self.compile("int cuInit(unsigned); int main(void) { return cuInit(0) != 4242; }",
                               self.root / "programs" / "needed", str(self.root / "other/libcuda.so.1"),
                               "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../other")
        self.expect(self.run_limen("run", "--route", "path", program), 1)
        self.expect(self.run_limen("run", program), 0)

    def test_runpath_needs_no_more_than_the_search_path(self):
        program = self.program("runpath", OPENER, f"-Wl,--enable-new-dtags,-rpath,{self.root}/other")
        self.expect(self.run_limen("run", "--route", "path", program), 0, out="4242\n")

    def test_absolute_path_is_redirected(self):
        path = f"{self.root}/other/libcuda.so.1"
        program = self.program("absolute", OPENER, f'-DNAME="{path}"')
        self.expect(self.run_limen("run", "--route", "preload", program), 0, out="666\n")
        self.expect(self.run_limen("run", program), 0, out="4242\n")
        # A path that only the arguments name cannot be seen beforehand: the user asks for it.
        self.expect(self.run_limen("run", "--route", "audit", self.opener, path), 0, out="4242\n")
        self.expect(self.run_limen("run", "--route=audit", self.opener, "/nowhere/libcuda.so"), 0,
                    out="4242\n")

    def test_env_lists_the_variables(self):
        done = self.run_limen("env", env={"LIMEN_THREADS": "7"})
        self.expect(done, 0)
        row = [l for l in done.stdout.splitlines() if l.startswith("LIMEN_THREADS=")]
        self.assertEqual(len(row), 1, done.stdout)
        self.assertIn("7", row[0])
        # What `run` sets must be a variable that the driver knows.
        for option in self.run_limen("help", "run").stdout.splitlines():
            name = re.search(r"\[(LIMEN_\w+)\]$", option)
            if name:
                self.assertRegex(done.stdout, rf"(?m)^{name.group(1)}\b")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limen", required=True)
    parser.add_argument("--audit", required=True)
    parser.add_argument("--cc", default="cc")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
