"""How much of a file may come of little: every reader keeps these bounds, and counts while it reads.

Files are other people's. What comes of one is bounded by its own size, so that a few kilobytes fill no machine: by
the largest record where a format has records, by the ratio of text to bytes where it is packed, by the depth where
values nest. Each bound is far above what anybody writes, and a file that passes one is refused with a remedy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from orienteer.errors import BadInput

MOST_RECORD = 1 << 26
"""Bytes of one record: a line, a row, a value, a text in XML. A whole encyclopaedia in one cell has fewer."""
MOST_RATIO = 200
"""Bytes that one packed byte may come to. Tables and triples reach 10 to 60 by gzip; its own limit is 1,032."""
SMALL = MOST_RECORD
"""Bytes that any file may come to, whatever its ratio: as many as one record."""
MOST_HELD = 1 << 24
"""Bytes of rows that a batch waits for before it is handed on, however few they are."""
DEEPEST = 100
"""Values within values. What is written by hand or by a program with a purpose has fewer than ten."""
LONGEST_IRI = 1 << 13
"""Characters of an XML namespace, which every name of an element then has; browsers end at 2,000."""


def check_readable(*paths: Path) -> None:
    """Raise `BadInput` for a pipe or a device: a pipe that nobody writes to would be waited for without end."""
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BadInput(f"{path} is a pipe or a device: write what it gives to a file, and name that")


def check_ratio(path: object, taken: int, unpacked: int, *, remedy: str) -> None:
    """Raise `BadInput` if a file has unpacked to too many bytes, given how many of its bytes were taken."""
    if unpacked > SMALL and unpacked > MOST_RATIO * taken:
        raise BadInput(
            f"{path} comes to more than {MOST_RATIO} times its size "
            f"({unpacked >> 20:,} MB of {taken:,} bytes): {remedy}"
        )


def too_long(path: object, place: str, what: str = "record") -> BadInput:
    """Return the error for a record that is larger than any may be."""
    return BadInput(f"{path}, {place}: a {what} of more than {MOST_RECORD >> 20} MB; part it, or leave it out")


@contextmanager
def memory_told(path: object) -> Iterator[None]:
    """Turn what Python and its libraries raise where a file takes too much memory, or nests too deeply, into ours."""
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
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    count = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if count > DEEPEST and is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


_TOO_DEEP = f"more than {DEEPEST} values within values"


def is_deep(value: Any) -> bool:  # Any: JSON
    """Say whether a value nests deeper than any may. Level by level: nothing here calls itself."""
    level = [value] if isinstance(value, dict | list | tuple) else []
    for _ in range(DEEPEST + 1):
        members = (member for outer in level for member in (outer.values() if isinstance(outer, dict) else outer))
        level = [member for member in members if isinstance(member, dict | list | tuple)]
    return bool(level)


# The files of a folder that were not read, by reason: what a report, a graph and a first answer say of them.


NAMED = 2
"""Files that a line names."""
KEPT = 20
"""Files of each reason that a graph names; it counts the others."""
SHOWN = 5
"""Files that a line names where somebody asks what was not read."""
MOST_LINES = 8
"""Reasons that are told without being asked for."""


class LeftOut(Protocol):
    """A file that was not read."""

    @property
    def file(self) -> str:
        """Return its path."""

    @property
    def reason(self) -> str:
        """Return why it was not read."""


class SkippedGroup(NamedTuple):
    """The files that were not read for one reason."""

    reason: str
    number: int
    files: list[str]
    """The first of them, beneath the folder that was named."""


def grouped(files: Iterable[LeftOut], roots: Sequence[Path], *, kept: int | None = KEPT) -> list[SkippedGroup]:
    """Return files by reason, in the order in which the reasons come; `kept` names of each, all for None."""
    by_reason: dict[str, list[str]] = {}
    for file in files:
        by_reason.setdefault(file.reason, []).append(_beneath(file.file, roots))
    return [SkippedGroup(reason, len(names), sorted(names)[:kept]) for reason, names in by_reason.items()]


def _beneath(file: str, roots: Sequence[Path]) -> str:
    """Return a path beneath the folder that was named, if it lies in one."""
    path = Path(file)
    root = next((root for root in roots if path != root and path.is_relative_to(root)), None)
    return path.relative_to(root).as_posix() if root is not None else file if len(roots) != 1 else path.name or file


def lines(groups: Sequence[SkippedGroup], *, most: int | None = MOST_LINES, named: int | None = NAMED) -> list[str]:
    """Return a line a reason, names first: `not read: logo.png, photo.jpg and 12 more: pictures`."""
    told = [f"not read: {_names(group, named)}: {group.reason}" for group in groups[:most]]
    rest = groups[len(told) :]
    if rest:
        told.append(f"not read: {sum(group.number for group in rest):,} more, for {len(rest):,} other reasons")
    return told


def _names(group: SkippedGroup, named: int | None) -> str:
    names = group.files[:named]
    more = group.number - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")
