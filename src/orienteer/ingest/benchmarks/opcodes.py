"""The instructions of Python's pickles, protocols 2 to 5, as `pickletools` lists them: lengths, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

MARK, STOP, GLOBAL = b"(.c"
BINGET, LONG_BINGET, MEMOIZE, SHORT_TEXT = b"hj\x94\x8c"

_ALONE = b"015()]}NRabelstu2dQ\x85\x86\x87\x88\x89\x8f\x90\x91\x93\x94"
_FIXED: Mapping[bytes, int] = {b"Kq\x80": 1, b"M": 2, b"Jr": 4, b"G\x95": 8}
"""Instructions by the bytes that follow them."""
_SIZED: Mapping[bytes, int] = {b"\x8c\x8aCU": 1, b"X\x8bBT": 4, b"\x8d\x8e\x96": 8}
"""Instructions by the width of a length that follows them, and says how many bytes follow it."""
_NAMES = {
    ord("i"): "INST", ord("o"): "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4",
    ord("P"): "PERSID", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}  # fmt: skip
_OLD = frozenset(b"ILFSVgp")
"""Instructions of the text protocol, 0, which nothing that is read here was written in."""

LENGTHS: tuple[int, ...] = tuple(
    {
        **dict.fromkeys(range(256), 0),
        **dict.fromkeys(_ALONE, 1),
        **{code: 1 + size for codes, size in _FIXED.items() for code in codes},
        **{code: -width for codes, width in _SIZED.items() for code in codes},
    }.values()
)
"""By instruction its bytes, itself counted; less the width of a length that follows; 0 for what has to be looked at."""


def refused(code: int) -> str:
    """Say what an instruction is that is not carried out."""
    if code in _NAMES:
        return f"the instruction {_NAMES[code]}, which makes instances,"
    if code in _OLD:
        return "protocol 0 (text)"
    return f"the byte {code:#04x}, which is no instruction,"
