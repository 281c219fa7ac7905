"""Operations on whole columns of cells; columns of bytes are not decoded cell by cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import NoneType
from typing import Any

import numpy as np

from orienteer.graph.edges import CodedColumn
from orienteer.index.arrays import Strings
from orienteer.ingest.tables.values import identifier

_SPACES = np.zeros(256, np.bool_)
_SPACES[[*range(33), 0xC2, 0xE1, 0xE2, 0xE3]] = True
"""Bytes with which white space may begin in UTF-8."""


def holds(column: Sequence[Any], words: Collection[str]) -> bool:  # Any: whatever a file format can hold
    """Return whether some cell of a column is one of these words."""
    if isinstance(column, CodedColumn):
        return holds(column.values, words)
    if isinstance(column, Strings):
        sizes = {len(word.encode()) for word in words}
        places = np.flatnonzero(np.isin(column.sizes, list(sizes)))
        return any(cell.decode(errors="surrogatepass") in words for cell in column.take(places))
    return not frozenset(words).isdisjoint(column)


def is_text(column: Sequence[Any]) -> bool:  # Any: whatever a file format can hold
    """Return whether all cells of a column are texts."""
    if isinstance(column, CodedColumn):
        return is_text(column.values)
    return isinstance(column, Strings) or set(map(type, column)) <= {str}


def texts_of(column: Sequence[Any]) -> Sequence[str]:  # Any: whatever a file format can hold
    """Return cells as ids are written."""
    if is_text(column):
        return column
    types = set(map(type, column))
    if types <= {int, str}:
        return list(map(str, column))
    return [cell or "" for cell in column] if types == {str, NoneType} else list(map(identifier, column))


def is_text_or_nothing(column: Sequence[Any]) -> bool:  # Any: whatever a file format can hold
    """Return whether all cells of a column are texts, or None."""
    return is_text(column) or set(map(type, column)) <= {str, type(None)}


def has_objects(column: Sequence[Any]) -> bool:  # Any: whatever a file format can hold
    """Return whether some cell of a column may be an object, also one that is written as text."""
    if isinstance(column, CodedColumn):
        return has_objects(column.values)
    if isinstance(column, Strings):
        utf8, _ = column.run(0, len(column))
        if b"{" not in utf8:
            return False
    types = set(map(type, column))
    if dict in types:
        return True
    texts = column if types == {str} else [cell for cell in column if isinstance(cell, str)]
    return "{" in "".join(texts) and any(text[:1] == "{" for text in texts)


def prefixed(column: Sequence[str], prefix: str) -> Sequence[str]:
    """Return a column of texts with something before each, but for empty ones."""
    if isinstance(column, CodedColumn):
        return CodedColumn(prefixed(column.values, prefix), column.codes)
    if not isinstance(column, Strings):
        return [f"{prefix}{cell}" if cell else "" for cell in column]
    utf8, sizes = column.run(0, len(column))
    before = np.frombuffer(prefix.encode(), np.uint8)
    ends = np.cumsum(np.where(sizes, sizes + len(before), 0))
    starts = (ends - sizes - len(before))[sizes > 0]
    places = starts[:, np.newaxis] + np.arange(len(before))  # (filled cells, bytes of the prefix)
    whole = np.empty(len(utf8) + places.size, np.uint8)
    is_own = np.ones(len(whole), np.bool_)
    is_own[places] = False
    whole[places], whole[is_own] = before, np.frombuffer(utf8, np.uint8)
    return Strings(np.concatenate([[0], ends]), whole.tobytes())


def blank_rows(column: Sequence[str]) -> set[int]:
    """Return the rows whose cell is empty or blank."""
    if isinstance(column, CodedColumn):
        blank = blank_rows(column.values)
        return {row for row, code in enumerate(column.codes.tolist()) if code in blank} if blank else blank
    if isinstance(column, Strings):
        utf8, sizes = column.run(0, len(column))
        first = np.frombuffer(utf8 + b" ", np.uint8)[np.cumsum(sizes) - sizes]
        spacious = np.flatnonzero((sizes == 0) | _SPACES[first])  # empty, or white space may come first
        return {row for row in spacious.tolist() if not column[row].strip()}
    if "" not in column and not any(map(str.isspace, column)):
        return set()
    return {row for row, cell in enumerate(column) if not cell.strip()}
