"""The head of a GGUF file, as far as it is needed: whose model it is, and how much it reads at once.

The file may be anyone's. Nothing of it is run here, lengths are held to bounds, and values that are not asked for are
passed over without being kept. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from orienteer.errors import BadInput

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_ENTRIES = 10_000  # some files have a hundred
_LONGEST_TEXT = 1 << 20  # bytes; a chat template has a few thousand
_MOST_MEMBERS = 1 << 22  # of a list: the largest vocabularies have 256,000 words
_STRING, _LIST = 8, 9
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The format's number of each simple type, and how `struct` spells it."""


class GgufHead(NamedTuple):
    """What a file says of its model."""

    architecture: str
    context_tokens: int


def read_head(path: Path) -> GgufHead:
    """Return what a GGUF file says of its model.

    Raises `BadInput` where there is no such file, where it is none of this format, or where it lacks one of these.
    """
    if not path.is_file():
        raise BadInput(f"there is no file {path}: name one that ends in .gguf", paths=[path])
    wanted = {"general.architecture": None, "context_length": None}
    found: dict[str, str | int | float] = {}
    try:
        with path.open("rb") as file:
            for _ in range(_count_of(file)):
                key, value = _text(file), _value(file)
                name = "context_length" if key.endswith(".context_length") else key
                if name in wanted and value is not None:
                    found[name] = value
                if len(found) == len(wanted):
                    break
    except (OSError, struct.error, ValueError) as error:
        raise BadInput(f"{path} cannot be read as a model in GGUF: {error}", paths=[path]) from error
    architecture, context = found.get("general.architecture"), found.get("context_length")
    if not isinstance(architecture, str) or not isinstance(context, int) or context < 1:
        told = f"{path} does not say how much its model reads at once: it is no language model in GGUF"
        raise BadInput(told, paths=[path])
    return GgufHead(architecture, context)


def _count_of(file: BinaryIO) -> int:
    """Return how many entries follow. Raises `ValueError`."""
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin as one")
    version, _tensors, entries = struct.unpack("<IQQ", file.read(20))
    if version not in _VERSIONS:
        raise ValueError(f"it is of version {version}, and {' and '.join(map(str, _VERSIONS))} are read")
    if entries > _MOST_ENTRIES:
        raise ValueError(f"it has {entries:,} entries, more than any")
    return int(entries)


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST_TEXT:
        raise ValueError(f"a text of it has {length:,} bytes, more than any")
    content = file.read(length)
    if len(content) < length:
        raise ValueError("it ends within a text")
    return content.decode("utf-8", "replace")


def _value(file: BinaryIO) -> str | int | float | None:
    """Return a value; None for a list, which is passed over."""
    (kind,) = struct.unpack("<I", file.read(4))
    if kind == _STRING:
        return _text(file)
    if kind == _LIST:
        _pass_over(file)
        return None
    number: int | float = struct.unpack(f"<{_spelled(kind)}", file.read(struct.calcsize(f"<{_spelled(kind)}")))[0]
    return number


def _pass_over(file: BinaryIO) -> None:
    kind, members = struct.unpack("<IQ", file.read(12))
    if members > _MOST_MEMBERS:
        raise ValueError(f"a list of it has {members:,} members, more than any")
    if kind != _STRING:
        file.seek(members * struct.calcsize(f"<{_spelled(kind)}"), 1)
        return
    for _ in range(members):
        (length,) = struct.unpack("<Q", file.read(8))
        if length > _LONGEST_TEXT:
            raise ValueError(f"a text of it has {length:,} bytes, more than any")
        file.seek(length, 1)


def _spelled(kind: int) -> str:
    if kind not in _NUMBERS:
        raise ValueError(f"a value of it is of type {kind}, which is none")
    return _NUMBERS[kind]
