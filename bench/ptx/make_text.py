"""Makes one large PTX module out of PTX files: their functions again and again under new names, until
the text has the size asked for. What library authors ship looks like this (cuBLAS carries 82 MB).

Usage: make_text.py MEGABYTES OUT FILE.ptx ...
"""
import re
import sys
from pathlib import Path

NAME = re.compile(r"[A-Za-z_$%][\w$]*")
DEFINED = re.compile(r"^(?:\.(?:visible|extern|weak|common|entry|func|global|const|shared|align \d+|"
                     r"attribute\(\.managed\)|[bsuf]\d+|\([^)]*\)|v[24])\s+)+([A-Za-z_$][\w$]*)", re.M)


def pieces(text):
    """The module's body as alternating plain text and names that must differ from copy to copy."""
    body = text[re.search(r"^\.address_size 64\s*$", text, re.M).end():]
    body = re.split(r"^\s*\.section", body, flags=re.M)[0]
    body = re.sub(r"^\s*\.file\s+.*$", "", body, flags=re.M)
    names = set(DEFINED.findall(body)) - {"vprintf", "__assertfail", "malloc", "free"}
    out, at = [], 0
    for match in NAME.finditer(body):
        if match[0] in names:
            out.append(body[at:match.start()])
            out.append(match[0])
            at = match.end()
    return out + [body[at:]]


def main(megabytes, out, files):
    modules = [pieces(Path(f).read_text()) for f in files]
    with open(out, "w") as file:
        size = file.write('.version 9.0\n.target sm_90\n.address_size 64\n.file 1 "a.cu"\n')
        copy = 0
        while size < megabytes * 1e6:
            for n, module in enumerate(modules):
                suffix = f"_{n}_{copy}"
                size += file.write("".join(p if i % 2 == 0 else p + suffix
                                           for i, p in enumerate(module)))
            copy += 1
    print(f"{out}: {size / 1e6:.1f} MB, {copy} copies of {len(files)} files")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], sys.argv[3:])
