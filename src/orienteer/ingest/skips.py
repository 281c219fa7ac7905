"""The files of a folder that were not read, by reason: what a report, a graph and a first answer say of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

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
