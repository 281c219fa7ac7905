"""A Parquet file's own words on what it packs: its directory, and the headers of its pages.

Both are structures of Thrift in its compact protocol: fields by number, each with its type; whole numbers and lengths
are varints. pyarrow's own view of them ends the process where a file is damaged, and tells nothing of pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

MAGIC = b"PAR1"
DEEPEST = 16
"""Structures and lists within others; a directory has about eight."""
MOST_MEMBERS = 1_000_000
"""Of one list; pyarrow's own bound."""
TEXTS = 6
"""The type of a column of texts."""
DICTIONARY = 2
"""The type of a page of values that stand once for many rows."""
REPEATED = 2
_TRUE, _TRUTHS = 1, (1, 2)
"""Types of a field that is true, or false, and has no value."""
_LONG_LIST = 15

Fields: TypeAlias = Mapping[int, Any]  # Any: a number, bytes, a structure, a list of those


class Chunk(NamedTuple):
    """A column, and where a group of rows has it."""

    path: str
    width: int
    """Bytes of a value where all have as many, else 0."""
    has_lists: bool
    is_text: bool
    start: int = 0
    packed: int = 0
    has_dictionary: bool = False


class Group(NamedTuple):
    """A group of rows."""

    rows: int
    bytes: int
    chunks: list[Chunk]


class ParquetPage(NamedTuple):
    """A page of a column, as its header has it."""

    unpacked: int
    values: int
    is_dictionary: bool


def directory(content: Any) -> list[Group]:  # Any: bytes, or a file mapped
    """Return the groups of rows of a file. Raises `ValueError` if its directory is not whole."""
    size = int.from_bytes(content[-8:-4], "little")
    if content[-4:] != MAGIC or size > len(content) - 8:
        raise ValueError("no directory at its end")
    with _whole("the directory"):
        footer = _ThriftReader(content, len(content) - 8 - size).structure()
        leaves = list(_leaves(footer[2]))
        return [
            Group(group[3], group[2], [_placed(leaf, column[3]) for column, leaf in zip(group[1], leaves, strict=True)])
            for group in footer.get(4, ())
        ]


def _placed(leaf: Chunk, fields: Fields) -> Chunk:
    start = min(fields[9], fields.get(11) or fields[9])
    if start < 0 or fields[7] < 0:
        raise KeyError(start)
    return leaf._replace(start=start, packed=fields[7])


def _leaves(schema: list[Fields]) -> Iterator[Chunk]:
    """Return the columns in order. The schema lists what holds others before these, with their number."""
    left, outer = [schema[0].get(5, 0)], [Chunk("", 0, False, False)]
    for element in schema[1:]:
        while not left[-1]:
            left.pop()
            outer.pop()
        left[-1] -= 1
        path = ".".join(filter(None, (outer[-1].path, element[4].decode())))
        has_lists = outer[-1].has_lists or element.get(3) == REPEATED
        leaf = Chunk(path, element.get(2, 0), has_lists, element.get(1) == TEXTS)
        if children := element.get(5, 0):
            left.append(children)
            outer.append(leaf)
        else:
            yield leaf


def pages(content: Any, start: int, length: int) -> Iterator[ParquetPage]:  # Any: bytes, or a file mapped
    """Return the pages of a column. Raises `ValueError` for a broken header."""
    reader = _ThriftReader(content, start)
    end = min(start + length, len(content))
    while reader.at < end:
        with _whole(f"the page at byte {reader.at:,}"):
            header = reader.structure()
            unpacked, packed = header[2], header[3]
            if packed < 0 or unpacked < 0:
                raise KeyError(packed)
            page_header = (
                header.get(5) or header.get(8) or {}
            )  # of a page of values, in the first version and the second
            page = ParquetPage(unpacked, page_header.get(1, 0), header.get(1) == DICTIONARY)
        yield page
        reader.at += packed


@contextmanager
def _whole(what: str) -> Iterator[None]:
    """Turn what reading a damaged structure raises into `ValueError`."""
    try:
        yield
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise ValueError(f"{what} is not whole") from error


class _ThriftReader:
    def __init__(self, content: Any, at: int) -> None:  # Any: bytes, or a file mapped
        self._data, self.at = content, at

    def structure(self, depth: int = 0) -> Fields:
        """Read a structure. Raises `IndexError` or `KeyError` for broken bytes."""
        if depth > DEEPEST:
            raise KeyError(depth)
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in _TRUTHS else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        """Read a value, or a member of a list, where a truth is a byte."""
        match kind:
            case 1 | 2 | 3:  # a truth, a byte
                return self._byte()
            case 4 | 5 | 6:  # a whole number
                return self._zigzag()
            case 7:  # another number
                return self._take(8)
            case 8:  # a text
                return self._take(self._varint())
            case 9 | 10:  # a list, a set
                head = self._byte()
                count = self._varint() if head >> 4 == _LONG_LIST else head >> 4
                return [self._value(head & 15, depth + 1) for _ in range(_checked(count))]
            case 11:  # a map
                count = _checked(self._varint())
                kinds = self._byte() if count else 0
                return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in range(count)]
            case 12:  # a structure
                return self.structure(depth)
        raise KeyError(kind)

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

    def _take(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self._data):
            raise IndexError(self.at)
        return bytes(self._data[self.at - count : self.at])


def _checked(count: int) -> int:
    if count > MOST_MEMBERS:
        raise KeyError(count)
    return count
