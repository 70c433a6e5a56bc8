"""Compares what we accept with what ptxas 13 accepts, over PTX generated from spec/ptx.

Instructions: for each form, texts of the form (each word of each set at least once), and its
neighbours: words dropped, added, exchanged and reordered, registers of other types, operands of other
kinds, too few and too many, wrong state spaces, guards and literals. Declarations: variables of every
space, type, size and initialiser, registers and local variables, function directives (ptxas_texts.py).
ptxas is asked in batches, for two targets: lines that it names are taken out until the rest
assembles. Two lists come out: what we accept and ptxas refuses, and, worse, what ptxas accepts and we
refuse. Known differences are in ptxas_known.toml with reasons; any other difference fails.

Usage: ptxas_test.py [--cache FILE] [--share N] <ptx_check> [op ...]. FILE keeps ptxas' answers from run
to run; of N operations and declarations one is compared (CI: 4). Exit code 77 where ptxas is absent.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "gen"))
sys.path.insert(0, str(HERE))
import ptx_model  # noqa: E402
import ptxas_texts  # noqa: E402

TARGETS = {"sm_120": 1, "sm_90": 4}  # of so many texts one is asked
REGISTERS = {"pred": "%p", "b8": "%c", "b16": "%h", "b32": "%b", "b64": "%bd", "b128": "%q",
             "u8": "%uc", "u16": "%us", "u32": "%u", "u64": "%ud", "s8": "%sc", "s16": "%ss",
             "s32": "%s", "s64": "%sd", "f16": "%x", "f32": "%f", "f64": "%d"}
BITS = {1: "%c", 2: "%h", 4: "%b", 8: "%bd", 16: "%q"}
VARIABLES = """.global .align 16 .b8 g[64];
"""
DECLARED = """.shared .align 16 .b8 s0[8];
.entry k0() { ret; }
.func f0() { ret; }
.shared .align 16 .b8 sh[64];
"""


def head(target, declarations=""):
    return f".version 9.0\n.target {target}\n.address_size 64\n{VARIABLES}{declarations}"


BODY = """.visible .entry k(.param .u64 p)
{
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
            if form.row.name == "tensormap" and "replace" in words:
                return "0"
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


class Ptxas:
    """ptxas' answers, remembered in a file if one is given."""

    def __init__(self, folder, cache):
        self.source, self.target = Path(folder) / "a.ptx", Path(folder) / "a.cubin"
        self.cache = Path(cache) if cache else None
        self.known = {}
        if self.cache and self.cache.exists():
            self.known = json.loads(self.cache.read_text())
        self.runs = 0

    def save(self):
        if self.cache:
            self.cache.write_text(json.dumps(self.known))

    @staticmethod
    def key(frame, line):
        return hashlib.sha1(f"{frame}|{line}".encode()).hexdigest()[:20]

    def refuses(self, frame, lines, alone=False):
        """Which of the lines, numbered for `#`, are refused in `frame` (text before, text after)."""
        mark = "alone" if alone else ""
        keys = [self.key((mark, *frame), line) for line in lines]
        asked = [i for i, key in enumerate(keys) if key not in self.known]
        size = 1 if alone else 400
        for at in range(0, len(asked), size):
            batch = asked[at:at + size]
            refused = self.ask(frame, [lines[i].replace("#", str(i)) for i in batch])
            for n, i in enumerate(batch):
                self.known[keys[i]] = n in refused
            if at % 4000 == 0:
                self.save()
        return {i for i, key in enumerate(keys) if self.known[key]}

    def ask(self, frame, lines):
        refused = set()
        before, after = frame
        first = before.count("\n") + 1
        while True:
            body = "\n".join("" if i in refused else line for i, line in enumerate(lines))
            self.source.write_text(before + body + after)
            done = subprocess.run(["ptxas", "-arch=" + re.search(r"\.target (\w+)", before)[1], "-O0",
                                   str(self.source), "-o", str(self.target)],
                                  capture_output=True, text=True, errors="replace",
                                  preexec_fn=lambda: os.nice(10))
            self.runs += 1
            said = done.stdout + done.stderr
            if done.returncode == 0:
                return refused
            # Lines of ptxas' own text (what it makes of mma m8n8k4, say) are not ours.
            named = [int(n) - first for n in re.findall(r"(?<!<builtin>), line (\d+); (?:error|fatal)",
                                                        said)]
            named = [n for n in named if 0 <= n < len(lines) and n not in refused]
            # Behind a syntax error nothing it says can be relied on.
            syntax = [int(n) - first for n in re.findall(r", line (\d+);.*Parsing error", said)]
            if syntax:
                named = [n for n in named if n <= min(syntax)]
            if named:
                refused |= set(named)
                continue
            left = [i for i in range(len(lines)) if i not in refused]
            if len(left) <= 1:
                return refused | set(left)
            # ptxas stopped without a line (or crashed): halve until the culprit is alone.
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                refused |= {part[i] for i in self.ask(frame, [lines[i] for i in part])}
            return refused


def ask_us(tool, files, folder):
    """What ptx_check says of each text: its index to the message."""
    paths = []
    for i, text in enumerate(files):
        paths.append(str(Path(folder) / f"{i}.ptx"))
        Path(paths[-1]).write_text(text)
    said = {}
    for at in range(0, len(paths), 500):
        out = subprocess.run([tool, *paths[at:at + 500]], capture_output=True, text=True).stdout
        for line in out.splitlines():
            path, _, what = line.partition(": ")
            said.setdefault(int(Path(path).stem), what)
    return said


def ask_us_bodies(tool, target, lines, folder):
    """Each instruction in a kernel of its own, so that one error hides no other."""
    body = BODY.partition(".entry k")[2]
    source = Path(folder) / "b.ptx"
    text = head(target)
    for i, line in enumerate(lines):
        text += f".visible .entry k{i}{body}{line}\nret;\n}}\n"
    source.write_text(text)
    out = subprocess.run([tool, str(source)], capture_output=True, text=True).stdout
    refused = {}
    for match in re.finditer(r"^.*?: (line \d+.*) \(in k(\d+)\)$", out, re.M):
        refused[int(match[2])] = match[1]
    if out and not refused:
        raise SystemExit(f"ptx_check says {out[:2000]}")
    return refused


def drawn(text, share):
    """Is it one of the texts that are taken where of `share` one is?"""
    return zlib.crc32(text.encode()) % share == 0


def instructions(model, ops, share):
    generator = Generator(model)
    words = {}
    for form in model.forms:
        words.setdefault(form.row.name, set()).update(
            name for slot in form.slots for _, name in slot.tokens)
    neighbours = ptxas_texts.Neighbours({op: sorted(names) for op, names in words.items()})
    lines = set()
    for form in model.forms:
        if form.rest or form.state == "later" or form.row.cls in ("branch",) or form.suffix:
            continue
        if ops and form.row.name not in ops or not drawn(form.row.name, share):
            continue
        generator.begin(form)
        legal = generator.texts(form)
        lines.update(legal)
        for text in legal[:12]:
            lines.update(generator.mutants(text))
        for text in legal[:8]:
            lines.update(neighbours._of(text, 4))
    return sorted(lines)


def words_of(line):
    """The opcode's words without their order, and the operands."""
    head, _, tail = line.partition(" ")
    root, *words = head.split(".")
    return root, tuple(sorted(words)), tail


class Comparison:
    """Differences, and those that are explained without a pattern: words in another order (we take
    any; ptxas asks for that of the manual in some instructions), words twice (which ptxas ignores)."""

    def __init__(self):
        self.we_accept, self.we_refuse, self.texts = [], [], 0
        self.order = self.twice = 0

    def add(self, ptxas, frame, lines, ours):
        theirs = ptxas.refuses(frame, lines)
        # What ptxas says of a line among others may come from another: asked again alone.
        doubtful = [i for i in theirs if i not in ours]
        confirmed = ptxas.refuses(frame, [lines[i] for i in doubtful], alone=True)
        they_take = {words_of(line) for i, line in enumerate(lines) if i not in theirs}
        we_take = {words_of(line) for i, line in enumerate(lines) if i not in ours}
        for line in (lines[i] for n, i in enumerate(doubtful) if n in confirmed):
            if words_of(line) in they_take:
                self.order += 1
            else:
                self.we_accept.append(line)
        for i in sorted(i for i in ours if i not in theirs):
            root, words, tail = words_of(lines[i])
            once = (root, tuple(sorted(set(words))), tail)
            if len(once[1]) < len(words) and once in we_take:
                self.twice += 1
            else:
                self.we_refuse.append(f"{lines[i]}   # {ours[i]}")
        self.texts += len(lines)


def report(comparison, known):
    bad = 0
    for title, found, patterns in (("accepted, ptxas refuses", comparison.we_accept, known["accepted"]),
                                   ("REFUSED, ptxas accepts", comparison.we_refuse, known["refused"])):
        bare = [re.sub(r"^@ ?! ?%\w+ |^@ ?%\w+ ", "", f) for f in found]
        rest = [f for f, text in zip(found, bare)
                if not any(re.search(p["pattern"], text) for p in patterns)]
        print(f"{title}: {len(found)}, of them not known: {len(rest)}")
        for line in rest[:400]:
            print("  " + line)
        bad += len(rest)
    print(f"{comparison.texts} texts compared; {comparison.order} differ in the order of words only, "
          f"{comparison.twice} by words that stand twice")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("tool")
    parser.add_argument("ops", nargs="*")
    arguments = parser.parse_args()
    if not shutil.which("ptxas"):
        print("skipped: ptxas is not on the PATH")
        return 77
    model = ptx_model.load(ROOT / "spec" / "ptx")
    bodies = instructions(model, arguments.ops, arguments.share)
    modules = []
    if not arguments.ops:
        modules = ptxas_texts.declarations(2000)
        bodies += ptxas_texts.body_declarations(700)
    with open(HERE / "ptxas_known.toml", "rb") as file:
        known = tomllib.load(file)
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as folder:
        ptxas = Ptxas(folder, arguments.cache)
        for target, share in TARGETS.items():
            chosen = [t for t in bodies if drawn(t, share)]
            comparison.add(ptxas, (head(target) + BODY, "\nret;\n}\n"), chosen,
                           ask_us_bodies(arguments.tool, target, chosen, folder))
            chosen = [t for t in modules if drawn(t, share * arguments.share)]
            text = head(target, DECLARED)
            comparison.add(ptxas, (text, "\n"), chosen,
                           ask_us(arguments.tool, [text + t.replace("#", "1") + "\n" for t in chosen],
                                  folder))
        ptxas.save()
    return 1 if report(comparison, known) else 0


if __name__ == "__main__":
    sys.exit(main())
