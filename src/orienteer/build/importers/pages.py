"""The headers of a Parquet file's pages: what each unpacks to, which the file's directory may tell otherwise.

Headers are structures of Thrift in its compact protocol: fields by number, each with its type, lengths and whole
numbers as varints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from orienteer.errors import BadInput

UNPACKED, PACKED = 2, 3
"""Fields of a header: the bytes of its page, and as many as they are in the file."""
DATA, DATA_V2 = 5, 8
"""Fields of a header that hold what is told of a page of values."""
VALUES = 1
"""The field of those that says how many values there are."""
DEEPEST = 8
"""Structures within structures; a header has two."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _TEXT, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_LONG_LIST = 15

Fields: TypeAlias = Mapping[int, Any]  # Any: a number, a structure of fields, None of anything else


class Page(NamedTuple):
    """A page as its header has it."""

    unpacked: int
    values: int


def pages(data: Any, start: int, length: int) -> Iterator[Page]:  # Any: bytes, or a file mapped
    """Return the pages of a column chunk. Raises `BadInput` where a header is none."""
    reader = _Reader(data, start)
    end = min(start + length, len(data))
    while reader.at < end:
        try:
            header = reader.structure()
            packed, unpacked = header[PACKED], header[UNPACKED]
        except (IndexError, KeyError, TypeError) as error:
            raise BadInput(f"the page at byte {reader.at:,} has no whole header") from error
        if packed < 0 or unpacked < 0:
            raise BadInput(f"the page at byte {reader.at:,} has a size below 0")
        told = header.get(DATA) or header.get(DATA_V2) or {}
        yield Page(unpacked, told.get(VALUES) or 0)
        reader.at += packed


class _Reader:
    def __init__(self, data: Any, at: int) -> None:
        self._data, self.at = data, at
        whole: Callable[[int], int] = lambda depth: self._zigzag()  # noqa: E731 (a row of the table)
        self._read: Mapping[int, Callable[[int], Any]] = {
            _TRUE: lambda depth: None,
            _FALSE: lambda depth: None,
            _BYTE: lambda depth: self._pass(1),
            **dict.fromkeys((4, 5, 6), whole),
            _DOUBLE: lambda depth: self._pass(8),
            _TEXT: lambda depth: self._pass(self._varint()),
            _LIST: self._list,
            _SET: self._list,
            _MAP: self._map,
            _STRUCT: self.structure,
        }

    def structure(self, depth: int = 0) -> Fields:
        """Read a structure. Raises `IndexError`, `KeyError` or `TypeError` where there is none."""
        if depth > DEEPEST:
            raise KeyError(depth)
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            found[number] = self._read[head & 15](depth + 1)
        return found

    def _byte(self) -> int:
        self.at += 1
        return int(self._data[self.at - 1])

    def _varint(self) -> int:
        value = shift = 0
        while (part := self._byte()) > 127:
            value |= (part & 127) << shift
            shift += 7
            if shift > 63:
                raise KeyError(shift)
        return value | part << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _pass(self, count: int) -> None:
        self.at += count

    def _list(self, depth: int) -> None:
        head = self._byte()
        count = self._varint() if head >> 4 == _LONG_LIST else head >> 4
        self._members((head & 15,), count, depth)

    def _map(self, depth: int) -> None:
        if count := self._varint():
            kinds = self._byte()
            self._members((kinds >> 4, kinds & 15), count, depth)

    def _members(self, kinds: tuple[int, ...], count: int, depth: int) -> None:
        for _ in range(count):
            for kind in kinds:
                self._read[_BYTE if kind in (_TRUE, _FALSE) else kind](depth + 1)  # in a list a truth is a byte
            if self.at > len(self._data):  # a length may lead out of the file
                raise IndexError(self.at)
