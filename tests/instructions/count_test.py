"""How listings are counted and differences shown, on texts written by hand."""
import sys
import tempfile
import unittest
from pathlib import Path

import count
import form_kernels
import listing


def listed(*instructions, name="limen_kernel"):
    """objdump's lines of one function, one byte an instruction."""
    return [f"0000000000000000 <{name}>:",
            *(f"{at:8x}:\t{text}" for at, text in enumerate(instructions))]


class Listing(unittest.TestCase):
    def counts(self, *instructions):
        return listing.count(listed(*instructions), with_loops=True).text()

    def test_straight_code_has_no_loop(self):
        self.assertEqual(self.counts("push   %rbp", "call   5 <limen_kernel+0x5>", "ret"), "total 3")

    def test_padding_is_not_counted(self):
        self.assertEqual(self.counts("inc    %eax", "nopw   0x0(%rax,%rax,1)", "data16 cs nopw 0x0(%rax)",
                                     "nop", "xchg   %ax,%ax", "ret"), "total 2")

    def test_an_exchange_of_registers_is_counted(self):
        self.assertEqual(self.counts("xchg   %rax,%rbx", "ret"), "total 2")

    def test_a_loop_is_from_its_header_to_its_last_jump(self):
        self.assertEqual(self.counts("xor    %eax,%eax", "inc    %eax", "cmp    $0x5,%eax",
                                     "jne    1 <limen_kernel+0x1>", "ret"), "total 5; inner 3")

    def test_a_loop_around_another_has_what_is_in_it(self):
        self.assertEqual(self.counts("xor    %eax,%eax", "inc    %ebx", "inc    %ecx",
                                     "jne    2 <limen_kernel+0x2>", "dec    %ebx",
                                     "jne    1 <limen_kernel+0x1>", "ret"),
                         "total 7; inner 2; outer 5")

    def test_a_part_of_a_loop_that_lies_elsewhere_belongs_to_it(self):
        self.assertEqual(self.counts("xor    %eax,%eax", "jne    5 <limen_kernel+0x5>", "dec    %eax",
                                     "jne    1 <limen_kernel+0x1>", "ret", "inc    %eax", "inc    %eax",
                                     "jmp    2 <limen_kernel+0x2>"), "total 8; inner 6")

    def test_loops_of_one_size_are_told_together(self):
        one = lambda at: ("dec    %eax", f"jne    {at:x} <limen_kernel+0x{at:x}>")
        self.assertEqual(self.counts(*one(0), *one(2), "ret"), "total 5; inner 2*2")

    def test_jumps_through_a_table_make_loops(self):
        # Two tables of two entries; the second starts at 8.
        relocations = ["RELOCATION RECORDS FOR [.text]:",
                       "0000000000000001 R_X86_64_PC32     .rodata-0x0000000000000004",
                       "0000000000000002 R_X86_64_PC32     .rodata+0x0000000000000004",
                       "RELOCATION RECORDS FOR [.rodata]:",
                       "0000000000000000 R_X86_64_PC32     .text+0x0000000000000003",
                       "0000000000000004 R_X86_64_PC32     .text+0x0000000000000009",
                       "0000000000000008 R_X86_64_PC32     .text+0x0000000000000003",
                       "000000000000000c R_X86_64_PC32     .text+0x0000000000000009"]
        tables = listing.jump_tables(relocations)
        self.assertEqual(tables, {3, 5})
        code = listed("push   %rbp", "inc    %eax", "jmp    *%rax", "inc    %ebx",
                      "jmp    1 <limen_kernel+0x1>", "ret")
        self.assertEqual(listing.count(code, True, tables).text(), "total 6; inner 4")

    def test_a_jump_through_an_unknown_table_is_refused(self):
        with self.assertRaisesRegex(ValueError, "jmp"):
            self.counts("jmp    *%rax")

    def test_every_function_of_a_file_counts(self):
        lines = listed("inc    %eax", "jmp    0 <region0>", "ud2", name="region0") + [""]
        lines += listed("inc    %eax", "ret")
        self.assertEqual(listing.count(lines, with_loops=True).text(), "total 5; region0 3; inner 2")
        self.assertEqual(listing.count(lines, with_loops=False).total, 5)


class Goldens(unittest.TestCase):
    def test_differences_say_form_old_and_new(self):
        text = "\n".join(count.differences({"a": "1  2", "b": "3", "c": "4"}, {"a": "1  5", "c": "4", "d": "6"}))
        self.assertEqual(text, "  a\n    old: 1 2\n    new: 1 5\n  b\n    gone: 3\n  d\n    new: 6")

    def test_what_is_written_is_read(self):
        for part in count.PARTS:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "a.txt")
                path.write_text("# LLVM 19.1\n" + count.golden_line(part, "x: add.u32 d, a, b", "    1     2"))
                head, rows = count.read_golden(part, path)
            self.assertEqual(count.versions_of(head), {"LLVM": "19.1"})
            self.assertEqual(rows, {"x: add.u32 d, a, b": "    1     2"})


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = form_kernels.kernels()

    def test_a_form_is_shown_by_its_plainest_case(self):
        names = {name for _, name, _, _ in self.kernels}
        for name in ("add.f32 d, a, b", "lop3.b32 d, a, b, c, 0xe8", "mul.lo.u32 d, a, b"):
            self.assertIn(name, names)

    def test_names_are_unique(self):
        names = [f"{family}: {name}" for family, name, _, _ in self.kernels]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    sys.exit(unittest.main())
