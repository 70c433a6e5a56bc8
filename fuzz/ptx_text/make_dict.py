"""Writes a libFuzzer dictionary of PTX to stdout: every name of spec/ptx, and ptx.dict's phrases.

Usage: make_dict.py SPEC_FOLDER
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "gen"))
import ptx_model  # noqa: E402

model = ptx_model.load(sys.argv[1])
words = set(model.ops) | {"." + w for w in (*model.toks, *model.types)}
words |= {"%" + r for r in model.registers}
words |= {f"%{r}{n}" for r in ("p", "h", "r", "rd", "f", "d", "q") for n in (1, 2, 3)}
# One whole opcode of each form: getting five words right by chance takes long.
for form in model.forms:
    words.add(form.row.name + "".join("." + s.tokens[0][1] for s in form.slots if not s.optional))
print((HERE / "ptx.dict").read_text(), end="")
for word in sorted(words):
    print('"' + word.replace("\\", "\\\\") + '"')
