"""Reads objdump's listings: how many instructions a file holds, and how many each of its loops.

Padding (nops) is not counted: it depends on addresses. Loops are natural loops of the control flow
graph, whatever the order of the blocks; jumps through tables go to every place that a table of their
function names. Knows nothing of PTX, goldens or how objects come about.
"""
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field

FILE = re.compile(r"^(.*):\s+file format elf64-x86-64$")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
TARGET = re.compile(r"^(?:notrack )?(j\w+)\s+(?:0x)?([0-9a-f]+)\b")
INDIRECT = re.compile(r"^(?:notrack )?jmp\s+\*")
# Entries of a table of jumps in .rodata hold the way from the table's start; the linker adds it up
# from where the entry lies. The code takes the start's address.
ENTRY = re.compile(r"^([0-9a-f]+) R_X86_64_PC32\s+\.text\+0x([0-9a-f]+)$")
TABLE = re.compile(r"R_X86_64_PC32\s+\.rodata(?:([+-])0x([0-9a-f]+))?$")
# What a PC-relative operand at an instruction's end subtracts: its own size.
OPERAND = 4
PADDING = re.compile(r"\bnop[wl]?\b|^xchg\s+%ax,%ax$")
ENTRY_SYMBOL = "limen_kernel"
# Files of one call of objdump: its start costs more than a listing.
FILES_A_CALL = 200


@dataclass
class Counts:
    total: int = 0
    parts: list = field(default_factory=list)  # (function, size) beside the kernel itself
    inner: Counter = field(default_factory=Counter)  # size of an innermost loop: how many there are
    outer: Counter = field(default_factory=Counter)  # of loops around others, with what is in them

    def text(self):
        words = [f"total {self.total}", *(f"{name} {size}" for name, size in self.parts)]
        for name, loops in (("inner", self.inner), ("outer", self.outer)):
            if loops:
                sizes = [f"{n}*{size}" if n > 1 else str(size)
                         for size, n in sorted(loops.items(), reverse=True)]
                words.append(f"{name} {' '.join(sizes)}")
        return "; ".join(words)


class Function:
    """One function's instructions as basic blocks."""

    def __init__(self, lines, tables=frozenset()):
        self.tables = tables & {address for address, _ in lines}
        leaders = {lines[0][0]} if lines else set()
        for i, (_, text) in enumerate(lines):
            if INDIRECT.match(text) and not self.tables:
                raise ValueError(f"no table of jumps is known for '{text}'")
            if self.ends_block(text):
                leaders |= self.targets(text)
                if i + 1 < len(lines):
                    leaders.add(lines[i + 1][0])
        self.sizes = []
        number, self.at = -1, {}
        for address, text in lines:
            if address in leaders:
                number += 1
                self.at[address] = number
                self.sizes.append(0)
            self.sizes[number] += not PADDING.search(text)
        self.next = [[] for _ in self.sizes]
        number = -1
        for i, (address, text) in enumerate(lines):
            number = self.at.get(address, number)
            last = i + 1 == len(lines) or lines[i + 1][0] in self.at
            if not last:
                continue
            ways = [self.at[t] for t in sorted(self.targets(text)) if t in self.at]
            if i + 1 < len(lines) and not self.never_goes_on(text):
                ways.append(self.at[lines[i + 1][0]])
            self.next[number] = ways

    def targets(self, text):
        if INDIRECT.match(text):
            return self.tables
        hit = TARGET.match(text)
        return {int(hit.group(2), 16)} if hit else set()

    @staticmethod
    def ends_block(text):
        return text.startswith(("j", "ret", "ud2", "notrack j"))

    @staticmethod
    def never_goes_on(text):
        return text.startswith(("jmp", "ret", "ud2"))

    def dominators(self):
        """Immediate dominators by block, after Cooper, Harvey and Kennedy; None: not reachable."""
        order, seen, stack = [], {0}, [(0, iter(self.next[0]))]
        while stack:
            block, ways = stack[-1]
            for to in ways:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(self.next[to])))
                    break
            else:
                order.append(block)
                stack.pop()
        order.reverse()
        rank = {block: i for i, block in enumerate(order)}
        before = {block: [] for block in order}
        for block in order:
            for to in self.next[block]:
                before[to].append(block)
        above = {order[0]: order[0]}
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                found = None
                for other in before[block]:
                    if other not in above:
                        continue
                    if found is None:
                        found = other
                        continue
                    a, b = other, found
                    while a != b:
                        while rank[a] > rank[b]:
                            a = above[a]
                        while rank[b] > rank[a]:
                            b = above[b]
                    found = a
                if above.get(block) != found:
                    above[block] = found
                    changed = True
        return above, before

    def loops(self):
        """Blocks of each natural loop, by its header."""
        if not self.sizes:
            return {}
        above, before = self.dominators()

        def dominates(a, b):
            while b != a and above[b] != b:
                b = above[b]
            return a == b

        found = {}
        for block in above:
            for header in self.next[block]:
                if not dominates(header, block):
                    continue
                members = found.setdefault(header, {header})
                work = [block]
                while work:
                    at = work.pop()
                    if at not in members:
                        members.add(at)
                        work += before[at]
        return found


def jump_tables(lines):
    """Places that the tables of jumps of one file name, from its relocations."""
    section, entries, starts = "", [], {0}
    for line in lines:
        if line.startswith("RELOCATION RECORDS FOR"):
            section = line
        elif "[.rodata]" in section and (hit := ENTRY.match(line)):
            entries.append((int(hit.group(1), 16), int(hit.group(2), 16)))
        elif "[.text]" in section and (hit := TABLE.search(line)):
            way = int(hit.group(2) or "0", 16) * (-1 if hit.group(1) == "-" else 1)
            starts.add(way + OPERAND)
    return frozenset(to - (at - max(s for s in starts if s <= at)) for at, to in entries)


def count(lines, with_loops, tables=frozenset()):
    """Counts of one file's listing; `tables`: of jump_tables."""
    counts, functions = Counts(), []
    for line in lines:
        if FUNCTION.match(line):
            functions.append((FUNCTION.match(line).group(1), []))
        elif (hit := INSTRUCTION.match(line)) and functions:
            functions[-1][1].append((int(hit.group(1), 16), hit.group(2).split("#")[0].strip()))
    for name, instructions in functions:
        size = sum(not PADDING.search(text) for _, text in instructions)
        counts.total += size
        if not with_loops:
            continue
        if name != ENTRY_SYMBOL:
            counts.parts.append((name, size))
        function = Function(instructions, tables)
        loops = function.loops()
        for header, blocks in loops.items():
            around = any(other != header and other in blocks for other in loops)
            size = sum(function.sizes[block] for block in blocks)
            (counts.outer if around else counts.inner)[size] += 1
    return counts


def dump(objdump, options, paths):
    """What objdump says of each file, by path."""
    lines = {}
    for at in range(0, len(paths), FILES_A_CALL):
        command = [objdump, *options, *map(str, paths[at:at + FILES_A_CALL])]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            if hit := FILE.match(line):
                lines[hit.group(1)] = own = []
            elif lines:
                own.append(line)
    return lines


def count_files(objdump, paths, with_loops):
    """Counts by path."""
    listings = dump(objdump, ["-d", "-w", "--no-show-raw-insn"], paths)
    relocations = dump(objdump, ["-r"], paths) if with_loops else {}
    found = {path: count(lines, with_loops, jump_tables(relocations.get(path, [])))
             for path, lines in listings.items()}
    if missing := [str(p) for p in paths if not found.get(str(p), Counts()).total]:
        raise ValueError(f"objdump shows no instruction in {missing[0]}")
    return found
