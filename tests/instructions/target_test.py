"""LIMEN_TARGET: code of every level that this processor has computes the same, code of another level
is refused by name and never run, and the disk cache keeps them apart.

Usage: target_test.py <limen-test>
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import form_kernels
import golden_cases

TOOL = sys.argv.pop(1)
FAMILY = "logic"
# What each level adds, as Linux lists it.
LEVELS = {
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "sapphirerapids": {"avx512_fp16"},
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
    @classmethod
    def setUpClass(cls):
        """A case of each form of the family, with what this processor's own code answers."""
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.kernels, cls.golden = Path(made.name), Path(made.name, FAMILY + ".golden")
        cases = [case for family, _, case in form_kernels.chosen_cases() if family == FAMILY]
        text = golden_cases.module_text(FAMILY, golden_cases.group(cases, FAMILY))
        Path(cls.kernels, FAMILY + ".ptx").write_text(text)
        cls.cases = len(cases)
        code, text = cls.run_tool("record", "--out", cls.kernels, FAMILY, LIMEN_CACHE_SIZE=0)
        assert code == 0, text

    @classmethod
    def run_tool(cls, verb, *words, **variables):
        command = [str(word) for word in (TOOL, verb, "--kernels", cls.kernels, *words)]
        done = subprocess.run(command, capture_output=True, text=True,
                              env={**os.environ, **{k: str(v) for k, v in variables.items()}})
        return done.returncode, done.stdout + done.stderr

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def replay(self, target, **more):
        return self.run_tool("replay", self.golden, LIMEN_TARGET=target,
                             LIMEN_CACHE_DIR=self.folder / "cache", **more)

    def check_all_agree(self, answer):
        code, text = answer
        self.assertEqual(code, 0, text)
        self.assertIn(f"{self.cases} exact and 0 bounded", text)
        self.assertIn(": 0 wrong, 0 known to be wrong, 0 refused", text)

    def cached(self):
        return len(list(self.folder.glob("cache/*/*.kernel")))

    def test_levels_of_this_processor_compute_and_are_cached_apart(self):
        entries = []
        for level in ["host", *levels_here()]:
            self.check_all_agree(self.replay(level))
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
            for more in ({}, {"LIMEN_DUMP_DIR": dumped}):
                _, text = self.replay(level, **more)
                self.assertIn(f"is asked for {level}, whose instructions this processor lacks", text)
                self.assertIn(f" {self.cases} refused", text)
            self.assertEqual(self.cached(), 0)
            self.assertTrue(list(dumped.glob("*.o")), "nothing to read was written")

    def test_halves_are_compared_as_floats(self):
        """LLVM 19 takes masked compares of halves for each other (llvm_faults.h)."""
        case = ("d", "b32"), ("a", "f16x2"), ("b", "f16x2"), ("c", "pred")
        cases = [golden_cases.Case(f"set.{order}.and.f16x2.f16x2 d, a, b, c", case[:1], case[1:])
                 for order in ("gtu", "ltu")]
        text = golden_cases.module_text("compare", golden_cases.group(cases, "compare"))
        Path(self.folder, "compare.ptx").write_text(text)
        subprocess.run([TOOL, "record", "--kernels", self.folder, "--out", self.folder, "compare"],
                       env={**os.environ, "LIMEN_TARGET": "sapphirerapids",
                            "LIMEN_DUMP_DIR": str(self.folder)}, capture_output=True)
        listings = "".join(subprocess.run(["objdump", "-d", path], capture_output=True, text=True,
                                          check=True).stdout for path in self.folder.glob("*.o"))
        self.assertRegex(listings, r"vcvtph2ps")
        self.assertRegex(listings, r"vcmp\w*ps")
        self.assertNotRegex(listings, r"vcmp\w*ph")

    def test_an_unknown_target_is_reported_and_ignored(self):
        code, text = self.replay("x86-64-v9")
        self.check_all_agree((code, text))
        self.assertIn("LIMEN_TARGET", text)


if __name__ == "__main__":
    sys.exit(unittest.main())
