"""What is wrong with the configuration is told once a process, though each library reads it.

usage: told_once_test.py --lib FOLDER
"""
import argparse
import os
import subprocess
import sys
import unittest

# libcuda.so.1 opens the CPU driver in cuInit; the front for NVRTC is a library of its own.
PROGRAM = """
import ctypes
for library, call in (("libcuda.so.1", "cuInit"), ("libnvrtc.so.13", "nvrtcGetErrorString")):
    try:
        getattr(ctypes.CDLL(library), call)(0)
    except OSError:
        assert library != "libcuda.so.1"
"""


class ToldOnce(unittest.TestCase):
    lib = ""

    def run_program(self, **variables):
        env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": self.lib, **variables}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, text=True, check=False,
                              stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_each_fault_is_told_once(self):
        text = self.run_program(LIMEN_THREADS="many", LIMEN_NO_SUCH_THING="1")
        self.assertEqual(text.count("LIMEN_THREADS=many"), 1, text)
        self.assertEqual(text.count("LIMEN_NO_SUCH_THING"), 1, text)

    def test_so_is_a_log_that_cannot_be(self):
        text = self.run_program(LIMEN_LOG="loud")
        self.assertEqual(text.count("LIMEN_LOG=loud"), 1, text)
        text = self.run_program(LIMEN_LOG="error:/nowhere/log")
        self.assertEqual(text.count("cannot open /nowhere/log"), 1, text)

    def test_nothing_wrong_is_silence(self):
        self.assertEqual(self.run_program(LIMEN_THREADS="2"), "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    args, rest = parser.parse_known_args()
    ToldOnce.lib = args.lib
    unittest.main(argv=[sys.argv[0], *rest])
