"""Prints docs/coverage/api.md: which driver functions the CPU driver has. Committed; run it with
no argument after the driver changed, or with --check to fail when the page is out of date."""
import sys

import emit_cpu_table
import model

PAGE = model.ROOT / "docs" / "coverage" / "api.md"


def render():
    functions = model.load_functions()
    found, _ = emit_cpu_table.scan()
    in_driver = [f for f in functions if f.in_table]
    whole = sum(1 for f in in_driver if found.get(f.name) == "")
    partial = sum(1 for f in in_driver if found.get(f.name))
    symbols = sum(1 for f in functions for _ in f.all_symbols())
    own = len(functions) - len(in_driver)
    lines = ["# Coverage of the driver API (CUDA 13.0)", "",
             "Printed by `gen/emit_coverage.py` from `spec/api/driver` and the definitions in",
             "`src/drivers/cpu`; do not edit. All "
             f"{symbols} symbols of {len(functions)} names are exported.", "",
             f"CPU driver: {whole} whole, {partial} partial, {len(in_driver) - whole - partial} "
             f"missing (answer 801 and say their name once); {own} answered by the loader.", ""]
    for file in sorted({f.file for f in functions}):
        rows = [f for f in functions if f.file == file]
        done = sum(1 for f in rows if f.name in found or not f.in_table)
        lines += [f"## {file} ({done} of {len(rows)})", "", "| function | state |", "|---|---|"]
        for f in rows:
            state = "loader" if not f.in_table else "missing"
            if f.in_table and f.name in found:
                state = f"partial: {found[f.name]}" if found[f.name] else "whole"
            lines.append(f"| {f.name} | {state} |")
        lines.append("")
    return "\n".join(lines)


def main():
    text = render()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != text:
            raise SystemExit("docs/coverage/api.md is out of date: run gen/emit_coverage.py")
        return
    model.write_if_changed(PAGE, text)


if __name__ == "__main__":
    main()
