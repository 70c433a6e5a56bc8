"""What gen/model.py and the emitters must refuse or find."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "gen"))
import emit_cpu_table  # noqa: E402
import model  # noqa: E402

GOOD = {"name": "cuFoo", "args": ["p: int* out"], "symbols": ["cuFoo @2000"], "kind": "query",
        "source": "test"}


def parse(**changes):
    return model.parse_function({**GOOD, **changes}, Path("test.toml"))


class Rows(unittest.TestCase):
    def refused(self, **changes):
        with self.assertRaises(SystemExit):
            parse(**changes)

    def test_a_good_row(self):
        function = parse()
        self.assertEqual(function.args[0].decl, "int* p")
        self.assertEqual(function.symbols[0].since, 2000)

    def test_what_is_refused(self):
        self.refused(kind="other")
        self.refused(args=["p: int*"])
        self.refused(args=["s: CUstream"])
        self.refused(args=["int p"])
        self.refused(symbols=["cuFoo 2000"])
        self.refused(extra=1)
        old = {"args": [], "symbols": ["cuFoo_old @1000"]}
        self.refused(old=[{**old, "convert": "guess"}])
        self.refused(old=[{**old, "convert": "defaults: q=nullptr"}])

    def test_a_copy_gets_a_stream(self):
        self.assertEqual(parse(stream="implicit").table_args[-1].decl, "CUstream stream")

    def test_the_whole_surface(self):
        functions = model.load_functions()
        rows = {s.name for f in functions for s, _, _ in f.all_symbols()}
        listed = {line for line in (model.SPEC / "api/exports.txt").read_text().splitlines()
                  if line and not line.startswith("#")}
        self.assertEqual(rows, listed)


class Scan(unittest.TestCase):
    def test_definitions_are_found_declarations_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.cpp").write_text(
                "CUresult cuDeclared(int a);\n"
                "/// Says something.\n/// partial: no pitch\n///   above 2^31\n"
                "CUresult cuDefined(int a,\n                   int b) {\n}\n"
                "  CUresult cuIndented(int a) {\n}\n"
                "CUresult current(int a) {\n}\n"
                "CUcontext current_context() { return nullptr; }\n")
            found, internal = emit_cpu_table.scan(Path(folder))
        self.assertEqual(found, {"cuDefined": "no pitch above 2^31"})
        self.assertEqual(internal, {"current_context"})


if __name__ == "__main__":
    unittest.main()
