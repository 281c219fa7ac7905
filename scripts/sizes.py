"""Report files over 400 lines and functions over 40. Signposts, not walls: only twice the size fails."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

FILE_LINES, FUNCTION_LINES = 400, 40


def main() -> int:
    failed = False
    for path in sorted(Path("src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > FILE_LINES:
            print(f"{path}: {lines} lines, of {FILE_LINES}")
            failed |= lines > 2 * FILE_LINES
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES:
                    print(f"{path}:{node.lineno} {node.name}: {length} lines, of {FUNCTION_LINES}")
                    failed |= length > 2 * FUNCTION_LINES
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
