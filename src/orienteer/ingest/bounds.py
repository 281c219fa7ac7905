"""Bounds against malicious files: every reader counts while it reads, so that a few kilobytes never fill the memory.

There is a bound on the size of a record, on the ratio of unpacked to packed bytes, and on the depth of nested values.
Each is far above real data, and a file that exceeds one is refused with a remedy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from orienteer.errors import BadInput
from orienteer.records import Record

MOST_RECORD = 1 << 26
"""Bytes of one record: a line, a row, a value, a text in XML. A whole encyclopaedia in one cell is smaller."""
MOST_RATIO = 200
"""Unpacked bytes for each packed byte. Tables and triples reach 10 to 60 by gzip, whose own limit is 1,032."""
SMALL = MOST_RECORD
"""Unpacked bytes of any file, whatever its ratio."""
MOST_HELD = 1 << 24
"""Bytes of rows after which a batch is passed on, however few rows it has."""
DEEPEST = 100
"""Levels of nested values. Real data has fewer than ten."""
LONGEST_IRI = 1 << 13
"""Characters of an XML namespace, which is repeated in every name; browsers allow 2,000."""


def check_readable(*paths: Path) -> None:
    """Raise `BadInput` for a pipe or a device: reading a pipe without a writer would never end."""
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BadInput(f"{path} is a pipe or a device: write what it gives to a file, and name that")


def check_ratio(path: object, taken: int, unpacked: int, *, remedy: str) -> None:
    """Raise `BadInput` if the first `taken` bytes of a file unpacked to too many bytes."""
    if unpacked > SMALL and unpacked > MOST_RATIO * taken:
        raise BadInput(
            f"{path} comes to more than {MOST_RATIO} times its size "
            f"({unpacked >> 20:,} MB of {taken:,} bytes): {remedy}"
        )


def too_long(path: object, place: str, what: str = "record") -> BadInput:
    """Return the error for a record that is too large."""
    return BadInput(f"{path}, {place}: a {what} of more than {MOST_RECORD >> 20} MB; part it, or leave it out")


@contextmanager
def memory_told(path: object) -> Iterator[None]:
    """Translate the errors of Python and its libraries for too much memory, and for values nested too deeply."""
    try:
        yield
    except MemoryError as error:
        raise BadInput(
            f"{path} needs more memory than there is: part the file, or read it on a larger machine"
        ) from error
    except RecursionError as error:
        raise BadInput(f"{path}: values in values without end; write the file again, flatter") from error


def parsed(text: str | bytes) -> Any:  # Any: JSON
    """Return the value of a JSON text. Raises `ValueError` for broken JSON, and for values nested too deeply."""
    try:
        value = from_json(text)
    except (ValueError, TypeError):  # which tells less of the place, and takes no halves of letters
        try:
            value = json.loads(text)
        except RecursionError as error:
            raise ValueError(_TOO_DEEP) from error
    count = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if count > DEEPEST and is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


_TOO_DEEP = f"more than {DEEPEST} values within values"


def is_deep(value: Any) -> bool:  # Any: JSON
    """Return whether values are nested too deeply; a loop over levels, for recursion would fail."""
    level = [value] if isinstance(value, dict | list | tuple) else []
    for _ in range(DEEPEST + 1):
        members = (member for outer in level for member in (outer.values() if isinstance(outer, dict) else outer))
        level = [member for member in members if isinstance(member, dict | list | tuple)]
    return bool(level)


# The skipped files of a folder by reason, for reports, the graph's provenance and first answers.


NAMED = 2
"""Files that a line names."""
KEPT = 20
"""Files of each reason that a graph names; the others are counted."""
SHOWN = 5
"""Files that a line names on demand."""
MOST_LINES = 8
"""Reasons that are reported without demand."""


class SkippedFile(Record):
    """A file that was not read."""

    file: str
    reason: str


class SkippedGroup(NamedTuple):
    """The files that were skipped for one reason."""

    reason: str
    number: int
    files: list[str]
    """The first of them, relative to the given folder."""


def grouped(files: Iterable[SkippedFile], roots: Sequence[Path], *, kept: int | None = KEPT) -> list[SkippedGroup]:
    """Return files by reason, in the order of the reasons; `kept` names of each, all for None."""
    by_reason: dict[str, list[str]] = {}
    for file in files:
        by_reason.setdefault(file.reason, []).append(_relative(file.file, roots))
    return [SkippedGroup(reason, len(names), sorted(names)[:kept]) for reason, names in by_reason.items()]


def _relative(file: str, roots: Sequence[Path]) -> str:
    """Return a path relative to the given folder that has it, if any."""
    path = Path(file)
    root = next((root for root in roots if path != root and path.is_relative_to(root)), None)
    return path.relative_to(root).as_posix() if root is not None else file if len(roots) != 1 else path.name or file


def lines(groups: Sequence[SkippedGroup], *, most: int | None = MOST_LINES, named: int | None = NAMED) -> list[str]:
    """Return a line for each reason, names first: `not read: logo.png, photo.jpg and 12 more: pictures`."""
    texts = []
    for group in groups[:most]:
        names = group.files[:named]
        more = group.number - len(names)
        texts.append(f"not read: {', '.join(names)}{f' and {more:,} more' if more else ''}: {group.reason}")
    rest = groups[len(texts) :]
    if rest:
        texts.append(f"not read: {sum(group.number for group in rest):,} more, for {len(rest):,} other reasons")
    return texts
