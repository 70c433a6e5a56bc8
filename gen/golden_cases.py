"""Writes the kernels of the golden tests, one PTX module a family of spec/ptx, into a folder.

Every per-lane form that sm_90 can run becomes cases: the form with each choice of types and modifiers
(all of them, or all pairs where a form has very many). Cases with the same operands share a kernel:
thread i loads tuple i and every case stores its results into planes of its own. Lines that begin with
`//!` tell limen-test what stands where; docs/how/record_goldens.md describes them. Operand values are
not here: src/tools/test/inputs.cpp makes them from the operand classes.

Usage: golden_cases.py <spec/ptx> <tests/golden/refused.txt> <out folder> [family ...]
       golden_cases.py --ask-ptxas <spec/ptx> <tests/golden/refused.txt>
The second form asks ptxas for each case and renews the list of those that it refuses, with its reason.
"""
import itertools
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import golden_extra
import ptx_model

FAMILIES = ["integer", "logic", "compare", "float", "half", "convert", "video"]
TARGET = 90
# Above this many choices a form is covered by all pairs of choices instead of all choices.
FULL_MAX = {"compare": 420, "video": 64}
FULL_MAX_OTHER = 256
TUPLES = {"compare": 512, "video": 512, "logic": 512}
TUPLES_OTHER = 1024
BOUNDED_TUPLES = 4096
CASES_A_KERNEL = 48
# Operations on addresses, which are no per-lane values.
SKIPPED = {"cvta", "isspacep", "mapa", "getctarank", "mov"}
# Operands that count bits or lie in a small range rather than being values.
COUNTS = {("bfe", "b"), ("bfe", "c"), ("bfi", "c"), ("bfi", "e"), ("shl", "b"), ("shr", "b"),
          ("shf", "c"), ("szext", "b"), ("bmsk", "a"), ("bmsk", "b"), ("vshl", "b"), ("vshr", "b"),
          ("fns", "base"), ("fns", "offset")}
HEADER = """.version 9.0
.target sm_90
.address_size 64
"""


@dataclass
class Case:
    text: str               # the instructions, on registers named after the operands
    outs: list              # (register, register type), results in order
    ins: list               # (register, class)
    bound: str = ""
    tuples: int = 0
    note: str = ""          # tells apart cases of one text: register widths
    form: str = ""          # label of the form of spec/ptx

    @property
    def name(self):
        return self.text + (f" ({self.note})" if self.note else "")


# Classes of operand values (src/tools/test/inputs.cpp) with the register that holds them.
CLASS_REGISTER = {"i8": "b8", "i16": "b16", "i32": "b32", "i64": "b64", "count": "b32", "pred": "pred",
                  "carry": "b32", "f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32",
                  "f32": "f32", "f64": "f64", "e4m3x2": "b16", "e5m2x2": "b16", "f32cvt": "f32",
                  "f64cvt": "f64", "angle": "f32", "sel": "b32"}
REGISTER_BYTES = {"pred": 1, "b8": 1, "b16": 2, "b32": 4, "f32": 4, "b64": 8, "f64": 8}


def class_of(type_name, model):
    if type_name in CLASS_REGISTER:
        return type_name
    if type_name == "tf32":
        return "f32"
    size = model.types[type_name]["bytes"]
    return {1: "i16", 2: "i16", 4: "i32", 8: "i64"}[size]


def result_register(type_name, model):
    if type_name in ("pred", "f32", "f64"):
        return type_name
    return {1: "b16", 2: "b16", 4: "b32", 8: "b64"}[model.types[type_name]["bytes"]]


def doubled(type_name):
    return {"b16": "b32", "b32": "b64"}[type_name]


def pairs_of(axes):
    """Rows in which every two values of every two axes meet; greedy, so a little more than needed."""
    if len(axes) < 2:
        return [tuple([v]) for v in axes[0]] if axes else [()]
    missing = {(i, a, j, b) for i, j in itertools.combinations(range(len(axes)), 2)
               for a in range(len(axes[i])) for b in range(len(axes[j]))}
    rows = []
    while missing:
        i, a, j, b = min(missing)
        row = [None] * len(axes)
        row[i], row[j] = a, b
        for k in range(len(axes)):
            if row[k] is None:
                def gain(v, k=k):
                    return sum(((n, row[n], k, v) if n < k else (k, v, n, row[n])) in missing
                               for n in range(len(axes)) if row[n] is not None)
                turn = len(rows) % len(axes[k])
                order = list(range(turn, len(axes[k]))) + list(range(turn))
                row[k] = max(order, key=gain)
        for m, n in itertools.combinations(range(len(axes)), 2):
            missing.discard((m, row[m], n, row[n]))
        rows.append(tuple(axes[k][v] for k, v in enumerate(row)))
    return rows


class Expander:
    def __init__(self, model):
        self.model = model

    def axes(self, form):
        axes = []
        for slot in form.slots:
            axes.append(([None] if slot.optional else []) + list(slot.tokens))
        wide = any(o.wide for o in form.operands)
        axes.append([False, True] if wide else [False])
        pair = any(o.pair == 1 for o in form.operands)
        axes.append([False, True] if pair else [False])
        negatable = any(o.negatable for o in form.operands)
        axes.append([False, True] if negatable else [False])
        optional = any(o.optional and o.present_slot < 0 for o in form.operands)
        axes.append([False, True] if optional else [False])
        if any(o.name == "lut" for o in form.operands):
            axes.append(list(range(256)) if form.row.name == "lop3" and "bool" not in form.ptx
                        else [0x80, 0xe8, 0x96, 0x00, 0xff, 0x1b])
        else:
            axes.append([0])
        return axes

    def cases(self, form):
        axes = self.axes(form)
        product = 1
        for axis in axes:
            product *= len(axis)
        family = form.row.family
        if product > FULL_MAX.get(family, FULL_MAX_OTHER):
            rows = pairs_of(axes)
        else:
            rows = itertools.product(*axes)
        seen = {}
        for row in rows:
            case = self.case(form, row)
            if case and case.name not in seen:
                seen[case.name] = case
        return list(seen.values())

    def case(self, form, row):
        picks = row[:len(form.slots)]
        wide, pair, negated, optional, lut = row[len(form.slots):]
        chosen = [p for p in picks if p]
        types = [name for kind, name in chosen if kind == "type"]
        opcode = form.row.name + "".join(f".{name}" for _, name in chosen)
        outs, ins, words = [], [], []
        used_wide = used_negated = False
        # Conversions between bf16 and 8 bits want 8-bit registers.
        narrow = form.row.name == "cvt" and "bf16" in types
        for operand in form.operands:
            if operand.present_slot >= 0:
                if picks[operand.present_slot] is None:
                    continue
            elif operand.optional and not optional:
                continue
            if operand.kind == "imm":
                words.append(hex(lut))
                continue
            type_name = operand.type_name or types[max(operand.type_slot, 0)]
            if operand.dest:
                register = result_register(type_name, self.model)
                if narrow and type_name in ("u8", "s8"):
                    register = "b8"
                if operand.double:
                    register = doubled(register)
                if wide and operand.wide and (wider := self.wider(type_name)):
                    register, used_wide = wider, True
                outs.append((operand.name, register))
                word = operand.name
                if operand.pair == 2 or operand.pair == 1 and pair:
                    second = "q" if operand.name == "p" else "p"
                    outs.append((second, "pred"))
                    word += "|" + second
                words.append(word)
                continue
            cls = class_of(type_name, self.model)
            if narrow and type_name in ("u8", "s8"):
                cls = "i8"
            if operand.double:
                cls = {"i16": "i32", "i32": "i64"}[cls]
            if wide and operand.wide and (wider := self.wider(type_name)):
                cls, used_wide = {"b32": "i32", "b64": "i64"}[wider], True
            cls = self.special_class(form, operand, cls)
            name = operand.name if operand.name not in ("d", "p", "q") else operand.name + "_in"
            ins.append((name, cls))
            if operand.negatable and negated:
                used_negated = True
                name = "!" + name
            words.append(name)
        if wide and not used_wide or negated and not used_negated:
            return None
        note = ""
        if used_wide:
            note = "registers " + ", ".join([r for _, r in outs] + [CLASS_REGISTER[c] for _, c in ins])
        tuples = 64 if form.row.name == "lop3" else BOUNDED_TUPLES if form.bound else 0
        return Case(f"{opcode} {', '.join(words)}", outs, ins, form.bound, tuples, note,
                    label(self.model, form))

    def wider(self, type_name):
        """The widest register of the kind; None where the type fills one."""
        row = self.model.types[type_name]
        if row["kind"] not in ("signed", "unsigned", "bits"):
            return None
        return {1: "b32", 2: "b64", 4: "b64"}.get(row["bytes"])

    @staticmethod
    def special_class(form, operand, cls):
        op = form.row.name
        if (op, operand.name) in COUNTS and cls == "i32":
            return "count"
        if op == "prmt" and operand.name == "c":
            return "sel"
        if op == "cvt" and cls in ("f32", "f64"):
            return cls + "cvt"
        if op in ("sin", "cos") and cls == "f32":
            return "angle"
        return cls


def all_cases(model, family):
    expander = Expander(model)
    out = {}
    for form in model.forms:
        if form.row.family != family or form.row.name in SKIPPED or form.rest:
            continue
        if form.suffix or form.target > TARGET or form.row.cls != "lane":
            continue
        if golden_extra.replaces(form):
            continue
        for case in expander.cases(form):
            out.setdefault(case.name, case)
    for values in golden_extra.cases(model, family):
        case = Case(**values)
        case.form = form_of(model, case.text)
        out.setdefault(case.name, case)
    return list(out.values())


def label(model, form):
    """The form's text, with its words where two forms of the family differ in those alone."""
    if sum(f.ptx == form.ptx and f.row.family == form.row.family for f in model.forms) == 1:
        return form.ptx
    words = [" ".join(name for _, name in slot.tokens) for slot in form.slots if len(slot.tokens) > 1]
    return f"{form.ptx}  ({'; '.join(words)})"


def fits(form, words):
    """True when the words after the root fill the form's slots, in order."""
    at = 0
    for slot in form.slots:
        if at < len(words) and any(name == words[at] for _, name in slot.tokens):
            at += 1
        elif not slot.optional:
            return False
    return at == len(words)


def form_of(model, text):
    """The form of the instruction that a hand-made case is about: the one that writes d, else the last."""
    instructions = [i.strip() for i in text.split(";") if not i.strip().startswith(".reg")]
    main = next((i for i in instructions if re.match(r"\S+ (?:\{\w+, )?d\b|\S+ \{d\b", i)), instructions[-1])
    opcode, _, operands = main.partition(" ")
    root, *words = opcode.split(".")
    count = len(re.sub(r"\{[^}]*\}", "v", operands).split(","))
    found = [f for f in model.forms if f.row.name == root and fits(f, words)]
    found.sort(key=lambda f: abs(len(f.operands) - count))
    return label(model, found[0]) if found else ""


@dataclass
class Kernel:
    ins: list
    tuples: int
    cases: list = field(default_factory=list)


def group(cases, family):
    """Cases with the same operands in one kernel; names of operands are those of the columns."""
    groups = {}
    for case in cases:
        tuples = case.tuples or TUPLES.get(family, TUPLES_OTHER)
        # Columns are matched by name and class, so that texts need no renaming.
        groups.setdefault((tuple(case.ins), tuples), []).append(case)
    kernels = []
    for (ins, tuples), members in groups.items():
        for at in range(0, len(members), CASES_A_KERNEL):
            kernels.append(Kernel(list(ins), tuples, members[at:at + CASES_A_KERNEL]))
    return kernels


def load_text(name, cls, column, tuples):
    offset = column * tuples * 8
    register = CLASS_REGISTER[cls]
    if register == "pred":
        return (f"  .reg .pred {name}; .reg .b16 load_{name};\n"
                f"  ld.global.u8 load_{name}, [in1+{offset}];\n"
                f"  setp.ne.b16 {name}, load_{name}, 0;\n")
    return (f"  .reg .{register} {name};\n"
            f"  ld.global.{register} {name}, [in{REGISTER_BYTES[register]}+{offset}];\n")


def store_text(name, register, offset):
    if register == "pred":
        return (f"    .reg .b16 bit_{name}; selp.b16 bit_{name}, 1, 0, {name};"
                f" st.global.u8 [out1+{offset}], bit_{name};\n")
    return f"    st.global.{register} [out{REGISTER_BYTES[register]}+{offset}], {name};\n"


def kernel_text(kernel, number):
    n = kernel.tuples
    columns = " ".join(f"{name}={cls}" for name, cls in kernel.ins)
    text = [f"//! kernel k{number} {n} {columns}\n"
            f".visible .entry k{number}(.param .u64 in, .param .u64 out)\n{{\n"
            "  .reg .b64 tid, step, in1, in2, in4, in8, out1, out2, out4, out8; .reg .b32 t, nt, ct;\n"
            "  mov.u32 t, %tid.x; mov.u32 nt, %ntid.x; mov.u32 ct, %ctaid.x;\n"
            "  mad.lo.u32 t, ct, nt, t; cvt.u64.u32 tid, t;\n"
            "  ld.param.u64 in1, [in]; ld.param.u64 out1, [out];\n"
            "  add.u64 in1, in1, tid; add.u64 in2, in1, tid; add.u64 out1, out1, tid;\n"
            "  add.u64 out2, out1, tid; shl.b64 step, tid, 1; add.u64 in4, in2, step;\n"
            "  add.u64 out4, out2, step; shl.b64 step, tid, 2; add.u64 in8, in4, step;\n"
            "  add.u64 out8, out4, step;\n"]
    for column, (name, cls) in enumerate(kernel.ins):
        text.append(load_text(name, cls, column, n))
    offset = 0
    for case in kernel.cases:
        outs = ",".join(register for _, register in case.outs)
        kind = f"bounded[{case.bound}]" if case.bound else "exact"
        text.append(f"//! case {kind} {outs} {case.name}\n  {{\n")
        for name, register in case.outs:
            text.append(f"    .reg .{register} {name};\n")
        text.append(f"    {case.text};\n")
        for name, register in case.outs:
            text.append(store_text(name, register, offset))
            offset += n * REGISTER_BYTES[register]
        text.append("  }\n")
    text.append("//! end\n  ret;\n}\n")
    return "".join(text)


def module_text(family, kernels):
    return f"//! family {family}\n" + HEADER + "".join(kernel_text(k, i) for i, k in enumerate(kernels))


def read_refused(path):
    path = Path(path)
    if not path.exists():
        return set()
    return {line.split("\t")[0] for line in path.read_text().splitlines()
            if line and not line.startswith("#")}


def ask_ptxas(family, cases):
    """Name to reason of the cases that ptxas refuses."""
    refused = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.ptx"
        left = list(cases)
        while True:
            text = module_text(family, group(left, family))
            source.write_text(text)
            done = subprocess.run(["ptxas", "-arch=sm_90", "-O0", str(source), "-o", "/dev/null"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return refused
            owner, current = [], None
            for line in text.split("\n"):
                if line.startswith("//! case "):
                    current = line.split(" ", 4)[4]
                owner.append(current)
            found = re.findall(r"line (\d+); (?:error|fatal)\s*:\s*(.*)", done.stdout + done.stderr)
            before = len(refused)
            for number, reason in found:
                name = owner[int(number) - 1]
                if name and name not in refused:
                    refused[name] = reason
            if len(refused) == before:
                sys.exit(f"{family}: ptxas fails without a case: {(done.stdout + done.stderr)[:2000]}")
            left = [c for c in left if c.name not in refused]


def renew_refused(spec, path):
    model = ptx_model.load(spec)
    lines = ["# Cases that ptxas 13.0 refuses for sm_90, with its reason. Written by\n"
             "# gen/golden_cases.py --ask-ptxas; do not edit.\n"]
    for family in FAMILIES:
        cases = all_cases(model, family)
        refused = ask_ptxas(family, cases)
        print(f"{family}: {len(cases)} cases, ptxas refuses {len(refused)}")
        lines += [f"{name}\t{reason}\n" for name, reason in sorted(refused.items())]
    Path(path).write_text("".join(lines))


def main(arguments):
    if arguments[:1] == ["--ask-ptxas"]:
        return renew_refused(*arguments[1:3])
    spec, refused_path, out = arguments[:3]
    model = ptx_model.load(spec)
    refused = read_refused(refused_path)
    Path(out).mkdir(parents=True, exist_ok=True)
    for family in arguments[3:] or FAMILIES:
        cases = [c for c in all_cases(model, family) if c.name not in refused]
        Path(out, family + ".ptx").write_text(module_text(family, group(cases, family)))
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
