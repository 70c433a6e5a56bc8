"""Loads spec/ptx and checks it; the only reader of those files.

Gives Model: types, registers, and rows with their forms broken into slots and operands. It never
guesses: an unknown word, an operand without a type or two forms that accept one text are errors
that name the file and the form. The notation is described in docs/how/add_ptx_instruction.md.
"""
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

CLASSES = ["lane", "memory", "atomic", "warp", "barrier", "branch", "texture", "matrix"]
STATES = ["full", "later"]
FORM_KEYS = {"ptx", "since", "target", "state", "bound"}
ROW_KEYS = {"name", "source", "class", "state", "traps", "forms"}
# `2 ulp`, `rel 2^-22.9`, `abs 2^-20.5 to 2pi, 2^-14.7 to 100pi`; see docs/how/record_goldens.md.
POWER = r"2\^-\d+(?:\.\d+)?"
BOUND = re.compile(rf"|\d+ ulp|(?:rel|abs) {POWER}(?: to \d+pi(?:, {POWER} to \d+pi)*)?")
OPERAND_KINDS = ["value", "address", "label", "imm", "pack", "move", "address_value", "pointer",
                 "callee", "targets", "any"]
SELECTORS = ["part", "halves", "bytes"]


class SpecError(Exception):
    pass


@dataclass
class Slot:
    tokens: list            # ("tok", name) or ("type", name)
    optional: bool
    name: str
    many: bool = False      # a `*` set: any number of its tokens

    @property
    def is_type(self):
        return not self.many and all(kind == "type" for kind, _ in self.tokens)


@dataclass
class Operand:
    name: str
    kind: str
    type_slot: int = -1     # index among the type slots of the form, or -1
    type_name: str = ""     # fixed type, when type_slot is -1
    dest: bool = False
    optional: bool = False
    negatable: bool = False
    pair: int = 0           # 1: d[|p] may, 2: d|p must
    wide: bool = False      # the register may be wider than the type
    double: bool = False    # twice the width of the type (mul.wide)
    vector: bool = False    # .v2/.v4/.v8 make it a vector
    sink: bool = False      # `_` may stand there
    count: int = 0          # `:x4`: a vector of exactly so many; imm: a value below it
    selector: str = ""      # of video instructions: part, halves or bytes
    minus: bool = False     # -register may stand there
    register: bool = False  # no constant
    present_slot: int = -1  # `:if=name`: there exactly when that modifier is, by index of the slot


@dataclass
class Form:
    row: "Row"
    ptx: str
    slots: list
    operands: list
    since: int
    target: int
    suffix: str
    state: str
    rest: bool              # `...`: any operands
    bound: str = ""         # the manual's error bound; empty: the result is exact
    index: int = 0
    sets: dict = field(default_factory=dict)


@dataclass
class Row:
    name: str
    source: str
    family: str
    cls: str
    state: str
    traps: bool
    forms: list = field(default_factory=list)


@dataclass
class Model:
    types: dict
    registers: dict
    rows: list
    forms: list
    ops: list
    toks: list


def load_types(folder):
    with open(folder / "types.toml", "rb") as file:
        types = tomllib.load(file)["types"]
    for name, row in types.items():
        if set(row) != {"bytes", "kind"}:
            raise SpecError(f"types.toml: {name}: keys {sorted(row)}")
    return types


def load_registers(folder):
    with open(folder / "registers.toml", "rb") as file:
        data = tomllib.load(file)
    registers = dict(data["registers"])
    for pattern, row in data["families"].items():
        for i in range(row["count"]):
            registers[pattern.replace("*", str(i))] = {"type": row["type"], "since": row["since"]}
    for row in registers.values():
        row.setdefault("components", 1)
    return registers


def version_number(text):
    major, minor = text.split(".")
    return int(major) * 10 + int(minor)


def split_target(text):
    match = re.fullmatch(r"sm_(\d+)([af]?)", text)
    if not match:
        raise SpecError(f"target {text!r} is not sm_NN")
    return int(match[1]), match[2]


TOKEN = re.compile(r"(\{)?\.([A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)((?:\.[A-Za-z0-9_]+)*)(\})?")


def classify(word, types):
    return ("type", word) if word in types else ("tok", word)


def parse_slots(text, sets, types, where):
    """`.a{.b}.c` after the root to slots. `{.a.b}` (both or neither) was expanded before."""
    slots = []
    at = 0
    while at < len(text):
        match = re.compile(r"\{((?:\.[\w:]+)+)\}|\.([\w:]+)").match(text, at)
        if not match:
            raise SpecError(f"{where}: cannot read {text[at:]!r}")
        at = match.end()
        optional = match[1] is not None
        for word in (match[1] or "." + match[2])[1:].split("."):
            if word in sets:
                words = sets[word].split()
                many = words[:1] == ["*"]
                tokens = [classify(w, types) for w in words[many:]]
                if not many and len({kind for kind, _ in tokens}) != 1:
                    raise SpecError(f"{where}: set .{word} mixes types and modifiers")
                slots.append(Slot(tokens, optional or many, word, many))
            else:
                slots.append(Slot([classify(word, types)], optional, word))
    return slots


def split_operands(text):
    """Splits at commas outside brackets; `{, x}` marks x optional."""
    text = text.replace(" ", "")
    out = []
    depth = 0
    optional = False
    word = ""
    i = 0
    while i < len(text):
        if text.startswith("{,", i):
            if word:
                out.append((word, optional))
            word, optional, i = "", True, i + 2
            continue
        c = text[i]
        if c == "}" and optional and not (depth):
            out.append((word, True))
            word, optional, i = "", False, i + 1
            continue
        if c == "," and depth == 0:
            if word:
                out.append((word, optional))
            word, i = "", i + 1
            continue
        if text.startswith("{!}", i):
            word, i = word + "{!}", i + 3
            continue
        depth += c in "[("
        depth -= c in "])"
        word += c
        i += 1
    if word:
        out.append((word, optional))
    return out


def parse_operand(word, optional, slots, types, has_vec, where):
    type_slots = [s for s in slots if s.is_type]
    operand = Operand(name=word, kind="value", optional=optional)
    if word.startswith("{!}"):
        operand.negatable = True
        word = word[3:]
    if word.startswith("["):
        operand.kind = "address"
        operand.name = word.strip("[]")
        return operand
    name, *tags = word.split(":")
    if "[|" in name:
        operand.pair = 1
        name = name[: name.index("[|")]
    elif "|" in name:
        operand.pair = 2
        name = name[: name.index("|")]
    operand.name = name
    operand.dest = name in ("d", "p") and not operand.negatable
    typed = False
    for tag in tags:
        if tag.startswith("if="):
            names = [s.name for s in slots]
            if tag[3:] not in names:
                raise SpecError(f"{where}: operand {word!r} depends on no modifier of the form")
            operand.present_slot = names.index(tag[3:])
        elif tag == "wide":
            operand.wide = True
        elif tag == "sink":
            operand.sink = True
        elif tag in SELECTORS:
            operand.selector = tag
            operand.register = tag != "part"
        elif tag == "minus":
            operand.minus = True
        elif tag == "register":
            operand.register = True
        elif tag == "double":
            operand.double = True
        elif re.fullmatch(r"x\d+", tag):
            operand.count = int(tag[1:])
        elif tag in OPERAND_KINDS:
            operand.kind = tag
        elif any(s.name == tag for s in type_slots):
            operand.type_slot = [s.name for s in type_slots].index(tag)
            typed = True
        elif tag in types:
            operand.type_name = tag
            typed = True
        else:
            raise SpecError(f"{where}: operand {word!r}: unknown tag {tag!r}")
    if operand.kind in ("label", "imm", "callee", "targets", "any", "pointer", "address_value"):
        operand.type_slot = 0 if operand.kind == "address_value" and type_slots else operand.type_slot
        return operand
    if not typed:
        if name == "p":
            operand.type_name = "pred"
        elif len(type_slots) == 1:
            operand.type_slot = 0
            operand.vector = has_vec and name in ("d", "b")
        else:
            raise SpecError(f"{where}: operand {word!r} needs a type, the form has {len(type_slots)}")
    else:
        operand.vector = has_vec and name in ("d", "b") and operand.type_slot == 0
    return operand


def expand_groups(ptx):
    """`{.a.b}` means both or neither: the form without and the form with."""
    match = re.search(r"\{((?:\.[\w:]+){2,})\}", ptx)
    if not match:
        return [ptx]
    return [text for middle in ("", match[1])
            for text in expand_groups(ptx[: match.start()] + middle + ptx[match.end():])]


def parse_form(row, data, sets, types, where, whole):
    head, _, tail = data["ptx"].partition(" ")
    root = row.name
    if not head.startswith(root) or head[len(root):][:1] not in ("", ".", "{"):
        raise SpecError(f"{where}: form does not begin with {root}")
    local = dict(sets)
    local.update({k: v for k, v in data.items() if k not in FORM_KEYS})
    slots = parse_slots(head[len(root):], local, types, where)
    for key in data:
        # A set may be in the half of a group that this expansion leaves out.
        if (key not in FORM_KEYS and not any(s.name == key for s in slots)
                and not re.search(rf"\{{[\w.:]*\.{re.escape(key)}\b[\w.:]*\}}", whole)):
            raise SpecError(f"{where}: set {key!r} is not used")
    target, suffix = split_target(data.get("target", "sm_0"))
    rest = tail.strip() == "..."
    has_vec = any(s.name == "vec" for s in slots)
    operands = [] if rest else [parse_operand(w, o, slots, types, has_vec, where)
                                for w, o in split_operands(tail)]
    state = data.get("state", row.state)
    if state not in STATES:
        raise SpecError(f"{where}: state {state!r}")
    bound = data.get("bound", "")
    if not BOUND.fullmatch(bound):
        raise SpecError(f"{where}: bound {bound!r}")
    return Form(row, data["ptx"], slots, operands, version_number(data.get("since", "1.0")), target,
                suffix, state, rest, bound)


def load_rows(folder, types):
    rows = []
    skip = {"types.toml", "registers.toml", "directives.toml"}
    for path in sorted(folder.glob("*.toml")):
        if path.name in skip:
            continue
        with open(path, "rb") as file:
            data = tomllib.load(file)
        sets = data.get("sets", {})
        for item in data["op"]:
            where = f"{path.name}: {item.get('name')}"
            if unknown := set(item) - ROW_KEYS:
                raise SpecError(f"{where}: unknown keys {sorted(unknown)}")
            anchor = f"{data['anchor']}-{item['name']}"
            row = Row(item["name"], item.get("source", f"PTX ISA 9.0 #{anchor}"), path.stem,
                      item.get("class", data["class"]), item.get("state", data.get("state", "full")),
                      item.get("traps", False))
            if row.cls not in CLASSES:
                raise SpecError(f"{where}: class {row.cls!r}")
            for form in item["forms"]:
                for ptx in expand_groups(form["ptx"]):
                    row.forms.append(parse_form(row, {**form, "ptx": ptx}, sets, types,
                                                f"{where}: {ptx}", form["ptx"]))
            rows.append(row)
    return rows


def covers(required, others):
    """True when every slot of `required` can be matched to its own slot of `others`."""
    owner = {}

    def place(slot, seen):
        for i, other in enumerate(others):
            if i in seen or not set(slot.tokens) & set(other.tokens):
                continue
            seen.add(i)
            if i not in owner or place(owner[i], seen):
                if not other.many:
                    owner[i] = slot
                return True
        return False

    return all(place(slot, set()) for slot in required)


def overlap(a, b):
    """True when some opcode text is accepted by both forms. Order does not matter for modifiers
    (ptxas takes them in any order), it does for types. By Mendelsohn and Dulmage a common text
    exists if the required slots of each side can be matched into the other side."""
    def words(form):
        return [s for s in form.slots if not s.is_type]

    def types(form):
        return [s for s in form.slots if s.is_type]

    ta, tb = types(a), types(b)
    loose = any(s.many for s in a.slots + b.slots)
    if not loose and not any(s.optional for s in ta + tb):
        if len(ta) != len(tb) or not all(set(x.tokens) & set(y.tokens) for x, y in zip(ta, tb)):
            return False
    if loose:
        wa, wb = a.slots, b.slots
    else:
        wa, wb = words(a), words(b)
    return (covers([s for s in wa if not s.optional], wb)
            and covers([s for s in wb if not s.optional], wa))


def check_disjoint(rows):
    by_op = {}
    for row in rows:
        by_op.setdefault(row.name, []).extend(row.forms)
    for forms in by_op.values():
        for i, a in enumerate(forms):
            for b in forms[i + 1:]:
                if overlap(a, b):
                    raise SpecError(f"two forms accept one text:\n  {a.ptx}  ({a.row.family})\n"
                                    f"  {b.ptx}  ({b.row.family})")


def load(folder):
    folder = Path(folder)
    types = load_types(folder)
    registers = load_registers(folder)
    rows = load_rows(folder, types)
    check_disjoint(rows)
    ops = sorted({row.name for row in rows})
    toks = sorted({name for row in rows for form in row.forms for slot in form.slots
                   for kind, name in slot.tokens if kind == "tok"})
    forms = []
    for op in ops:
        for row in rows:
            if row.name == op:
                forms += row.forms
    for i, form in enumerate(forms):
        form.index = i
    return Model(types, registers, rows, forms, ops, toks)


if __name__ == "__main__":
    model = load(sys.argv[1])
    print(f"{len(model.ops)} ops, {len(model.rows)} rows, {len(model.forms)} forms, "
          f"{len(model.toks)} modifiers, {len(model.types)} types, {len(model.registers)} registers")
