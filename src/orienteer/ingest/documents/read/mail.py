"""E-mails as blocks: the heads, the text, and what is attached, by name and, where it is text, whole."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from dataclasses import replace
from email.header import decode_header
from email.message import Message
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import Block, Blocks, Place, Prose
from orienteer.ingest.documents.read.lines import read_lines
from orienteer.ingest.documents.read.markdown import read_plain
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.letters import SAMPLE, decoded, is_text

HEADS = ("From", "To", "Cc", "Date", "Subject")
LONGEST_HEAD = 1_000
"""Characters of a head; a list of thousands of receivers says nothing more."""
MOST_WORK = 50_000_000
"""Lines times parts: each line is looked at for the end of every part that is open."""
MOST_ATTACHED = 1 << 20
"""Bytes of an attached text that is read."""
_SPACE = re.compile(r"\s+")


class Mail(NamedTuple):
    """An e-mail as it was read."""

    title: str
    """Its subject, empty without one."""
    blocks: list[Block]
    heads: dict[str, str]
    """What `--where` can filter by: from, to, date."""


def read_mail(content: bytes) -> Mail:
    """Return an e-mail. Raises `BadInput` for one with too many parts, and for a text that is none."""
    if (1 + content.count(b"\n")) * content.lower().count(b"boundary=") > MOST_WORK:
        raise BadInput("too many parts for its length: save its text")
    message = email.message_from_bytes(content)
    heads = {name: words for name in HEADS if (words := _head(message, name))}
    if not heads:
        raise BadInput("no e-mail: it has neither sender nor subject; a text is called .txt")
    blocks: list[Block] = Blocks()
    _read(message, (), heads, blocks)
    properties = {name.lower(): heads[name] for name in ("From", "To", "Date") if name in heads}
    return Mail(heads.get("Subject", ""), blocks, properties)


def _read(message: Message, above: tuple[str, ...], heads: dict[str, str], blocks: list[Block]) -> None:
    """Add the blocks of a message, then those of what is attached to it."""
    lines = [f"{name}: {words}" for name, words in heads.items()]
    parts = list(_leaves(message))
    names = [name for part in parts if (name := _name(part))]
    lines += [f"Attached: {', '.join(names)}"] if names else []
    blocks.append(Prose("\n".join(lines), Place(above), is_code=True))
    for part in parts:
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            inner = inner[0] if isinstance(inner, list) and inner else None
            if isinstance(inner, Message):
                its_heads = {name: words for name in HEADS if (words := _head(inner, name))}
                _read(inner, (*above, its_heads.get("Subject", "Forwarded message")), its_heads, blocks)
            continue
        name = _name(part)
        for block in _text(part, is_attached=bool(name)):
            headings = (*above, name, *block.place.headings) if name else (*above, *block.place.headings)
            blocks.append(replace(block, place=Place(headings)))


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the parts of a message that are read: of those that say the same the plain text, else the page."""
    if message.get_content_type() == "message/rfc822" or not message.is_multipart():
        yield message
        return
    parts = [part for part in message.get_payload() if isinstance(part, Message)]
    if message.get_content_subtype() == "alternative":
        plain = [part for part in parts if part.get_content_type() == "text/plain" and _text(part, is_attached=False)]
        parts = plain[:1] or parts[-1:]
    for part in parts:
        yield from _leaves(part)


def _text(part: Message, *, is_attached: bool) -> list[Block]:
    """Return the blocks of a part; none if it is no text."""
    kind = part.get_content_type()
    if part.get_content_maintype() != "text" and not is_attached:
        return []
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not is_text(content[:SAMPLE]):
        return []
    if is_attached and len(content) > MOST_ATTACHED:
        return []
    text = _decoded(content, part).replace("\r\n", "\n").replace("\r", "\n")
    if kind == "text/html":
        return read_html(text).blocks
    return read_lines(text).blocks if is_attached and kind != "text/plain" else read_plain(text)


def _decoded(content: bytes, part: Message) -> str:
    """Return the text of a part in the encoding that it names, else in the one that its bytes speak for."""
    named = part.get_content_charset()
    try:
        text = content.decode(named) if named else decoded(content)[0]
        return text.encode("utf-8", "replace").decode()
    except (LookupError, ValueError):
        return decoded(content)[0]


def _name(part: Message) -> str:
    """Return the file name of an attachment, empty for a part without one."""
    try:
        return _words(str(part.get_filename() or ""))
    except (LookupError, ValueError):  # it names an encoding that is none, or another one's bytes
        return ""


def _head(message: Message, name: str) -> str:
    return _words(str(message.get(name) or ""))


def _words(head: str) -> str:
    """Return a head in plain words, in one line."""
    cut = head[:LONGEST_HEAD]
    try:
        parts = decode_header(cut)
    except (ValueError, email.errors.HeaderParseError):
        return _SPACE.sub(" ", cut).strip()
    return _SPACE.sub(" ", "".join(_piece(*part) for part in parts)).strip()


def _piece(words: str | bytes, encoding: str | None) -> str:
    if isinstance(words, str):
        return words
    try:
        text = words.decode(encoding or "ascii", "replace")
    except (LookupError, ValueError):  # it names no encoding, or one that is none for texts
        return words.decode("latin-1")
    return text.encode("utf-8", "replace").decode()  # without halves of characters
