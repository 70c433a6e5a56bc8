"""One kernel for each PTX form: it loads the operands, has the instruction, stores the results.

The per-lane forms are those of gen/golden_cases.py, each with one of its cases: the plainest (fewest
words, 32 bits where there is a choice). Forms of memory, atomics, warps and matrices have no cases
there: MORE has the usual ones by hand.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))

import golden_cases  # noqa: E402
import ptx_model  # noqa: E402

A, B, C, L, F, P = (("a", "i32"), ("b", "i32"), ("c", "i32"), ("l", "i64"), ("f", "f32"), ("p", "pred"))
D, D2, E, E2, G, Q = (("d", "b32"), ("d2", "b32"), ("e", "b64"), ("e2", "b64"), ("g", "f32"), ("q", "pred"))
# Operands and results lie in shared memory: of an address there the compiler knows all, so that a
# kernel holds little but its instruction. A thread has a place in each column of 8 bytes a thread.
THREADS = 128
COLUMN_BYTES = 8 * THREADS
OUT = 8 * COLUMN_BYTES
OPENING = """.visible .entry {name}(.param .u64 in)
{{
  .shared .align 16 .b8 places[16384];
  .reg .b32 tx, place, tx2, tx4, tx8, in1, in2, in4, in8;
  mov.u32 tx, %tid.x; mov.u32 place, places; shl.b32 tx2, tx, 1; shl.b32 tx4, tx, 2;
  shl.b32 tx8, tx, 3; add.u32 in1, place, tx; add.u32 in2, place, tx2; add.u32 in4, place, tx4;
  add.u32 in8, place, tx8;
"""


def own(bytes_each):
    """`own`: the address of a thread's own place in global memory."""
    return (".reg .b64 all, own, ix; ld.param.u64 all, [in]; "
            f"mul.wide.u32 ix, tx, {bytes_each}; add.u64 own, all, ix; ")


# `at`: a thread's own place in shared memory. `any` and `far`: places in shared and in global memory
# whose index is loaded.
AT = (".shared .align 16 .b32 s[512]; .reg .b32 at, sb, tx16; shl.b32 tx16, tx, 4; mov.u32 sb, s;"
      " add.u32 at, sb, tx16; ")
ANY = (".shared .align 16 .b32 s[512]; .reg .b32 any, sb, i, ix; and.b32 i, c, 127; shl.b32 ix, i, 4;"
       " mov.u32 sb, s; add.u32 any, sb, ix; ")
FAR = (".reg .b64 all, far, ix; mul.wide.u32 ix, c, 16; ld.param.u64 all, [in]; add.u64 far, all, ix; ")
QUAD = ".reg .b32 w<4>; mov.b32 w0, a; mov.b32 w1, b; mov.b32 w2, c; mov.b32 w3, a; "


def X(register):
    return [(f"x{i}", register) for i in range(4)]


# Family, what stands before the instruction (not part of its name), instruction, inputs, results.
MORE = [
    ("memory", own(1), "ld.global.u8 d, [own]", [], [D]),
    ("memory", own(2), "ld.global.b16 h, [own]", [], [("h", "b16")]),
    ("memory", own(4), "ld.global.b32 d, [own]", [], [D]),
    ("memory", own(8), "ld.global.b64 e, [own]", [], [E]),
    ("memory", own(8), "ld.global.v2.b32 {d, d2}, [own]", [], [D, D2]),
    ("memory", own(4), "ld.volatile.global.b32 d, [own]", [], [D]),
    ("memory", own(4), "ld.relaxed.gpu.global.b32 d, [own]", [], [D]),
    ("memory", own(4), "ld.b32 d, [own]", [], [D]),
    ("memory", FAR, "ld.global.b32 d, [far]", [C], [D]),
    ("memory", FAR, "ld.global.b64 e, [far]", [C], [E]),
    ("memory", FAR, "ld.global.v2.b64 {e, e2}, [far]", [C], [E, E2]),
    ("memory", FAR, "ld.global.u8 d, [far]", [C], [D]),
    ("memory", own(4), "st.global.b32 [own], a", [A], []),
    ("memory", own(8), "st.global.b64 [own], l", [L], []),
    ("memory", FAR, "st.global.b32 [far], a", [A, C], []),
    ("memory", FAR, "st.global.u8 [far], a", [A, C], []),
    ("memory", own(4), "@p ld.global.b32 d, [own]", [P], [D]),
    ("memory", own(4), "@p st.global.b32 [own], a", [A, P], []),
    ("memory", FAR, "@p st.global.b32 [far], a", [A, C, P], []),
    ("memory", AT, "ld.shared.b32 d, [at]", [], [D]),
    ("memory", AT, "st.shared.b32 [at], a", [A], []),
    ("memory", AT + QUAD, "st.shared.v4.b32 [at], {w0, w1, w2, w3}", [A, B, C], []),
    ("memory", ANY, "ld.shared.b32 d, [any]", [C], [D]),
    ("memory", ANY, "st.shared.b32 [any], a", [A, C], []),
    ("atomic", own(4), "atom.global.add.u32 d, [own], a", [A], [D]),
    ("atomic", FAR, "atom.global.add.u32 d, [far], a", [A, C], [D]),
    ("atomic", FAR, "atom.global.add.f32 g, [far], f", [F, C], [G]),
    ("atomic", FAR, "atom.global.cas.b32 d, [far], a, b", [A, B, C], [D]),
    ("atomic", FAR, "atom.global.exch.b64 e, [far], l", [L, C], [E]),
    ("atomic", FAR, "atom.global.max.s32 d, [far], a", [A, C], [D]),
    ("atomic", FAR, "atom.global.inc.u32 d, [far], a", [A, C], [D]),
    ("atomic", FAR, "red.global.add.u32 [far], a", [A, C], []),
    ("atomic", FAR, "red.global.add.f32 [far], f", [F, C], []),
    ("atomic", AT, "atom.shared.add.u32 d, [at], a", [A], [D]),
    ("atomic", ANY, "atom.shared.add.u32 d, [any], a", [A, C], [D]),
    ("atomic", ANY, "red.shared.add.u32 [any], a", [A, C], []),
    ("warp", "", "shfl.sync.idx.b32 d, a, b, 31, -1", [A, B], [D]),
    ("warp", "", "shfl.sync.idx.b32 d, a, 0, 31, -1", [A], [D]),
    ("warp", "", "shfl.sync.idx.b32 d|q, a, b, c, -1", [A, B, C], [D, Q]),
    ("warp", "", "shfl.sync.up.b32 d|q, a, 1, 0, -1", [A], [D, Q]),
    ("warp", "", "shfl.sync.down.b32 d, a, 16, 31, -1", [A], [D]),
    ("warp", "", "shfl.sync.bfly.b32 d, a, 1, 31, -1", [A], [D]),
    ("warp", "", "vote.sync.ballot.b32 d, p, -1", [P], [D]),
    ("warp", "", "vote.sync.any.pred q, p, -1", [P], [Q]),
    ("warp", "", "vote.sync.all.pred q, p, -1", [P], [Q]),
    ("warp", "", "match.any.sync.b32 d, a, -1", [A], [D]),
    ("warp", "", "match.all.sync.b32 d|q, a, -1", [A], [D, Q]),
    ("warp", "", "redux.sync.add.s32 d, a, -1", [A], [D]),
    ("warp", "", "redux.sync.min.u32 d, a, -1", [A], [D]),
    ("warp", "", "elect.sync d|q, -1", [], [D, Q]),
    ("warp", "", "activemask.b32 d", [], [D]),
    ("sync", "", "bar.sync 0", [], []),
    ("sync", "", "barrier.sync.aligned 0, 64", [], []),
    ("sync", "", "bar.red.popc.u32 d, 0, p", [P], [D]),
    ("sync", "", "bar.warp.sync -1", [], []),
    ("sync", "", "membar.gl", [], []),
    ("sync", "", "fence.acq_rel.gpu", [], []),
    ("registers", "", "mov.u32 d, %laneid", [], [D]),
    ("registers", "", "mov.u32 d, %lanemask_lt", [], [D]),
    ("registers", "", "mov.u32 d, %smid", [], [D]),
    ("registers", "", "mov.u64 e, %clock64", [], [E]),
    ("memory", "", "mov.b64 e, {a, b}", [A, B], [E]),
    ("memory", "", "mov.b64 {d, d2}, l", [L], [D, D2]),
    ("memory", AT, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {x0, x1, x2, x3}, [at]", [], X("b32")),
    ("matrix", QUAD,
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {x0, x1, x2, x3}, {w0, w1, w2, w3}, {w0, w1}, "
     "{f, f, f, f}", [A, B, C, F], X("f32")),
    ("matrix", QUAD,
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {x0, x1, x2, x3}, {w0, w1, w2, w3}, {w0, w1}, "
     "{f, f, f, f}", [A, B, C, F], X("f32")),
    ("matrix", QUAD,
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {x0, x1, x2, x3}, {w0, w1, w2, w3}, {w0, w1}, "
     "{c, c, c, c}", [A, B, C], X("b32")),
]
# Of lop3's tables, one that needs all three inputs.
TABLE = "0xe8"


def plainness(case):
    """The least of a form's cases is the one that stands for it."""
    opcode, _, operands = case.text.partition(" ")
    words = opcode.split(".")
    tables = re.findall(r"\b0x[0-9a-f]+\b", operands)
    return (bool(case.note), bool(tables) and TABLE not in tables, "hi" in words,
            -len({"u32", "s32", "b32", "f32"} & set(words)), len(words), len(operands))


def kernel_text(case, name):
    text = [OPENING.format(name=name)]
    for column, (operand, cls) in enumerate(case.ins):
        text.append(in_shared(golden_cases.load_text(operand, cls, column, THREADS)))
    text += [f"  .reg .{register} {result};\n" for result, register in case.outs]
    text.append(f"  {case.text};\n")
    for column, (result, register) in enumerate(case.outs):
        stored = golden_cases.store_text(result, register, OUT + column * COLUMN_BYTES)
        text.append(in_shared(stored.replace("[out", "[in")))
    return "".join(text) + "  ret;\n}\n"


def in_shared(text):
    return text.replace("ld.global.", "ld.shared.").replace("st.global.", "st.shared.")


def chosen_cases():
    """(family, name, case) of every form that is counted."""
    model = ptx_model.load(ROOT / "spec/ptx")
    refused = golden_cases.read_refused(ROOT / "tests/golden/refused.txt")
    chosen = []
    for family in golden_cases.FAMILIES:
        forms = {}
        for case in golden_cases.all_cases(model, family):
            if case.name not in refused:
                forms.setdefault(case.form, []).append(case)
        chosen += [(family, c.name, c) for c in (min(f, key=plainness) for f in forms.values())]
    for family, before, text, ins, outs in MORE:
        chosen.append((family, text, golden_cases.Case(before + text, outs, ins)))
    return chosen


def kernels():
    """(family, name, text of the PTX entry, its name) of each of them."""
    return [(family, name, kernel_text(case, f"k{number}"), f"k{number}")
            for number, (family, name, case) in enumerate(chosen_cases())]


def module_text(entries):
    return golden_cases.HEADER + "".join(text for _, _, text, _ in entries)
