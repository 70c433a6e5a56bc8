"""Cases of the golden tests that are no single plain instruction of a row: chains through the carry
flag, moves that pack and unpack, byte selectors and masks of the video instructions.

Each case is a dictionary of the fields of golden_cases.Case.
"""

CARRY_OPS = {"add.cc", "sub.cc", "mad.cc", "addc", "subc", "madc"}


def replaces(form):
    """True for forms whose cases are made here alone: they read or write the carry flag."""
    return form.row.name in ("addc", "subc", "madc") or any(
        token == ("tok", "cc") for slot in form.slots if not slot.optional for token in slot.tokens)


def case(text, outs, ins, tuples=0, note=""):
    return {"text": text, "outs": outs, "ins": ins, "tuples": tuples, "note": note}


def carry_cases():
    """Result and flag of each; the flag goes in by an addition or subtraction that makes it."""
    carry_in = {"add": "add.cc.u32 t_in, cin, -1", "sub": "sub.cc.u32 t_in, 0, cin"}
    carry_out = {"add": "addc.u32 e, 0, 0", "sub": "subc.u32 e, 0, 0"}
    for width in ("32", "64"):
        cls, reg = "i" + width, "b" + width
        ab, abc = [("a", cls), ("b", cls)], [("a", cls), ("b", cls), ("c", cls)]
        outs = [("d", reg), ("e", "b32")]
        for sign in "us":
            t = sign + width
            for op, other in (("add", "sub"), ("sub", "add")):
                yield case(f"{op}.cc.{t} d, a, b; {carry_out[op]}", outs, ab)
                yield case(f"{op}.cc.{t} d, a, b; {carry_out[other]}", outs, ab)
                for cin in ("add", "sub"):
                    head = f".reg .b32 t_in; {carry_in[cin]}; "
                    yield case(f"{head}{op}c.{t} d, a, b", outs[:1], ab + [("cin", "carry")])
                    yield case(f"{head}{op}c.cc.{t} d, a, b; {carry_out[op]}", outs,
                               ab + [("cin", "carry")])
            for mode in ("lo", "hi"):
                yield case(f"mad.{mode}.cc.{t} d, a, b, c; {carry_out['add']}", outs, abc)
                head = f".reg .b32 t_in; {carry_in['add']}; "
                yield case(f"{head}madc.{mode}.{t} d, a, b, c", outs[:1], abc + [("cin", "carry")])
                yield case(f"{head}madc.{mode}.cc.{t} d, a, b, c; {carry_out['add']}", outs,
                           abc + [("cin", "carry")])


def immediate_cases():
    """Counts that are known when the kernel is compiled, at and over the width."""
    i16, i32, i64 = [("a", "i16")], [("a", "i32")], [("a", "i64")]
    for t, ins, reg, counts in (("b16", i16, "b16", (0, 1, 15, 16, 17, 32, 255)),
                                ("b32", i32, "b32", (0, 1, 31, 32, 33, 64, 256)),
                                ("b64", i64, "b64", (0, 1, 63, 64, 65, 128, 256))):
        for count in counts:
            yield case(f"shl.{t} d, a, {count}", [("d", reg)], ins, 128)
            for kind in (t, "u" + t[1:], "s" + t[1:]):
                yield case(f"shr.{kind} d, a, {count}", [("d", reg)], ins, 128)
    for count in (0, 1, 31, 32, 33, 63, 64, 255):
        for way in ("l.clamp", "l.wrap", "r.clamp", "r.wrap"):
            yield case(f"shf.{way}.b32 d, a, b, {count}", [("d", "b32")], i32 + [("b", "i32")], 128)
    for selector in ("0x3210", "0x7654", "0x0123", "0xfedc", "0x9810", "0xffff4321"):
        yield case(f"prmt.b32 d, a, b, {selector}", [("d", "b32")], i32 + [("b", "i32")], 128)


def field_cases():
    for t, ins, reg, wide in (("32", [("a", "i32")], "b32", "i32"), ("64", [("a", "i64")], "b64", "i64")):
        for at, length in ((0, 0), (0, 1), (0, 32), (0, 64), (3, 5), (31, 1), (31, 2), (32, 1), (63, 1),
                           (63, 2), (64, 3), (255, 255), (5, 255), (256, 257)):
            for sign in "us":
                yield case(f"bfe.{sign}{t} d, a, {at}, {length}", [("d", reg)], ins, 128)
            yield case(f"bfi.b{t} d, a, b, {at}, {length}", [("d", reg)], ins + [("b", wide)], 128)


def move_cases():
    for t, cls, reg in (("u16", "i16", "b16"), ("s16", "i16", "b16"), ("b16", "i16", "b16"),
                        ("u32", "i32", "b32"), ("s32", "i32", "b32"), ("b32", "i32", "b32"),
                        ("u64", "i64", "b64"), ("s64", "i64", "b64"), ("b64", "i64", "b64"),
                        ("f32", "f32", "f32"), ("f64", "f64", "f64"), ("b32", "f32", "b32"),
                        ("b64", "f64", "b64"), ("pred", "pred", "pred")):
        yield case(f"mov.{t} d, a", [("d", reg)], [("a", cls)], note="" if cls[0] != "f" else cls)
    i16, i32, i64 = "i16", "i32", "i64"
    yield case("mov.b32 d, {a, b}", [("d", "b32")], [("a", i16), ("b", i16)])
    yield case("mov.b64 d, {a, b}", [("d", "b64")], [("a", i32), ("b", i32)])
    yield case("mov.b64 d, {a, b, c, e}", [("d", "b64")],
               [("a", i16), ("b", i16), ("c", i16), ("e", i16)])
    yield case("mov.b32 {d, e}, a", [("d", "b16"), ("e", "b16")], [("a", i32)])
    yield case("mov.b64 {d, e}, a", [("d", "b32"), ("e", "b32")], [("a", i64)])
    yield case("mov.b64 {d, e, f, g}, a",
               [("d", "b16"), ("e", "b16"), ("f", "b16"), ("g", "b16")], [("a", i64)])
    yield case("mov.b64 {d, e}, a", [("d", "f32"), ("e", "f32")], [("a", "f64")], note="f32, f64")
    yield case("mov.b64 d, {a, b}", [("d", "f64")], [("a", "f32"), ("b", "f32")], note="f64, f32")
    yield case(".reg .b128 q; mov.b128 q, {a, b}; mov.b128 {e, d}, q", [("d", "b64"), ("e", "b64")],
               [("a", i64), ("b", i64)])
    yield case(".reg .b8 x, y; mov.b16 {x, y}, a; mov.b16 d, {y, x}", [("d", "b16")], [("a", i16)])
    yield case(".reg .b8 x, y, z, w; mov.b32 {x, y, z, w}, a; mov.b32 d, {w, z, x, y}", [("d", "b32")],
               [("a", i32)])


def video_cases():
    abc = [("a", "i32"), ("b", "i32"), ("c", "i32")]
    d = [("d", "b32")]
    selectors = ["b0", "b1", "b2", "b3", "h0", "h1"]
    types = [f"{x}32.{y}32.{z}32" for x in "us" for y in "us" for z in "us"]
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr"):
        shift = op in ("vshl", "vshr")
        for n, t in enumerate(types):
            if shift and not t.endswith("u32"):
                continue
            mode = (".clamp", ".wrap")[n // 2 % 2] if shift else ""
            for k, s in enumerate(selectors):
                u = selectors[(k + n + 1) % 6]
                sat = (".sat", "")[(k + n) % 2]
                second = ".add .min .max".split()[(k + n) % 3]
                yield case(f"{op}.{t}{sat}{mode} d, a.{s}, b.{u}", d, abc[:2])
                yield case(f"{op}.{t}{sat}{mode} d.{s}, a.{u}, b, c", d, abc)
                yield case(f"{op}.{t}{sat}{mode}{second} d, a, b.{s}, c", d, abc)
    for n, t in enumerate(types):
        for k, s in enumerate(selectors):
            u = selectors[(k + n + 1) % 6]
            scale = ("", ".shr7", ".shr15")[(k + n) % 3]
            sat = (".sat", "")[(k + n) // 2 % 2]
            yield case(f"vmad.{t}{sat}{scale} d, a.{s}, b.{u}, c", d, abc)
            yield case(f"vmad.{t}{sat}{scale} d, -a.{s}, b, c", d, abc)
            yield case(f"vmad.{t}{sat}{scale} d, a, -b.{u}, c", d, abc)
            yield case(f"vmad.{t}{sat}{scale} d, a.{u}, b.{s}, -c", d, abc)
    for n, cmp in enumerate("eq ne lt le gt ge".split()):
        for m, t in enumerate(("u32.u32", "s32.u32", "u32.s32", "s32.s32")):
            s, u = selectors[(n + m) % 6], selectors[(n + 2 * m + 1) % 6]
            yield case(f"vset.{t}.{cmp} d, a.{s}, b.{u}", d, abc[:2])
            yield case(f"vset.{t}.{cmp} d.{u}, a.{s}, b, c", d, abc)
            yield case(f"vset.{t}.{cmp}.max d, a, b.{s}, c", d, abc)
    yield from mixed_video_cases(types)
    yield from simd_cases(types)


def mixed_video_cases(types):
    """What the others leave out: .po with selectors, op2 with both selectors, constants, saturation of a
    wide part into a narrow one."""
    abc = [("a", "i32"), ("b", "i32"), ("c", "i32")]
    d = [("d", "b32")]
    selectors = ["b0", "b1", "b2", "b3", "h0", "h1"]
    for n, t in enumerate(types):
        s, u = selectors[n % 6], selectors[(n + 2) % 6]
        for k, sat in enumerate(("", ".sat")):
            yield case(f"vmad.{t}.po{sat}{('', '.shr7', '.shr15')[(n + k) % 3]} d, a.{s}, b.{u}, c", d, abc)
            yield case(f"vmad.{t}{sat} d, -a, -b.{u}, c", d, abc)
            yield case(f"vmad.{t}{sat}.shr7 d, a, -3, c", d, [abc[0], abc[2]])
            for m, op in enumerate(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr")):
                shift = op in ("vshl", "vshr")
                if shift and not t.endswith("u32"):
                    continue
                mode = (".clamp", ".wrap")[(n + k) % 2] if shift else ""
                second = ".add .min .max".split()[(n + m) % 3]
                yield case(f"{op}.{t}{sat}{mode}{second} d, a.{s}, b.{u}, c", d, abc)
                yield case(f"{op}.{t}{sat}{mode} d.{('b0', 'b3', 'h1')[(n + m) % 3]}, a.h1, b.b0, c", d, abc)
                yield case(f"{op}.{t}{sat}{mode} d.h1, a, 3, c", d, [abc[0], abc[2]])


def simd_cases(types):
    abc = [("a", "i32"), ("b", "i32"), ("c", "i32")]
    d = [("d", "b32")]
    masks = {2: ["h0", "h1", "h10"], 4: ["b0", "b1", "b2", "b3", "b10", "b21", "b310", "b3210", "b32"]}
    picks = {2: ["h10", "h01", "h32", "h23", "h20", "h13", "h00"],
             4: ["b3210", "b7654", "b0123", "b6420", "b7531", "b0000", "b5140"]}
    for lanes in (2, 4):
        for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"):
            for n, t in enumerate(types):
                if op == "vset":
                    t = t[4:] + "." + "eq ne lt le gt ge".split()[n % 6]
                for k, pick in enumerate(picks[lanes]):
                    mask = masks[lanes][(k + n) % len(masks[lanes])]
                    other = picks[lanes][(k + n + 2) % 7]
                    sat = (".sat", ".add", "")[(k + n) % 3]
                    if op == "vset" and sat == ".sat":
                        sat = ""
                    yield case(f"{op}{lanes}.{t}{sat} d.{mask}, a.{pick}, b.{other}, c", d, abc)


def cases(model, family):
    if family == "integer":
        yield from carry_cases()
        yield from field_cases()
    elif family == "logic":
        yield from immediate_cases()
    elif family == "convert":
        yield from move_cases()
    elif family == "video":
        yield from video_cases()
