"""LIMEN_TARGET: code of every level that this processor has computes what a GPU recorded, code of
another level is refused by name and never run, and the disk cache keeps them apart.

Usage: target_test.py <limen-test> <a .golden file> <known.txt>
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL, GOLDEN, KNOWN = sys.argv[1:4]
del sys.argv[1:4]
# What each level adds, as Linux lists it.
LEVELS = {
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def levels_here():
    flags = set(re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M).group(1).split())
    found, needed = [], set()
    for level, more in LEVELS.items():
        needed |= more
        if needed <= flags:
            found.append(level)
    return found


class Target(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def replay(self, target, **more):
        variables = {"LIMEN_TARGET": target, "LIMEN_CACHE_DIR": self.folder / "cache", **more}
        done = subprocess.run([TOOL, "replay", "--known", KNOWN, GOLDEN], capture_output=True, text=True,
                              env={**os.environ, **{k: str(v) for k, v in variables.items()}})
        return done.returncode, done.stdout + done.stderr

    def cached(self):
        return len(list(self.folder.glob("cache/*/*.kernel")))

    def test_levels_of_this_processor_compute_and_are_cached_apart(self):
        entries = []
        for level in ["host", *levels_here()]:
            code, text = self.replay(level)
            self.assertEqual(code, 0, f"{level}: {text}")
            entries.append(self.cached())
        self.assertGreater(entries[0], 0)
        self.assertEqual(entries, [entries[0] * (i + 1) for i in range(len(entries))])

    def test_a_level_that_this_processor_lacks_is_refused_by_name(self):
        lacking = [level for level in LEVELS if level not in levels_here()]
        if not lacking:
            self.skipTest("this processor has every level")
        for level in lacking:
            dumped = self.folder / level
            dumped.mkdir()
            code, text = self.replay(level, LIMEN_DUMP_DIR=dumped)
            self.assertNotEqual(code, 0, text)
            self.assertIn(f"compiled for {level}, whose instructions this processor lacks", text)
            self.assertEqual(self.cached(), 0)
            self.assertTrue(list(dumped.glob("*.o")), "nothing to read was written")

    def test_an_unknown_target_is_reported_and_ignored(self):
        code, text = self.replay("x86-64-v9")
        self.assertEqual(code, 0, text)
        self.assertIn("LIMEN_TARGET", text)


if __name__ == "__main__":
    sys.exit(unittest.main())
