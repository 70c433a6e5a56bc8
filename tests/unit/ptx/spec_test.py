"""The generator's own checks: overlapping forms, unknown words and missing types are errors.

Usage: spec_test.py <gen folder> <spec/ptx>
"""
import itertools
import sys
import tempfile
import unittest
from pathlib import Path

GEN, SPEC = sys.argv[1], Path(sys.argv[2])
sys.path.insert(0, GEN)
import ptx_model  # noqa: E402


def load(rows):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("types.toml", "registers.toml"):
            (Path(folder) / name).write_text((SPEC / name).read_text())
        head = 'anchor = "x"\nclass = "lane"\n'
        (Path(folder) / "rows.toml").write_text(head + rows)
        return ptx_model.load(folder)


class Spec(unittest.TestCase):
    def refuse(self, rows, words):
        with self.assertRaises(ptx_model.SpecError) as caught:
            load(rows)
        self.assertIn(words, str(caught.exception))

    def test_the_tree_loads(self):
        model = ptx_model.load(SPEC)
        self.assertGreater(len(model.forms), 300)

    def test_overlap_is_an_error(self):
        # The manual's own notation: both accept add.s32.
        self.refuse('[[op]]\nname = "add"\nforms = [{ ptx = "add.type d, a", type = "u32 s32" },'
                    '{ ptx = "add{.sat}.s32 d, a" }]', "two forms accept one text")

    def test_order_of_modifiers_does_not_hide_an_overlap(self):
        self.refuse('[[op]]\nname = "f"\nforms = [{ ptx = "f.x.y.u32 d" }, { ptx = "f.y.x.u32 d" }]',
                    "two forms accept one text")

    def test_order_of_types_matters(self):
        load('[[op]]\nname = "f"\nforms = [{ ptx = "f.u32.s32 d:u32" }, { ptx = "f.s32.u32 d:u32" }]')

    def test_unknown_words(self):
        self.refuse('[[op]]\nname = "f"\nforms = [{ ptx = "f.u32 d:nonsense" }]', "unknown tag")
        self.refuse('[[op]]\nname = "f"\nforms = [{ ptx = "f.u32.s32 d" }]', "needs a type")
        self.refuse('[[op]]\nname = "f"\nfroms = []', "unknown keys")
        self.refuse('[[op]]\nname = "f"\nforms = [{ ptx = "f.u32 d", other = "a b" }]', "not used")
        self.refuse('[[op]]\nname = "f"\nclass = "odd"\nforms = []', "class 'odd'")
        self.refuse('[[op]]\nname = "f"\nforms = [{ ptx = "f.u32 d", target = "80" }]', "sm_NN")

    def test_disjointness_agrees_with_enumeration(self):
        """For forms with few texts, expand both sides and compare with overlap()."""
        model = ptx_model.load(SPEC)

        def texts(form):
            choices = [[(t,) for t in s.tokens] + ([()] if s.optional else []) for s in form.slots]
            total = 1
            for c in choices:
                total *= len(c)
            if total > 3000 or any(s.many for s in form.slots):
                return None
            found = set()
            for pick in itertools.product(*choices):
                flat = [t for part in pick for t in part]
                found.add((tuple(sorted(n for k, n in flat if k == "tok")),
                           tuple(n for k, n in flat if k == "type")))
            return found

        expanded = {}
        for form in model.forms:
            expanded.setdefault(form.row.name, []).append((form, texts(form)))
        for forms in expanded.values():
            for (a, ta), (b, tb) in itertools.combinations(forms, 2):
                if ta is not None and tb is not None:
                    self.assertFalse(ta & tb, f"{a.ptx} / {b.ptx}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
