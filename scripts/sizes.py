"""Print the size of the source beside its budget, and the files and functions that are long.

A change that makes the core larger says what it pays with. A file over 700 lines or a function over 80 fails.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCE = Path("src/orienteer")
ANNEXES = ("lab", "connect")
WINGS = ("reading", "retrieval/matching", "cypher/algebra", "ingest/tables", "ingest/formats", "ingest/documents")
"""Parts of the core that are about to be replaced, and are counted apart."""
BUDGETS = {"all of src": (108_000, 540), "the core without the wings": (56_000, None)}  # lines, files
FILE_LINES, FUNCTION_LINES = 600, 60  # reported from here on
MOST_FILE_LINES, MOST_FUNCTION_LINES = 700, 80  # failures from here on


def main() -> int:
    """Return 1 if a file or a function is too long, else 0."""
    failed = False
    lines: dict[str, int] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(SOURCE).as_posix()
        lines[name] = text.count("\n")
        if lines[name] > FILE_LINES:
            print(f"{path}: {lines[name]} lines, of {FILE_LINES}")
            failed |= lines[name] > MOST_FILE_LINES
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # The parameters of a command are its options, and no part of what it does.
                length = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
                if length > FUNCTION_LINES:
                    print(f"{path}:{node.lineno} {node.name}: {length} lines, of {FUNCTION_LINES}")
                    failed |= length > MOST_FUNCTION_LINES
    core = [name for name in lines if not name.startswith(tuple(f"{folder}/" for folder in (*ANNEXES, *WINGS)))]
    for part, names in (("all of src", list(lines)), ("the core without the wings", core)):
        most_lines, most_files = BUDGETS[part]
        total = sum(lines[name] for name in names)
        files = f", {len(names)} files" + (f" (budget {most_files})" if most_files else "")
        print(f"{part}: {total:,} lines (budget {most_lines:,}){files}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
