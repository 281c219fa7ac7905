"""The instructions of a pickle, looked over and written anew before Python's unpickler sees any of them.

`pickletools.genops` reads them and carries nothing out. A first pass refuses every instruction that no pickle of plain
values needs (they make instances, or belong to the text protocol), every length beyond the end of the file and every
huge integer; it notes which values are referred to later. A second pass writes the same instructions once more:

    EMPTY_DICT, EMPTY_SET      calls of our own classes, so that the file never chooses what is hashed
    FROZENSET                  TUPLE, for the same reason
    BINPUT, MEMOIZE            left out where nothing refers to the value; else numbered in turn, for the unpickler
                               makes room for as many values as the highest number says
    PROTO, FRAME               left out: each part becomes one frame of its own
"""

from __future__ import annotations

import mmap
import pickletools
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias, cast

Data: TypeAlias = bytes | mmap.mmap
MOST_INTEGER_BITS = 512
"""No counter has more."""
OWN_CLASSES = b"K\x00Qq\x00K\x01Qq\x01."
"""A pickle that puts our classes of dictionaries and sets, which are persistent values 0 and 1, under 0 and 1."""
_FIRST = 2

_LATEST = 5
_GETS = frozenset(("BINGET", "LONG_BINGET"))
_PUTS = frozenset(("BINPUT", "LONG_BINPUT", "MEMOIZE"))
_NUMBERS = frozenset(("LONG1", "LONG4"))
_SETS = frozenset(("SETITEM", "SETITEMS"))
_REPLACED: Mapping[str, bytes] = {
    "EMPTY_DICT": b"h\x00)R",
    "EMPTY_SET": b"h\x01)R",
    "FROZENSET": b"t",
    "PROTO": b"",
    "FRAME": b"",
}
_COPIED = frozenset((
    "MARK", "STOP", "POP", "POP_MARK", "DUP", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "BINFLOAT",
    "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2",
    "TUPLE3", "ADDITEMS", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "BINPERSID",
))  # fmt: skip
ALLOWED = _GETS | _PUTS | _NUMBERS | _SETS | _COPIED | _REPLACED.keys()
"""Names of the instructions that are read, as `pickletools` has them."""


def references(pickled: Data) -> set[int]:
    """Return the numbers of the values that are referred to. Raises `ValueError` for an instruction that is not read.

    Every instruction of the file is looked at, up to STOP.
    """
    numbers: set[int] = set()
    argument: Any  # an integer, a text or bytes, as the instruction has it
    for instruction, argument, place in _instructions(pickled):
        name = instruction.name
        if name in _GETS:
            numbers.add(argument)
        elif name not in ALLOWED:
            old = ", of the text protocol," if not instruction.proto else ""
            raise ValueError(f"byte {place}: the instruction {name}{old}")
        elif name in _NUMBERS and argument.bit_length() > MOST_INTEGER_BITS:
            raise ValueError(f"byte {place}: an integer of {argument.bit_length():,} bits")
        elif name == "PROTO" and argument > _LATEST:
            raise ValueError(f"byte {place}: protocol {argument}")
    return numbers


def _instructions(pickled: Data) -> Iterator[tuple[pickletools.OpcodeInfo, Any, int]]:
    """Return each instruction with its argument and its place; a mapped file is read as any file."""
    if not isinstance(pickled, bytes):
        pickled.seek(0)
    instructions = pickletools.genops(cast(bytes, pickled))
    return cast(Iterator[tuple[pickletools.OpcodeInfo, Any, int]], instructions)


def _effect(instruction: pickletools.OpcodeInfo) -> int:
    """Return how many values an instruction adds, not counting those above the mark that it removes."""
    before, after = instruction.stack_before, instruction.stack_after
    if pickletools.markobject in before:
        return len(after) - before.index(pickletools.markobject)
    return len(after) - len(before) - after.count(pickletools.markobject)


_EFFECTS = {instruction.name: _effect(instruction) for instruction in pickletools.opcodes}
_TO_MARK = frozenset(
    instruction.name for instruction in pickletools.opcodes if pickletools.markobject in instruction.stack_before
)


def parts(pickled: Data, referred: Collection[int], *, is_streamed: bool) -> Iterator[bytes]:
    """Write the instructions of a pickle anew: as one pickle, or as one for each batch of a dictionary's members.

    Raises `ValueError` if the file holds no value, or several. The values on the stack are counted on the way: a
    batch ends where only the dictionary is left. After a file's nonsense the count is any number, and the unpickler
    finds the nonsense.
    """
    puts, gets = _renumbered(referred)
    written, copied, memoized, place = bytearray(), 0, 0, 0
    depth, marks, is_batch = 0, [0], False
    for instruction, argument, place in _instructions(pickled):
        if copied < 0:  # the instruction before this one was replaced
            copied = place
        if is_batch:
            yield _framed(written + pickled[copied:place])
            written, copied, is_batch = bytearray(_REPLACED["EMPTY_DICT"]), place, False
        name = instruction.name
        if name in _PUTS:
            new: bytes | None = puts.get(memoized if argument is None else argument, b"")
            memoized += 1
        else:
            new = gets[argument] if name in _GETS else _REPLACED.get(name)
            if name == "MARK":
                marks.append(depth)
            depth = (marks.pop() if name in _TO_MARK and marks else depth) + _EFFECTS[name]
            is_batch = is_streamed and depth == 1 and name in _SETS
        if new is not None:
            written += pickled[copied:place]
            written += new
            copied = -1
    if depth:
        raise ValueError(f"{depth + 1} values where one is expected")
    yield _framed(written + pickled[copied:place])


def _renumbered(referred: Collection[int]) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return the instructions that note each value that is referred to, and those that take it out again."""
    numbers = {old: new for new, old in enumerate(sorted(referred), _FIRST)}
    puts = {old: b"r" + struct.pack("<I", new) for old, new in numbers.items()}
    gets = {old: b"h" + bytes([new]) if new < 256 else b"j" + struct.pack("<I", new) for old, new in numbers.items()}
    return puts, gets


def _framed(written: bytes | bytearray) -> bytes:
    return b"\x95" + struct.pack("<Q", len(written) + 1) + written + b"."
