"""Reads the API tables under spec/ into plain objects. The only reader of those files.

Does not print anything: every product has its own emit_*.py. A row that the words cannot
describe is an error here, never a silent default. The form of a row: docs/adr/0001-api-rows.md.
"""
import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "spec"
WORDS = {"in", "out", "inout", "str", "buffer", "stream", "array"}
KINDS = {"loader", "query", "create", "destroy", "stream-op", "blocking", "control"}
SYMBOL = re.compile(r"^(cu\w+) @(\d+)( per-thread)?$")


@dataclass
class Arg:
    name: str
    type: str
    words: list

    @property
    def is_pointer(self):
        return self.type.endswith("*")

    @property
    def decl(self):
        return f"{self.type} {self.name}"


@dataclass
class Symbol:
    name: str
    since: int
    per_thread: bool


@dataclass
class Old:
    """An ABI whose signature differs from the newest one, and how it becomes the newest."""

    args: list
    symbols: list
    convert: str  # refuse | defaults | hand
    defaults: dict = field(default_factory=dict)


@dataclass
class Function:
    name: str
    args: list
    symbols: list
    kind: str
    implicit_stream: bool
    wants_caller: bool
    source: str
    file: str
    olds: list = field(default_factory=list)
    before_init: tuple = ()  # (condition, code): what the driver refuses even before cuInit

    @property
    def in_table(self):
        return self.kind != "loader" or self.name == "cuInit"

    @property
    def table_args(self):
        """What the driver's function takes: a copy without stream argument gets one, last."""
        extra = [Arg("stream", "CUstream", ["stream"])] if self.implicit_stream else []
        return self.args + extra

    def all_symbols(self):
        """Every exported ABI as (symbol, args, old or None)."""
        for symbol in self.symbols:
            yield symbol, self.args, None
        for old in self.olds:
            for symbol in old.symbols:
                yield symbol, old.args, old


def load_toml(path):
    with open(path, "rb") as stream:
        return tomllib.load(stream)


def write_if_changed(path, text):
    """Keeps the time stamp of an unchanged product, so that nothing is rebuilt for it."""
    path = Path(path)
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def load_types():
    return load_toml(SPEC / "api" / "types.toml")


def parse_arg(text, where):
    match = re.match(r"^(\w+): (.+)$", text)
    if not match:
        raise SystemExit(f"{where}: argument {text!r} is not 'name: type words'")
    tokens = match.group(2).split(" ")
    words = []
    while len(tokens) > 1 and tokens[-1] in WORDS:
        words.insert(0, tokens.pop())
    arg = Arg(match.group(1), " ".join(tokens), words)
    if arg.is_pointer and not set(words) & {"in", "out", "inout", "buffer"}:
        raise SystemExit(f"{where}: pointer {arg.name} needs one of in, out, inout, buffer")
    if arg.type == "CUstream" and "stream" not in words:
        raise SystemExit(f"{where}: {arg.name} needs the word stream")
    return arg


def parse_symbol(text, where):
    match = SYMBOL.match(text)
    if not match:
        raise SystemExit(f"{where}: symbol {text!r} is not 'name @version [per-thread]'")
    return Symbol(match.group(1), int(match.group(2)), bool(match.group(3)))


def parse_old(row, new_args, where):
    args = [parse_arg(a, where) for a in row["args"]]
    word, _, rest = row["convert"].partition(": ")
    old = Old(args, [parse_symbol(s, where) for s in row["symbols"]], word)
    names = [a.name for a in args]
    if word == "defaults":
        old.defaults = dict(item.split("=", 1) for item in rest.split(" "))
        for arg in new_args:
            if arg.name.lower() not in [n.lower() for n in names] + [
                d.lower() for d in old.defaults
            ]:
                raise SystemExit(f"{where}: {arg.name} has neither an old argument nor a default")
    elif word not in ("refuse", "hand"):
        raise SystemExit(f"{where}: unknown conversion {word!r}")
    return old


def parse_function(row, path):
    where = f"{path.name}: {row.get('name')}"
    unknown = set(row) - {"name", "args", "symbols", "kind", "stream", "caller", "source", "old",
                          "before_init"}
    if unknown:
        raise SystemExit(f"{where}: unknown keys {sorted(unknown)}")
    if row["kind"] not in KINDS:
        raise SystemExit(f"{where}: unknown kind {row['kind']!r}")
    args = [parse_arg(a, where) for a in row["args"]]
    symbols = [parse_symbol(s, where) for s in row["symbols"]]
    function = Function(row["name"], args, symbols, row["kind"],
                        row.get("stream") == "implicit", row.get("caller", False),
                        row["source"], path.stem)
    if "before_init" in row:
        condition, colon, code = row["before_init"].rpartition(": ")
        if not colon or not code.startswith("CUDA_ERROR_"):
            raise SystemExit(f"{where}: before_init is not 'condition: CUDA_ERROR_...'")
        function.before_init = (condition, code)
    function.olds = [parse_old(o, args, where) for o in row.get("old", [])]
    return function


def load_functions():
    functions = []
    for path in sorted((SPEC / "api" / "driver").glob("*.toml")):
        functions += [parse_function(row, path) for row in load_toml(path)["fn"]]
    names = [s.name for f in functions for s, _, _ in f.all_symbols()]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        raise SystemExit(f"symbols described twice: {sorted(twice)}")
    return sorted(functions, key=lambda f: f.name)


def table_hash(functions):
    """Tells a loader and a driver built from different tables apart."""
    text = "\n".join(f.name + str([a.decl for a in f.table_args]) for f in functions if f.in_table)
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def params(args, named=True):
    return ", ".join(a.decl if named else a.type for a in args) or "void"
