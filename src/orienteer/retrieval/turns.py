"""Lists merged by turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TypeVar

_T = TypeVar("_T")


def in_turns(*lists: Iterable[_T]) -> Iterator[_T]:
    """Yield the first of each list, then the second of each, and so on; lists that have ended are passed over."""
    for turn in zip_longest(*(((item,) for item in some) for some in lists), fillvalue=()):
        for one in turn:
            yield from one


def first_of(pairs: Iterable[tuple[int, _T]], most: int) -> dict[int, _T]:
    """Return the first so many distinct rows, each with what it first came with."""
    found: dict[int, _T] = {}
    for row, one in pairs:
        if len(found) == most:
            break
        found.setdefault(row, one)
    return found
