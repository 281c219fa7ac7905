"""Python's pickles, read without unpickling: a file that comes from somebody else can run nothing here.

A pickle is a program for a small stack machine whose instructions may import and call anything. This machine knows
the instructions that build plain values, and of all the objects of the world numpy's arrays and scalars, ordered
dictionaries, sets, and what a caller names besides (the storages of torch). Nothing is ever imported, looked up or
called by a name that a file gives; every other name, and every instruction that makes or changes instances, is an
error that says what was refused.

Sizes are compared with what is left of the file before anything is made, what has no use later is forgotten (a first
pass notes what is referred to), and values that refer to one another in circles, or that would unfold to much more
than the file holds, are refused. The opcodes are those of Python's `pickletools`, protocols 2 to 5.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from orienteer.ingest.benchmarks.opcodes import (
    BINGET,
    GLOBAL,
    LENGTHS,
    LONG_BINGET,
    MARK,
    MEMOIZE,
    SHORT_TEXT,
    STOP,
    refused,
)
from orienteer.ingest.benchmarks.pickled import (
    CALLS,
    MOST_UNFOLDED,
    Array,
    Call,
    Calls,
    Members,
    Named,
    Plain,
    Refused,
    Type,
    key_of,
    members,
)
from orienteer.ingest.bounds import memory_told
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.table import shown
from orienteer.records import JsonValue

Data: TypeAlias = bytes | mmap.mmap
LONGEST_INTEGER = 64
"""Bytes. Nothing has counters of more."""


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    require(path)
    with memory_told(path), path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def load(path: Path) -> JsonValue:
    """Return the value that a pickle holds, as JSON has it: tuples, sets and arrays as lists, keys as text.

    Raises `BadInput` for anything but plain values and numpy's, and for a file that is not whole.
    """
    with _mapped(path) as data:
        return Plain(len(data), path).of(value(data, file=path))


def items(path: Path) -> Iterator[tuple[str, JsonValue]]:
    """Return the members of the one dictionary that a pickle holds, one at a time, as JSON has them.

    Memory holds one member at a time, and what several refer to. Raises `BadInput` as `load` does, while it is read.
    """
    with _mapped(path) as data:
        machine = _Machine(data, CALLS, file=path, is_streamed=True)
        plain = Plain(len(data), path)
        for key, found in machine.run():
            yield str(plain.of(key)), plain.of(found)


def value(data: Data, *, file: object, calls: Calls | None = None, persistent: Call | None = None) -> Any:
    """Return the value of a pickle in memory; `calls` are further names that it may use. Raises `BadInput`."""
    machine = _Machine(data, {**CALLS, **(calls or {})}, file=file, persistent=persistent)
    for _ in machine.run():
        raise AssertionError  # only a streamed machine gives anything before its end
    return machine.result


class _Top(dict[Any, Any]):
    """The outermost dictionary of a streamed pickle, whose members are handed on."""


_MARK = Named(("", "mark"))


class _Machine:
    """Runs one pickle. `run` gives the outermost dictionary's members as they come where it is streamed."""

    def __init__(
        self, data: Data, calls: Calls, *, file: object, persistent: Call | None = None, is_streamed: bool = False
    ) -> None:
        self._data, self._calls, self._file, self._persistent = data, calls, file, persistent
        self._is_streamed = is_streamed
        self._at = 0
        self._kept = self._referred()
        self._memo: dict[int, Any] = {}
        self._memoized = 0
        self._left = MOST_UNFOLDED * len(data) + 1000
        self._stack: list[Any] = []
        self._pairs: list[tuple[Any, Any]] = []
        self.result: Any = None
        self._steps = {ord(code) if isinstance(code, str) else code: step for code, step in _STEPS.items()}

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for what is not read."""
        raise Refused(
            f"{self._file}, byte {self._at}: {what} in a pickle; only plain values, numpy's and torch's arrays are "
            "read, and nothing was run. If you trust the file, write it again as JSON or Parquet."
        )

    def run(self) -> Iterator[tuple[Any, Any]]:
        """Run to the end."""
        try:
            while self._go():
                if self._pairs:
                    yield from self._pairs
                    self._pairs = []
        except (ValueError, TypeError, OverflowError) as error:
            self.refuse(str(error))
        except (IndexError, struct.error):
            self.refuse("an instruction without its values")
        if len(self._stack) != 1 or (self._is_streamed and not isinstance(self._stack[0], _Top)):
            self.refuse("something else than one dictionary" if self._is_streamed else "more than one value")
        self.result = self._stack[0]

    def _go(self) -> bool:
        """Run up to the next members of the outermost dictionary; False at the end.

        The four commonest instructions are carried out here: they are nine of ten, and there may be 10^9 of them.
        """
        data, stack, memo, kept, steps = self._data, self._stack, self._memo, self._kept, self._steps
        at = self._at
        while (code := data[at]) != STOP:
            if code == BINGET and data[at + 1] in memo:
                stack.append(memo[data[at + 1]])
                at += 2
            elif code == MEMOIZE:
                if self._memoized in kept:
                    memo[self._memoized] = stack[-1]
                self._memoized += 1
                at += 1
            elif code == MARK:
                stack.append(_MARK)
                at += 1
            elif code == SHORT_TEXT and (end := at + 2 + data[at + 1]) < len(data):
                stack.append(data[at + 2 : end].decode("utf-8", "replace"))
                at = end
            else:
                self._at = at + 1
                steps[code](self)
                at = self._at
                if self._pairs:
                    return True
        self._at = at
        return False

    def _referred(self) -> set[int]:
        """Look over the whole file once: return the numbers that are referred to, refuse instructions not known."""
        data, end, lengths = self._data, len(self._data), LENGTHS
        found: set[int] = set()
        at = 0
        while at < end:
            length = lengths[data[at]]
            if length > 0:
                at += length
            elif length < 0:
                at += 1 - length + int.from_bytes(data[at + 1 : at + 1 - length], "little")
            elif data[at] == BINGET:
                found.update(data[at + 1 : at + 2])
                at += 2
            elif data[at] == LONG_BINGET:
                found.add(int.from_bytes(data[at + 1 : at + 5], "little"))
                at += 5
            elif data[at] == GLOBAL:
                at = self._past_names(at)
            elif data[at] == STOP:
                self._at = 0
                return found
            else:
                self._at = at
                self.refuse(refused(data[at]))
        self._at = end
        return self.refuse("no last instruction (is the file cut short?)")

    def _past_names(self, at: int) -> int:
        """Return where the instruction after one with two lines begins."""
        self._at = at
        for _ in range(2):
            at = self._data.find(b"\n", at + 1)
            if at < 0:
                self.refuse("a name without an end")
        return at + 1

    # ---- values

    def _take(self, width: int) -> bytes:
        begin = self._at
        self._at = begin + width
        if self._at > len(self._data):
            self.refuse("a value longer than the file")
        return self._data[begin : self._at]

    def _sized(self, width: int) -> bytes:
        return self._take(int.from_bytes(self._take(width), "little"))

    def _integer(self, width: int) -> int:
        raw = self._sized(width)
        if len(raw) > LONGEST_INTEGER:
            self.refuse(f"an integer of {len(raw)} bytes")
        return int.from_bytes(raw, "little", signed=True)

    def _line(self) -> str:
        end = self._data.find(b"\n", self._at)
        text = self._data[self._at : end].decode("utf-8", "replace")
        self._at = end + 1
        return text

    def _marked(self) -> list[Any]:
        """Return what stands above the last mark, and take both away."""
        stack = self._stack
        for place in range(len(stack) - 1, -1, -1):
            if stack[place] is _MARK:
                above = stack[place + 1 :]
                del stack[place:]
                return above
        return self.refuse("values without a mark")

    # ---- containers

    def _new_dict(self) -> None:
        is_top = self._is_streamed and not self._stack
        self._stack.append(_Top() if is_top else {})

    def _dictionary(self) -> None:
        above = self._marked()
        self._stack.append({})
        self._put(above)

    def _append(self, found: Sequence[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, list):
            self.refuse("members of something that is no list")
        target.extend(found)

    def _put(self, flat: Sequence[Any]) -> None:
        """Put keys and values, in turn, into the dictionary below them."""
        target = self._stack[-1]
        if not isinstance(target, dict) or isinstance(target, Members) or len(flat) % 2:
            self.refuse("members of something that is no dictionary")
        pairs = [(key_of(key), one) for key, one in zip(flat[::2], flat[1::2], strict=True)]
        if isinstance(target, _Top):
            self._pairs = pairs
        else:
            target.update(pairs)

    def _add(self, found: Sequence[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, Members):
            self.refuse("members of something that is no set")
        target.update(members(found))

    def _tuple(self, size: int) -> None:
        stack = self._stack
        if len(stack) < size or any(one is _MARK for one in stack[-size:]):
            self.refuse("an instruction without its values")
        stack[-size:] = [tuple(stack[-size:])]

    # ---- references

    def _memoize(self, number: int) -> None:
        self._memoized += 1
        if number in self._kept:
            self._memo[number] = self._stack[-1]

    def _recall(self, number: int) -> None:
        if number not in self._memo:
            self.refuse("a reference to nothing")
        self._stack.append(self._memo[number])

    # ---- names and calls

    def _name(self, module: object, name: object) -> None:
        known = (str(module), str(name))
        if known not in self._calls:
            self.refuse(f"the name {shown(f'{module}.{name}')}")
        self._stack.append(Named(known))

    def _global(self) -> None:
        module = self._line()
        self._name(module, self._line())

    def _stack_global(self) -> None:
        name = self._stack.pop()
        self._name(self._stack.pop(), name)

    def _reduce(self) -> None:
        arguments = self._stack.pop()
        named = self._stack.pop()
        if not isinstance(named, Named) or named is _MARK or not isinstance(arguments, tuple):
            self.refuse("a call of something that has no name")
        self._stack.append(self._calls[named.name](*arguments))
        self._charge(self._stack[-1])

    def _charge(self, made: Any) -> None:
        """Count what a call has made: a few bytes can call again and again for a copy of something large."""
        copied = made.values if isinstance(made, Array) else made
        self._left -= len(copied) if isinstance(copied, list | dict | bytes) else 0
        if self._left < 0:
            self.refuse("values without end")

    def _build(self) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        if not isinstance(target, Type | Array) or not isinstance(state, tuple):
            self.refuse(f"a state for an object of the type {type(target).__name__}")
        target.build(state)
        self._charge(target)

    def _persistent_id(self) -> None:
        if self._persistent is None:
            self.refuse("a value that lies outside the file")
        self._stack.append(self._persistent(self._stack.pop()))

    def _protocol(self) -> None:
        number = self._take(1)[0]
        if number > 5:
            self.refuse(f"protocol {number}")


Step: TypeAlias = Callable[[_Machine], None]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")  # Python writes lone surrogates, which no graph can hold


_STEPS: Mapping[str | int, Step] = {
    "0": lambda m: _void(m._stack.pop()),
    "1": lambda m: _void(m._marked()),
    "2": lambda m: m._stack.append(m._stack[-1]),
    "N": lambda m: m._stack.append(None),
    0x88: lambda m: m._stack.append(True),
    0x89: lambda m: m._stack.append(False),
    "K": lambda m: m._stack.append(m._take(1)[0]),
    "M": lambda m: m._stack.append(int.from_bytes(m._take(2), "little")),
    "J": lambda m: m._stack.append(int.from_bytes(m._take(4), "little", signed=True)),
    "G": lambda m: m._stack.append(struct.unpack(">d", m._take(8))[0]),
    0x8A: lambda m: m._stack.append(m._integer(1)),
    0x8B: lambda m: m._stack.append(m._integer(4)),
    0x8C: lambda m: m._stack.append(_text(m._sized(1))),
    "X": lambda m: m._stack.append(_text(m._sized(4))),
    0x8D: lambda m: m._stack.append(_text(m._sized(8))),
    "U": lambda m: m._stack.append(m._sized(1).decode("latin1")),
    "T": lambda m: m._stack.append(m._sized(4).decode("latin1")),
    "C": lambda m: m._stack.append(m._sized(1)),
    "B": lambda m: m._stack.append(m._sized(4)),
    0x8E: lambda m: m._stack.append(m._sized(8)),
    0x96: lambda m: m._stack.append(m._sized(8)),
    "]": lambda m: m._stack.append([]),
    ")": lambda m: m._stack.append(()),
    "}": _Machine._new_dict,
    0x8F: lambda m: m._stack.append(Members()),
    "a": lambda m: m._append([m._stack.pop()]),
    "e": lambda m: m._append(m._marked()),
    "l": lambda m: m._stack.append(m._marked()),
    "t": lambda m: m._stack.append(tuple(m._marked())),
    0x85: lambda m: m._tuple(1),
    0x86: lambda m: m._tuple(2),
    0x87: lambda m: m._tuple(3),
    "s": lambda m: m._put([m._stack.pop(-2), m._stack.pop()]),
    "u": lambda m: m._put(m._marked()),
    "d": _Machine._dictionary,
    0x90: lambda m: m._add(m._marked()),
    0x91: lambda m: m._stack.append(members(m._marked())),
    "q": lambda m: m._memoize(m._take(1)[0]),
    "r": lambda m: m._memoize(int.from_bytes(m._take(4), "little")),
    "h": lambda m: m._recall(m._take(1)[0]),
    "j": lambda m: m._recall(int.from_bytes(m._take(4), "little")),
    "c": _Machine._global,
    0x93: _Machine._stack_global,
    "R": _Machine._reduce,
    "b": _Machine._build,
    "Q": _Machine._persistent_id,
    0x80: _Machine._protocol,
    0x95: lambda m: _void(m._take(8)),
}


def _void(*values: object) -> None:
    """Take values that nobody wants."""
