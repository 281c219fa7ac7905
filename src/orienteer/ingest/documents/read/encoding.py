"""The text of a file's bytes: by its mark, as UTF-8, else in the encoding that the bytes speak for."""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.formats.files import LFS_POINTER, opened

SAMPLE = 1 << 16
"""Bytes at the beginning of a file that tell whether it is text, and in which encoding."""
LAST_RESORT = "cp1252"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""What a file may begin with, the longer ones before those that they begin with."""
_OTHERS = [
    *("cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "iso8859_2"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
"""Encodings that are told apart. Others are rare, and each makes the choice less sure."""
_FEWEST_PAIRS = 8
"""Pairs of bytes that tell UTF-16."""
_SPECIAL_LINES = 400
"""Lines with letters beyond ASCII that are enough to tell an encoding."""
_MOST_CONTROLS = 0.02
"""Share of control characters in a text. Pictures and programs have some 10 %; logs with colours use ESC, which is
not counted."""
_MOST_BROKEN = 0.05
"""Share of signs between letters, such as the `³` of `g³os`, above which a text is not in Windows-1252."""
_CONTROLS = bytes(range(9)) + b"\x0b" + bytes(range(14, 27)) + bytes(range(28, 32)) + b"\x7f"
_ENCODED_MARK = re.compile(rb"^.*[\x80-\xff].*$", re.MULTILINE)
_SIGN_IN_A_WORD = re.compile("(?<=[^\\W\\d_])[\xa1-\xbf\xd7\xf7](?=[^\\W\\d_])")


class DecodedText(NamedTuple):
    """The text of a file."""

    text: str
    encoding: str
    """As Python calls it; `utf-8` where it is ASCII, `cp1252` where the bytes could be told apart no better."""


def read_text(path: Path) -> DecodedText:
    """Return a file's text, unpacked if it is a gzip, with its line ends as `\\n`.

    Raises `BadInput` for bytes that are no text.
    """
    with opened(path) as stream:
        content = stream.read()
    if content.startswith(LFS_POINTER):
        raise BadInput("a Git LFS pointer, not the text: run `git lfs pull` where it was cloned")
    if not is_text(content[:SAMPLE]):
        raise BadInput("no text: its bytes are those of a binary file")
    text, encoding = decoded(content)
    if "\0" in text:
        raise BadInput("no text: its bytes are those of a binary file")
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a text: no NUL unless it is UTF-16, hardly any controls."""
    if any(head.startswith(mark) for mark, _ in _MARKS):
        return True
    if _unmarked_utf16(head) is not None:
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" not in head and controls <= _MOST_CONTROLS * len(head)


def is_wide(path: Path) -> bool:
    """Return whether a file is marked as UTF-16, which readers of tables take for no text."""
    with opened(path) as stream:
        return stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(content: bytes) -> tuple[str, str]:
    """Return the text of some bytes and its encoding. Raises `BadInput` for a mark that its bytes belie."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise BadInput(f"marked as {encoding}, but byte {error.start} is none: save it as UTF-8") from error
    try:
        encoding = _unmarked_utf16(content[:SAMPLE]) or "utf-8"
        return content.decode(encoding), encoding
    except UnicodeDecodeError:
        encoding = _spoken_for(content)
        return content.decode(encoding, "replace"), encoding


def _unmarked_utf16(head: bytes) -> str | None:
    """Return UTF-16 where every other byte is NUL, as in Latin letters of it; None else."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    pairs = len(head) // 2
    if pairs < _FEWEST_PAIRS:
        return None
    if odd > pairs * 0.7 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > pairs * 0.7 and not odd else None


def _spoken_for(content: bytes) -> str:
    """Return the encoding of bytes that are no UTF-8.

    Scripts tell themselves apart. Among the encodings of Latin letters Windows-1252 is right most often, and the others
    count only where it has signs inside words.
    """
    from charset_normalizer import from_bytes  # some 20 ms, for files that are rare

    lines = [match[0] for _, match in zip(range(_SPECIAL_LINES), _ENCODED_MARK.finditer(content), strict=False)]
    sample = b"\n".join(lines)[:SAMPLE]
    best = from_bytes(sample, cp_isolation=_OTHERS).best()
    if best is None or _is_utf8_for_the_most(sample):
        return LAST_RESORT
    letters = [letter for letter in str(best) if letter > "\x7f" and letter.isalpha()]
    foreign = sum(not unicodedata.name(letter, "LATIN").startswith("LATIN") for letter in letters)
    if letters and foreign > len(letters) / 2:
        return best.encoding
    western = sample.decode(LAST_RESORT, "replace")
    special = sum(letter > "\x7f" for letter in western)
    return best.encoding if len(_SIGN_IN_A_WORD.findall(western)) > _MOST_BROKEN * special else LAST_RESORT


def _is_utf8_for_the_most(sample: bytes) -> bool:
    """Return whether a sample is UTF-8 that is damaged in places: no other encoding is likely to look like it."""
    text = sample.decode("utf-8", "replace")
    return sum(letter > "\x7f" for letter in text) > 20 * max(1, text.count("\ufffd"))
