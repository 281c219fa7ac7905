"""The difference of two texts as a unified diff, quick in files of any size: what is alike at both ends is skipped."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from os.path import commonprefix

_CONTEXT = 3
_WIDTH = 600
"""Characters that are shown of a line; files that programs write may be one line of a megabyte."""


def difference(name: str, old: str | None, new: str | None) -> list[str]:
    """Return the lines of a unified diff; None stands for no file. A line that is too long is cut at both ends."""
    before, after = _lines(old), _lines(new)
    same = _same_at_start(before, after)
    tail = _same_at_start(before[same:][::-1], after[same:][::-1])
    first = max(0, same - _CONTEXT)
    olds, news = (lines[first : len(lines) - max(0, tail - _CONTEXT)] for lines in (before, after))
    shown = [f"--- {name if old is not None else 'no file'}", f"+++ {name if new is not None else 'no file'}"]
    for group in SequenceMatcher(None, olds, news, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, old_begin, _, new_begin, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        shown.append(f"@@ -{_range(first, old_begin, old_end)} +{_range(first, new_begin, new_end)} @@")
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                shown += [f" {_cut(line, 0)}" for line in olds[i1:i2]]
                continue
            at = len(commonprefix([olds[i1], news[j1]])) if i1 < i2 and j1 < j2 else 0
            shown += [f"-{_cut(line, at)}" for line in olds[i1:i2]]
            shown += [f"+{_cut(line, at)}" for line in news[j1:j2]]
    return shown


def _lines(text: str | None) -> list[str]:
    """Return the lines of a text; the last says so where nothing ends it."""
    if not text:
        return []
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _same_at_start(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many lines two texts begin with alike."""
    return next(
        (place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        min(len(before), len(after)),
    )


def _range(first: int, begin: int, end: int) -> str:
    """Return a range of lines as a hunk's heading has it: the first line, from 1, and how many there are."""
    return f"{first + begin + (end > begin)},{end - begin}"


def _cut(line: str, at: int) -> str:
    """Return a line, of a long one what stands about a place."""
    if len(line) <= _WIDTH:
        return line
    begin = max(0, min(at - _WIDTH // 6, len(line) - _WIDTH))
    end = begin + _WIDTH
    return f"{'…' if begin else ''}{line[begin:end]}{'…' if end < len(line) else ''}"
