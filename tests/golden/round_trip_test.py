"""Records some families on this machine's driver and replays them: the same code must agree, also lane
by lane and with uniform operands, and kernels that do nothing must not.

Usage: round_trip_test.py <limen-test>
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FAMILIES = ["half", "logic"]
TOOL = sys.argv.pop(1)


def run(*words, **variables):
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, env={**os.environ, **variables})
    return done.returncode, done.stdout + done.stderr


class RoundTrip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        code, text = run("record", "--out", cls.folder.name, *FAMILIES)
        assert code == 0, text
        cls.goldens = [str(Path(cls.folder.name, f + ".golden")) for f in FAMILIES]

    def test_the_same_device_agrees(self):
        code, text = run("replay", *self.goldens)
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count(" 0 wrong"), len(FAMILIES), text)

    def test_lane_code_agrees(self):
        code, text = run("replay", "--strategy", "lane", *self.goldens)
        self.assertEqual(code, 0, text)

    def test_uniform_operands_agree(self):
        code, text = run("replay", "--block", "1", *self.goldens)
        self.assertEqual(code, 0, text)

    def test_a_device_that_computes_nothing_fails(self):
        code, text = run("replay", *self.goldens, LIMEN_NOOP_KERNELS="1")
        self.assertEqual(code, 1, text)
        self.assertIn("WRONG: ", text)

    def test_a_damaged_golden_is_refused(self):
        path = Path(self.folder.name, "damaged.golden")
        path.write_bytes(Path(self.goldens[0]).read_bytes()[:-100])
        code, text = run("replay", str(path))
        self.assertEqual(code, 1, text)
        self.assertIn("is damaged", text)


if __name__ == "__main__":
    unittest.main()
