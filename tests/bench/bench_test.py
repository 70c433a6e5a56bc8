"""Tests what bench/ reckons and draws: means, shares of the roofline, the plot, kernels.toml."""
import re
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import figures  # noqa: E402
import kernel_list  # noqa: E402
import page  # noqa: E402
import peers  # noqa: E402
import plot  # noqa: E402
import run  # noqa: E402

LIMITS = {"threads": 2, "read_gbs": 20.0, "write_gbs": 10.0, "triad_gbs": 16.0,
          "f32_gflops": 100.0, "f64_gflops": 50.0}


def kernel(**row):
    return kernel_list.Kernel(**{"name": "some", "kind": "streaming", "bytes": 0, "flops": 0, **row})


def row(limen=None, best=None, over_opencl=None, opencl=None):
    ratios = {"limen": limen, "opencl": opencl, "openmp": 1.0}
    return {"medians": {"limen": 3.0, "openmp": 2.0}, "to_best": best, "over_opencl": over_opencl,
            "ratios": {k: v for k, v in ratios.items() if v}, "wrong": {}, "cold": {"limen": 9.0}}


class Figures(unittest.TestCase):
    def test_geometric_mean(self):
        self.assertAlmostEqual(figures.geometric_mean([0.5, 2.0]), 1.0)
        self.assertAlmostEqual(figures.geometric_mean(iter([1.0, 10.0, 100.0])), 10.0)
        self.assertIsNone(figures.geometric_mean([]))
        with self.assertRaises(ValueError):
            figures.geometric_mean([1.0, 0.0])

    def test_a_ratio_is_taken_within_a_repetition(self):
        # The second repetition met a slow spell: both peers took ten times as long.
        times = {"limen": [2.0, 20.0, 2.2], "openmp": [1.0, 10.0, 1.0]}
        self.assertAlmostEqual(figures.ratio(times, "limen", "openmp"), 2.0)
        with self.assertRaises(ValueError):
            figures.ratio({"limen": [1.0], "openmp": [1.0, 2.0]}, "limen", "openmp")

    def test_the_best_native_peer_is_never_opencl_or_limen(self):
        medians = {"limen": 1.0, "opencl": 1.0, "openmp": 4.0, "openmp_fast": 3.0, "openmp_clang": 2.0}
        self.assertEqual(figures.best_native(medians), "openmp_clang")
        self.assertEqual(figures.best_native({"limen": 1.0, "openmp": 4.0}), "openmp")
        self.assertIsNone(figures.best_native({"limen": 1.0}))

    def test_roofline_share_by_bandwidth(self):
        # 40 MB at 20 GB/s, the greatest of the three, take 2 ms.
        self.assertAlmostEqual(figures.roofline_ms(kernel(bytes=40_000_000), LIMITS), 2.0)
        self.assertAlmostEqual(figures.roofline_share(kernel(bytes=40_000_000), LIMITS, 8.0), 0.25)

    def test_roofline_share_by_operations_of_either_precision(self):
        many = {"bytes": 40_000_000, "flops": 1_000_000_000}
        self.assertAlmostEqual(figures.roofline_ms(kernel(**many), LIMITS), 10.0)
        self.assertAlmostEqual(figures.roofline_ms(kernel(**many, precision="f64"), LIMITS), 20.0)

    def test_means_skip_what_has_no_number(self):
        rows = {"a": row(limen=0.5, best=1.0, over_opencl=4.0), "b": row(limen=2.0, best=4.0), "c": row()}
        mean = figures.means(rows)
        self.assertAlmostEqual(mean["openmp"], 1.0)
        self.assertAlmostEqual(mean["best"], 2.0)
        self.assertAlmostEqual(mean["over_opencl"], 4.0)


class KernelList(unittest.TestCase):
    def test_the_file_names_the_programs_that_are_there(self):
        names = set(kernel_list.all_kernels())
        programs = {path.stem for path in (ROOT / "bench/kernels").glob("*.cpp")}
        self.assertEqual(names, programs)

    def test_defaults_and_order(self):
        kernels = kernel_list.read_kernels(
            '[b]\nkind = "x"\nbytes = 1\nflops = 0\n'
            '[a]\nkind = "y"\nbytes = 0\nflops = 2\nprecision = "f64"\ntolerance = 0.0\nodd_share = 0.1\n')
        self.assertEqual(list(kernels), ["b", "a"])
        self.assertEqual((kernels["b"].tolerance, kernels["b"].odd_share, kernels["b"].precision),
                         (1e-3, 0.0, "f32"))
        self.assertEqual((kernels["a"].tolerance, kernels["a"].odd_share, kernels["a"].precision),
                         (0.0, 0.1, "f64"))

    def test_what_cannot_be_is_refused(self):
        good = 'kind = "x"\nbytes = 1\nflops = 0\n'
        for text, words in (("[a]\n" + good + "byte = 2\n", "unknown key 'byte'"),
                            ('[a]\nkind = "x"\nbytes = 1\n', "'flops' is missing"),
                            ('[a]\nkind = "x"\nbytes = 0\nflops = 0\n', "bytes 0 and flops 0"),
                            ("[a]\n" + good + 'precision = "f16"\n', "precision 'f16'"),
                            ("a = 1\n", "'a' is no table")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, re.escape(words)):
                kernel_list.read_kernels(text)


class Comparison(unittest.TestCase):
    """What counts as the same result; vector_add allows 1e-3 of a value, histogram nothing."""

    def result(self, *samples, size=None):
        return {"count": len(samples), "samples": list(samples),
                "size": sum(map(abs, samples)) if size is None else size}

    def test_within_and_beyond_the_tolerance(self):
        wanted = self.result(1.0, 2.0, 3.0)
        self.assertIsNone(run.compare("vector_add", wanted, self.result(1.0005, 2.0, 3.0)))
        self.assertIn("sample 0", run.compare("vector_add", wanted, self.result(1.1, 2.0, 3.0)))
        self.assertIn("sample 2", run.compare("histogram", wanted, self.result(1.0, 2.0, 3.0001)))
        self.assertIn("sample 1",
                      run.compare("vector_add", wanted, self.result(1.0, float("nan"), 3.0, size=6.0)))

    def test_what_the_samples_do_not_show(self):
        wanted = self.result(1.0, 2.0)
        self.assertIn("sizes", run.compare("vector_add", wanted, self.result(1.0, 2.0, size=4.0)))
        self.assertIn("3 values", run.compare("vector_add", wanted, self.result(1.0, 2.0, 3.0)))
        self.assertIn("missing", run.compare("vector_add", None, wanted))

    def test_odd_points_where_a_rounding_decides(self):
        wanted = self.result(*[100.0] * 40)
        one, three = [101.0] + [100.0] * 39, [130.0] * 3 + [100.0] * 37
        self.assertIsNone(run.compare("mandelbrot", wanted, self.result(*one, size=4000.0)))
        self.assertIn("differs", run.compare("mandelbrot", wanted, self.result(*three, size=4000.0)))


class Plot(unittest.TestCase):
    SVG = "{http://www.w3.org/2000/svg}"

    def draw(self, *series, names=("one", "two")):
        return ElementTree.fromstring(plot.ratio_plot("a < b & c", list(series), list(names)))

    def test_axis_covers_all_values_and_one(self):
        self.assertEqual(plot.axis([0.3, 1.5]), [0.2, 0.5, 1, 2])
        self.assertEqual(plot.axis([3.0, 40.0]), [1, 2, 5, 10, 20, 50])
        self.assertEqual(plot.axis([]), [0.5, 1, 2])

    def test_axis_is_logarithmic(self):
        ticks = plot.axis([0.1, 10.0])
        middle = (plot.place(0.1, ticks) + plot.place(10.0, ticks)) / 2
        self.assertAlmostEqual(plot.place(1.0, ticks), middle)
        self.assertEqual(plot.place(1e9, ticks), plot.LEFT + plot.WIDTH)

    def test_marks_lie_at_their_values(self):
        svg = self.draw(("ours", {"one": 0.5, "two": 4.0}), ("others", {"two": 2.0}))
        ticks = plot.axis([0.5, 4.0, 2.0])
        titles = {mark.find(self.SVG + "title").text: mark for mark in svg
                  if mark.find(self.SVG + "title") is not None}
        mark = titles["two: ours 4.00"]
        self.assertEqual(mark.tag, self.SVG + "circle")
        self.assertAlmostEqual(float(mark.get("cx")), plot.place(4.0, ticks), delta=0.06)
        self.assertEqual(int(mark.get("cy")), plot.TOP + plot.ROW + plot.ROW // 2)
        self.assertIn("two: others 2.00", titles)
        self.assertNotIn("one: others", " ".join(titles))

    def test_it_reads_in_light_and_dark(self):
        svg = self.draw(("ours", {"one": 1.0}))
        style = svg.find(self.SVG + "style").text
        self.assertIn("prefers-color-scheme: dark", style)
        classes = {piece for node in svg.iter() for piece in (node.get("class") or "").split()}
        for name in classes:
            self.assertIn(f".{name} ", style, f"class {name} has no style")

    def test_words_are_escaped(self):
        texts = [node.text for node in self.draw(("ours", {})).iter(self.SVG + "text")]
        self.assertIn("a < b & c", texts)


class Page(unittest.TestCase):
    def test_slow_kernels_carry_their_reason(self):
        kernels = {"a": kernel(reason="its gather"), "b": kernel(), "c": kernel(reason="unused")}
        rows = {"a": row(limen=2.5, best=2.5), "b": row(limen=3.0, best=3.0), "c": row(limen=1.9)}
        lines = page.summary(rows, kernels)
        self.assertEqual(lines[-2:], ["- b, 3.00: not explained yet.", "- a, 2.50: its gather."])
        self.assertIn("over 3 kernels: Limen takes 2.42 times", lines[0])

    def test_table_has_the_share_and_dashes_for_what_is_missing(self):
        kernels = {"a": kernel(bytes=30_000_000)}
        head, rule, cells = page.table({"a": row(limen=1.5)}, kernels, ["limen", "openmp", "opencl"],
                                       LIMITS)
        self.assertEqual(head.count("|"), rule.count("|"))
        self.assertEqual(cells, "| a | streaming | 3.00 | 2.00 | - | 1.50 | - | - | 50% | 9 |")


class Environment(unittest.TestCase):
    NAMES = ("OMP_NUM_THREADS", "LIMEN_THREADS", "POCL_MAX_PTHREAD_COUNT")

    def test_one_number_of_threads_for_every_peer(self):
        self.assertEqual([peers.environment(1)[name] for name in self.NAMES], ["1"] * 3)

    def test_else_nothing_is_set(self):
        before = {name: value for name, value in peers.os.environ.items() if name in self.NAMES}
        after = {name: value for name, value in peers.environment(0).items() if name in self.NAMES}
        self.assertEqual(before, after)


class Clang(unittest.TestCase):
    """An older libomp gets what it lacks, a newer one does not."""

    def command(self, found):
        with unittest.mock.patch.object(peers, "find_libomp", return_value=found):
            return [str(word) for word in peers.build_command("openmp_clang", "a.cpp", "a")]

    def test_older_newer_and_unknown_libomp(self):
        older = self.command((14, "/usr/lib/llvm-14/lib"))
        self.assertIn("-L/usr/lib/llvm-14/lib", older)
        self.assertIn(str(ROOT / "bench/libomp_older.cpp"), older)
        newer = self.command((19, "/usr/lib/llvm-19/lib"))
        self.assertIn("-L/usr/lib/llvm-19/lib", newer)
        self.assertNotIn(str(ROOT / "bench/libomp_older.cpp"), newer)
        self.assertEqual(self.command(None)[-3:], ["-o", "a", "a.cpp"])


if __name__ == "__main__":
    sys.exit(unittest.main())
