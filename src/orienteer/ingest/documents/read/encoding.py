"""Bytes of a text file -> text, whatever its encoding."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.formats.files import LFS_POINTER

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""What a file may begin with, the longer ones before those that they begin with."""
_LAST_RESORT = "cp1252"
_SAMPLE = 4096
_MOST_CONTROLS = 0.1


class DecodedText(NamedTuple):
    """The text of a file."""

    text: str
    encoding: str
    """As Python calls it; `cp1252` where the bytes are no Unicode and could be told apart no better."""


def read_text(path: Path) -> DecodedText:
    """Return a file's text with its line ends as `\\n`. Raises `BadInput` for bytes that are no text."""
    content = path.read_bytes()
    if content.startswith(LFS_POINTER):
        raise BadInput("a Git LFS pointer, not the text: run `git lfs pull` where it was cloned")
    text, encoding = _decoded(content)
    if "\0" in text or _is_noise(text):
        raise BadInput("no text: its bytes are those of a binary file")
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)


def _decoded(content: bytes) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise BadInput(f"marked as {encoding}, but byte {error.start} is none: save it as UTF-8") from error
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return content.decode(_LAST_RESORT, "replace"), _LAST_RESORT


def _is_noise(text: str) -> bool:
    """Say whether a text is full of control characters, as machine code is."""
    sample = text[:_SAMPLE]
    controls = sum(char < " " and char not in "\t\n\r\f\x1b" for char in sample)
    return controls > _MOST_CONTROLS * max(1, len(sample))
