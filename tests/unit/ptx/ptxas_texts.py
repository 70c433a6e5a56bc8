"""Texts for ptxas_test.py beyond what the rows say: neighbours of legal instructions, declarations of
variables and registers, function directives.

Every choice comes from a generator seeded by the text, so that an edit of one row changes nothing
elsewhere. Nothing here knows whether a text is legal. `#` stands for a number of the line's own.
"""
import random
import re

TYPES = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "b128",
         "f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64", "pred", "s16x2", "u16x2", "e4m3x2"]
SPACES = ["global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
          "param::entry", "param::func", "reg", "tex"]
REGISTERS = ["%p", "%c", "%h", "%b", "%bd", "%q", "%uc", "%us", "%u", "%ud", "%sc", "%ss", "%s",
             "%sd", "%x", "%f", "%d"]
LITERALS = ["0", "1", "-1", "4", "31", "32", "64", "255", "65536", "4294967296", "-2147483648",
            "0x7f", "0xffffffffffffffff", "0b101", "017", "08", "5U", "1.5", "-2.0", "1e3", "0f3F800000",
            "0d3FF0000000000000", "0F00000000", "0f3F80", "WARP_SZ", "(1+2)*4", "~0", "!1", "1/0",
            "3 > 2 ? 1 : 0", "99999999999999999999"]
SPECIAL = ["%tid", "%tid.x", "%ntid.y", "%ctaid.z", "%laneid", "%clock", "%clock64", "%smid",
           "%lanemask_lt", "%envreg3", "%globaltimer", "%pm0", "%tid.w", "%warpid", "%nosuch",
           "%cluster_ctarank", "%is_explicit_cluster", "%dynamic_smem_size", "%gridid"]
SYMBOLS = ["g", "sh", "lo", "p", "k", "nosuch", "g+4", "sh+8", "g-4", "g+%u1", "generic(g)"]
ADDRESSES = ["[g]", "[g+4]", "[sh]", "[lo+4]", "[p]", "[%ud7+4]", "[%ud7-8]", "[%ud7+-8]", "[%sd2]",
             "[%bd3]", "[%u1]", "[%s1+4]", "[%f1]", "[%d1]", "[%h1]", "[%p1]", "[16]", "[0x1000+4]",
             "[%ud7+%u1]", "[nosuch]", "[%ud7*2]", "[k]", "[%tid.x]", "[]", "[g, 4]"]
WORDS = ["ftz", "sat", "rn", "rz", "rm", "rp", "rni", "rzi", "wide", "lo", "hi", "relu", "approx",
         "full", "cc", "x", "uni", "sync", "aligned", "volatile", "relaxed", "acquire", "release",
         "acq_rel", "gpu", "cta", "sys", "cluster", "weak", "v2", "v4", "v8", "ca", "cg", "nc", "satfinite",
         "noftz", "xorsign", "abs", "NaN", "eq", "lt", "and", "or", "add", "min", "trunc", "L1::evict_last",
         "L2::128B", "L2::cache_hint", "unified", "row", "col", "b4e", "nosuch"]


def split_operands(text):
    """`a, [b, c], {d, e};` to its three operands."""
    out, depth, word = [], 0, ""
    for c in text.rstrip(";"):
        depth += c in "[{(" and 1 or -(c in "]})")
        if c == "," and not depth:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


class Neighbours:
    """One change of a legal instruction for each method that does not begin with `_`."""

    def __init__(self, words_of_op):
        self._words_of_op = words_of_op

    def _of(self, text, count):
        rng = self._rng = random.Random("neighbours " + text)
        head, _, tail = text.partition(" ")
        kinds = [name for name in dir(self) if not name.startswith("_")]
        out = []
        for name in rng.sample(kinds, min(count, len(kinds))):
            changed = getattr(self, name)(head.split("."), split_operands(tail))
            if changed:
                out.append(changed)
        return out

    @staticmethod
    def _join(parts, operands):
        return f"{'.'.join(parts)} {', '.join(operands)};"

    def _register(self, operands):
        """Where a plain register stands: its index, or None."""
        at = [i for i, o in enumerate(operands) if re.fullmatch(r"%[a-z]+\d", o)]
        return self._rng.choice(at) if at else None

    def _replaced(self, parts, operands, new, at=None):
        at = self._rng.randrange(len(operands)) if at is None and operands else at
        if at is None:
            return None
        return self._join(parts, operands[:at] + [new] + operands[at + 1:])

    def order(self, parts, operands):
        tail = parts[1:]
        self._rng.shuffle(tail)
        return self._join(parts[:1] + tail, operands)

    def fewer_operands(self, parts, operands):
        if not operands:
            return None
        at = self._rng.randrange(len(operands))
        return self._join(parts, operands[:at] + operands[at + 1:])

    def more_operands(self, parts, operands):
        extra = self._rng.choice([self._rng.choice(REGISTERS) + "4", "0", "[%ud5]", "%p3", "{%b1, %b2}"])
        at = self._rng.randrange(len(operands) + 1)
        return self._join(parts, operands[:at] + [extra] + operands[at:])

    def swapped_operands(self, parts, operands):
        if len(operands) < 2:
            return None
        i, j = self._rng.sample(range(len(operands)), 2)
        operands = list(operands)
        operands[i], operands[j] = operands[j], operands[i]
        return self._join(parts, operands)

    def literal(self, parts, operands):
        return self._replaced(parts, operands, self._rng.choice(LITERALS))

    def literal_source(self, parts, operands):
        if len(operands) < 2:
            return None
        return self._replaced(parts, operands, self._rng.choice(LITERALS), len(operands) - 1)

    def special_register(self, parts, operands):
        return self._replaced(parts, operands, self._rng.choice(SPECIAL))

    def symbol(self, parts, operands):
        return self._replaced(parts, operands, self._rng.choice(SYMBOLS))

    def sink(self, parts, operands):
        return self._replaced(parts, operands, "_")

    def address(self, parts, operands):
        at = [i for i, o in enumerate(operands) if o.startswith("[")]
        return self._replaced(parts, operands, self._rng.choice(ADDRESSES),
                              self._rng.choice(at) if at else None)

    def brackets(self, parts, operands):
        if not operands:
            return None
        at = self._rng.randrange(len(operands))
        o = operands[at]
        return self._replaced(parts, operands, o[1:-1] if o[0] in "[{" else f"[{o}]", at)

    def vector(self, parts, operands):
        if not operands:
            return None
        at = self._rng.randrange(len(operands))
        o = operands[at]
        if o.startswith("{"):
            elements = split_operands(o[1:-1])
            change = self._rng.randrange(4)
            if change == 0:
                elements = elements[:-1]
            elif change == 1:
                elements = elements + elements[:1]
            elif change == 2:
                elements[self._rng.randrange(len(elements))] = self._rng.choice(
                    ["_", "0", "%f1", "%bd1", "%p1", "%tid.x"])
            else:
                return self._replaced(parts, operands, elements[0], at)
            return self._replaced(parts, operands, "{" + ", ".join(elements) + "}", at)
        return self._replaced(parts, operands, "{" + o + ", " + o + "}", at)

    def prefix(self, parts, operands):
        at = self._register(operands)
        if at is None:
            return None
        return self._replaced(parts, operands, self._rng.choice("!-~+") + operands[at], at)

    def suffix(self, parts, operands):
        at = self._register(operands)
        if at is None:
            return None
        return self._replaced(parts, operands, operands[at] + self._rng.choice(
            [".x", ".b0", ".h1", ".b3210", "+4", "|%p7", "|%b7", "|_", ".r"]), at)

    def space(self, parts, operands):
        at = [i for i, w in enumerate(parts) if w in SPACES]
        new = self._rng.choice(SPACES)
        if not at:
            return self._join(parts[:1] + [new] + parts[1:], operands)
        i = self._rng.choice(at)
        return self._join(parts[:i] + [new] + parts[i + 1:], operands)

    def guard(self, parts, operands):
        return self._rng.choice(["@%p1 ", "@!%p1 ", "@%b1 ", "@!%u1 ", "@%f1 ", "@ %p2 ", "@! %p3 "]) + \
            self._join(parts, operands)

    def all_types(self, parts, operands):
        old = [w for w in parts[1:] if w in TYPES]
        if not old:
            return None
        a, b = self._rng.choice(old), self._rng.choice(TYPES)
        return self._join([b if w == a else w for w in parts], operands)

    def all_registers(self, parts, operands):
        new = self._rng.choice(REGISTERS)
        return re.sub(r"%[a-z]+(\d)", new + r"\1", self._join(parts, operands))

    def one_register(self, parts, operands):
        at = self._register(operands)
        return None if at is None else self._replaced(parts, operands,
                                                      self._rng.choice(REGISTERS) + "6", at)

    def word_of_op(self, parts, operands):
        """A word that some other form of the instruction takes."""
        words = self._words_of_op.get(parts[0])
        if not words:
            return None
        at = self._rng.randrange(1, len(parts) + 1)
        return self._join(parts[:at] + [self._rng.choice(words)] + parts[at:], operands)

    def other_word_of_op(self, parts, operands):
        words = self._words_of_op.get(parts[0])
        if not words or len(parts) < 2:
            return None
        at = self._rng.randrange(1, len(parts))
        return self._join(parts[:at] + [self._rng.choice(words)] + parts[at + 1:], operands)

    def foreign_word(self, parts, operands):
        at = self._rng.randrange(1, len(parts) + 1)
        return self._join(parts[:at] + [self._rng.choice(WORDS)] + parts[at:], operands)

    def repeated_word(self, parts, operands):
        if len(parts) < 2:
            return None
        at = self._rng.randrange(1, len(parts))
        return self._join(parts[:at] + [parts[at]] + parts[at:], operands)

    def spelling(self, parts, operands):
        word = self._rng.choice(parts)
        new = self._rng.choice([word.upper(), word + "x", word[:-1], "_" + word])
        return self._join([new if w == word else w for w in parts], operands)


def declarations(count):
    """Lines of module scope: variables and functions, half of them with something odd."""
    rng = random.Random("declarations")
    out = set()
    values = ["0", "1", "-1", "300", "70000", "1.5", "0f3F800000", "0d3FF0000000000000", "g", "g+4",
              "generic(g)", "generic(g)+8", "sh", "nosuch", "f0", "0xFF(g)", "0xFF00(g)",
              "mask(0xFF, g)", "WARP_SZ", "(1<<3)|2", "5U", "1 ? 2 : 3", "-0x10", "k0"]
    directives = [".maxntid 128", ".maxntid 32, 4", ".maxntid 32, 4, 2, 2", ".reqntid 64",
                  ".minnctapersm 2", ".maxnctapersm 4", ".maxnreg 32", ".reqnctapercluster 2",
                  ".maxclusterrank 4", ".explicitcluster", ".blocksareclusters", ".noreturn",
                  '.pragma "nounroll";', ".nosuch", ".maxntid", ".maxntid -1", ".maxnreg 0",
                  ".reqnctapercluster 2, 1, 1", ".maxntid 1.5", ".abi_preserve 4",
                  ".unique", ".attribute(.unified(1, 2))"]
    params = ["", ".param .u32 a", ".param .u64 a, .param .f32 b", ".param .align 8 .b8 a[24]",
              ".param .u64 .ptr .global .align 16 a", ".param .u64 .ptr a", ".param .b8 a[]",
              ".param .pred a", ".reg .u32 a", ".reg .pred a", ".param .u32 a, .param .u32 a",
              ".param .v4 .f32 a", ".param .f16 a", ".param .b128 a", ".param .texref a",
              ".param .align 3 .b8 a[4]", ".param .u32 a[4]", ".param .u64 .ptr .shared a",
              ".param .u32 .ptr .const a", ".u32 a", ".param .samplerref a", ".param .bf16x2 a",
              ".param .align 256 .b8 a[8]", ".param .b8 a[5000]", ".param .u32"]
    links = [".visible "] * 3 + [".extern ", ".weak ", ".common ", ".visible .extern ", ".static "]
    while len(out) < count:
        link = rng.choice(links) if rng.random() < 0.4 else ""
        if rng.random() < 0.3:
            wild = [d for d in directives if rng.random() < 0.08]
            body = rng.choice(["{ ret; }", ";", "{ }", "{ ret; } ;"]) if rng.random() < 0.2 \
                else "{ ret; }"
            kind = rng.choice([".entry", ".func", ".func (.reg .u32 r)", ".func (.param .b32 r)",
                               ".func ()"])
            out.add(f"{link}{kind} f#({rng.choice(params)}) {' '.join(wild)} {body}")
            continue
        odd = lambda rate: rng.random() < rate  # noqa: E731
        space = rng.choice(["shared", "local", "param", "reg", "tex"]) if odd(0.2) \
            else rng.choice(["global", "global", "const"])
        align = rng.choice(["", "", f".align {rng.choice([3, 0, 512] if odd(0.1) else [8, 16, 128])} "])
        extra = rng.choice([".attribute(.managed) ", ".attribute(.unified(19, 95)) ",
                            ".attribute(.nosuch) "]) if odd(0.08) else ""
        vector = rng.choice([".v2 ", ".v4 ", ".v8 ", ".v3 "]) if odd(0.15) else ""
        kind = rng.choice(TYPES + ["texref", "samplerref", "surfref", "u4", "nosuch"]) if odd(0.3) \
            else rng.choice(["u8", "s16", "b32", "u64", "b64", "f32", "f64", "b8", "u32"])
        dims = "".join(f"[{rng.choice(['1', '0', '', '-1', '2+2', '1.5'])}]"
                       if odd(0.1) else f"[{rng.choice([2, 3, 4])}]"
                       for _ in range(rng.choice([0, 0, 1, 1, 2, 3])))
        init = ""
        if rng.random() < 0.6:
            one = lambda: rng.choice(values) if odd(0.3) else str(rng.randrange(100))  # noqa: E731
            items = lambda n: "{" + ", ".join(one() for _ in range(n)) + "}"  # noqa: E731
            init = " = " + rng.choice([one(), items(1), items(2), items(4),
                                       "{" + items(2) + ", " + items(2) + "}", "{}",
                                       "{{" + items(1) + "}}", "{1, 2"])
        out.add(f"{link}.{space} {extra}{align}{vector}.{kind} v#{dims}{init};")
    return sorted(out)


def body_declarations(count):
    """The same inside a body, each in a scope of its own."""
    rng = random.Random("body declarations")
    out = set()
    while len(out) < count:
        space = rng.choice(["reg"] * 4 + ["local", "shared", "param", "const", "global", "tex"])
        align = rng.choice(["", "", f".align {rng.choice([1, 2, 4, 8, 16, 3, 0])} "])
        vector = rng.choice([""] * 4 + [".v2 ", ".v4 ", ".v8 "])
        kind = rng.choice(TYPES)
        name = rng.choice(["w", "%w", "$w", "_w", "w, w2"])
        if rng.random() < 0.3:
            name = rng.choice(["w<4>", "%w<2>", "w<0>", "w, w", "3w", "w<-1>", "%tid", "w<2", "%", "_",
                               "w<4>[2]", "WARP_SZ", "w.x"])
        dims = rng.choice(["", "", "", "[4]", "[2][3]"]) if rng.random() < 0.9 \
            else rng.choice(["[]", "[0]", "[-1]"])
        init = rng.choice([" = 1", " = {1, 2}"]) if rng.random() < 0.05 else ""
        link = rng.choice([""] * 8 + [".extern ", ".visible "])
        out.add(f"{{ {link}.{space} {align}{vector}.{kind} {name}{dims}{init}; }}")
    return sorted(out)
