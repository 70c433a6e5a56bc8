"""Compares what we accept with what ptxas 13 accepts, over instructions generated from spec/ptx.

For each form: texts of the form (each word of each set at least once), and texts with one word
dropped, added or exchanged and registers of another type. ptxas is asked in batches: lines that it
names are taken out until the rest assembles. Two lists come out: what we accept and ptxas refuses,
and, worse, what ptxas accepts and we refuse. Known differences are in ptxas_known.toml with reasons;
any other difference fails.

Usage: ptxas_test.py <ptx_check> [op ...]. Exit code 77 where ptxas is absent.
"""
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "gen"))
import ptx_model  # noqa: E402

TARGET = "sm_120"
REGISTERS = {"pred": "%p", "b8": "%c", "b16": "%h", "b32": "%b", "b64": "%bd", "b128": "%q",
             "u8": "%uc", "u16": "%us", "u32": "%u", "u64": "%ud", "s8": "%sc", "s16": "%ss",
             "s32": "%s", "s64": "%sd", "f16": "%x", "f32": "%f", "f64": "%d"}
BITS = {1: "%c", 2: "%h", 4: "%b", 8: "%bd", 16: "%q"}
HEADER = f""".version 9.0
.target {TARGET}
.address_size 64
.global .align 16 .b8 g[64];
.visible .entry k(.param .u64 p)
{{
""" + "".join(f".reg .{t} {r}<9>;\n" for t, r in REGISTERS.items()) + """\
.shared .align 16 .b8 sh[64];
.local .align 16 .b8 lo[64];
"""
# Video selectors by what the row says and whether the operand is the destination, wrong ones among them.
SELECTORS = {("part", False): ["b0", "b1", "b2", "b3", "h0", "h1", "b4", "h2", "b10"],
             ("part", True): ["b0", "b1", "b2", "b3", "h0", "h1", "h10"],
             ("halves", False): ["h10", "h01", "h33", "h20", "h1", "b10"],
             ("halves", True): ["h0", "h1", "h10", "h01", "h2", "b0"],
             ("bytes", False): ["b3210", "b7777", "b0123", "b5140", "b321", "h10"],
             ("bytes", True): ["b0", "b10", "b310", "b3210", "b32", "b01", "b33", "b4", "h0"]}
# Words that change a shape or have ranges of their own.
CONSTANTS = {"size": "16", "n": "0", "lut": "31", "a": "7", "f": "0"}


class Generator:
    def __init__(self, model):
        self.model = model
        self.random = random.Random()

    def begin(self, form):
        """Seeds by the form, so that an edit of another row changes nothing here."""
        self.random.seed(form.ptx + str(form.slots))

    def register(self, type_name, operand, number):
        row = self.model.types[type_name]
        if operand.double:
            names = {2: {"unsigned": "u32", "signed": "s32"}, 4: {"unsigned": "u64", "signed": "s64"}}
            return f"{REGISTERS[names[row['bytes']][row['kind']]]}{number}"
        if type_name in REGISTERS:
            return f"{REGISTERS[type_name]}{number}"
        return f"{BITS[row['bytes']]}{number}"

    def operand(self, form, operand, types, words, number):
        if operand.kind == "address":
            if words & {"param", "param::entry"}:
                return "[p]"
            if words & {"const"}:
                return "[%ud7]"
            return "[%ud7]"
        if operand.kind == "imm":
            if form.row.name in ("discard", "applypriority", "fence", "tensormap"):
                return "128"
            return CONSTANTS.get(operand.name, "16")
        if operand.kind == "pointer":
            return "%ud6"
        if operand.kind == "any":
            return "%b6"
        type_name = operand.type_name or types[operand.type_slot if operand.type_slot >= 0 else 0]
        text = self.register(type_name, operand, number)
        if operand.vector and (count := self.vector(words)) > 1:
            text = "{" + ", ".join(self.register(type_name, operand, i) for i in range(count)) + "}"
        if operand.count:
            text = "{" + ", ".join(self.register(type_name, operand, i)
                                   for i in range(operand.count)) + "}"
        if operand.pair == 2:
            text += "|%p8"
        if operand.selector and self.random.random() < 0.6:
            text += "." + self.random.choice(SELECTORS[operand.selector, operand.dest])
        if operand.minus and self.random.random() < 0.3:
            text = "-" + text
        return text

    @staticmethod
    def vector(words):
        return next((int(w[1]) for w in ("v2", "v4", "v8") if w in words), 1)

    def text(self, form, picks, optional_operands):
        """The instruction with the words `picks` (one tuple or None for each slot)."""
        chosen = [p for p in picks if p]
        opcode = form.row.name + "".join(f".{name}" for _, name in chosen)
        types = [name for kind, name in chosen if kind == "type"]
        words = {name for kind, name in chosen if kind == "tok"}
        operands = [self.operand(form, o, types, words, n + 1) for n, o in enumerate(form.operands)
                    if self.present(form, o, picks, optional_operands)]
        return f"{opcode} {', '.join(operands)};"

    @staticmethod
    def present(form, operand, picks, optional_operands):
        if operand.present_slot >= 0:
            return picks[operand.present_slot] is not None
        return optional_operands or not operand.optional

    def texts(self, form):
        """Each word of each slot at least once, with the optional ones absent, present, at random."""
        longest = max((len(s.tokens) for s in form.slots), default=1)
        optional = any(o.optional for o in form.operands)
        seen = set()
        for n in range(max(longest, 2) * 2):
            picks = []
            for slot in form.slots:
                present = not slot.optional or n % 2 == 1 and self.random.random() < 0.6
                picks.append(slot.tokens[(n // 2 if n < longest * 2 else self.random.randrange(99))
                                         % len(slot.tokens)] if present else None)
            seen.add(self.text(form, picks, optional and n % 3 == 0))
        return sorted(seen)

    def mutants(self, text):
        """Neighbours of a legal text: a word less, twice, another type; a register of another type."""
        head, _, tail = text.partition(" ")
        parts = head.split(".")
        out = []
        if len(parts) > 1:
            at = self.random.randrange(1, len(parts))
            out.append(".".join(parts[:at] + parts[at + 1:]) + " " + tail)
            other = self.random.choice(["u32", "s32", "b32", "f32", "f64", "u64", "b16", "s16", "f16",
                                        "ftz", "sat", "rn", "rz", "wide", "lo", "hi", "relu", "rni"])
            out.append(".".join(parts[:at] + [other] + parts[at + 1:]) + " " + tail)
            out.append(".".join(parts[:at] + [other] + parts[at:]) + " " + tail)
        registers = re.findall(r"%[a-z]+\d", tail)
        if registers:
            old = self.random.choice(registers)
            new = self.random.choice(list(REGISTERS.values())) + "5"
            out.append(head + " " + tail.replace(old, new, 1))
        return out


def ask_ptxas(lines, folder):
    """The set of indices ptxas refuses."""
    refused = set()
    source, target = Path(folder) / "a.ptx", Path(folder) / "a.cubin"
    first = HEADER.count("\n") + 1
    while True:
        body = "\n".join("" if i in refused else line for i, line in enumerate(lines))
        source.write_text(HEADER + body + "\nret;\n}\n")
        done = subprocess.run(["ptxas", "-arch=" + TARGET, "-O0", str(source), "-o", str(target)],
                              capture_output=True, text=True)
        # Lines of ptxas' own text (what it makes of mma m8n8k4, say) are not ours.
        named = {int(n) - first for n in re.findall(r"(?<!<builtin>), line (\d+); (?:error|fatal)",
                                                    done.stdout + done.stderr)}
        named = {n for n in named if 0 <= n < len(lines)} - refused
        if done.returncode == 0:
            return refused
        if not named:
            if len(lines) - len(refused) <= 1:
                return set(range(len(lines)))
            # ptxas stopped without a line (or crashed): halve until the culprit is alone.
            left = [i for i in range(len(lines)) if i not in refused]
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                refused |= {part[i] for i in ask_ptxas([lines[i] for i in part], folder)}
            return refused
        refused |= named


def ask_us(tool, lines, folder):
    """Each instruction in a kernel of its own, so that one error hides no other."""
    head, body = HEADER.split(".visible .entry k", 1)
    source = Path(folder) / "b.ptx"
    text = head
    first = {}
    for i, line in enumerate(lines):
        text += ".visible .entry k" + str(i) + body
        first[text.count("\n") + 1] = i
        text += line + "\nret;\n}\n"
    source.write_text(text)
    out = subprocess.run([tool, str(source)], capture_output=True, text=True).stdout
    refused = {}
    for match in re.finditer(r"^.*?: (line \d+.*) \(in k(\d+)\)$", out, re.M):
        refused[int(match[2])] = match[1]
    if out and not refused:
        raise SystemExit(f"ptx_check says {out}")
    return refused


def main(tool, ops):
    if not shutil.which("ptxas"):
        print("skipped: ptxas is not on the PATH")
        return 77
    model = ptx_model.load(ROOT / "spec" / "ptx")
    generator = Generator(model)
    lines = []
    for form in model.forms:
        if form.rest or form.state == "later" or form.row.cls in ("branch",) or form.suffix:
            continue
        if ops and form.row.name not in ops:
            continue
        generator.begin(form)
        legal = generator.texts(form)
        lines += legal
        for text in legal[:12]:
            lines += generator.mutants(text)
    lines = sorted(set(lines))
    with open(HERE / "ptxas_known.toml", "rb") as file:
        known = tomllib.load(file)
    we_accept, we_refuse = [], []
    with tempfile.TemporaryDirectory() as folder:
        ours = ask_us(tool, lines, folder)
        for at in range(0, len(lines), 400):
            batch = lines[at:at + 400]
            theirs = ask_ptxas(batch, folder)
            for i, line in enumerate(batch):
                if i in theirs and at + i not in ours:
                    we_accept.append(line)
                elif i not in theirs and at + i in ours:
                    we_refuse.append(f"{line}   # {ours[at + i]}")
    bad = 0
    for title, found, patterns in (("accepted, ptxas refuses", we_accept, known["accepted"]),
                                   ("REFUSED, ptxas accepts", we_refuse, known["refused"])):
        rest = [f for f in found if not any(re.search(p["pattern"], f) for p in patterns)]
        print(f"{title}: {len(found)}, of them not known: {len(rest)}")
        for line in rest[:200]:
            print("  " + line)
        bad += len(rest)
    print(f"{len(lines)} instructions compared")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
