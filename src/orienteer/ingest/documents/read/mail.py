"""E-mails as documents: the heads, the text, what is attached; one in a file, or many in a mailbox.

A reply is linked to what it answers by `mid:` and the identifier of that mail, as RFC 2392 calls it.
"""

from __future__ import annotations

import email
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import MID, Block, Blocks, Page, Place, Prose
from orienteer.ingest.documents.read.kinds import HEAD, KNOWN_HEADS, MAIL_BEGINS
from orienteer.ingest.documents.read.lines import read_lines
from orienteer.ingest.documents.read.markdown import read_plain
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.letters import SAMPLE, decoded, is_text

HEADS = ("From", "To", "Cc", "Date", "Subject")
_PROPERTIES = ("From", "To", "Cc", "Subject")
LONGEST_HEAD = 1_000
"""Characters of a head; a list of thousands of receivers says nothing more."""
MOST_WORK = 50_000_000
"""Lines times parts: each line is looked at for the end of every part that is open."""
MOST_ATTACHED = 1 << 20
"""Bytes of an attached text that is read."""
_ATTACHED = "Attached: "
_SPACE = re.compile(r"\s+")
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
_IDENTIFIER = re.compile(r"<([^<>\s]{1,200})>")


class Mail(NamedTuple):
    """An e-mail as it was read."""

    title: str
    """Its subject, empty without one."""
    blocks: list[Block]
    heads: dict[str, str]
    """What `--where` can filter by: from, to, cc, subject, message_id, and date, by ISO 8601 if it is one."""
    notes: list[str]
    """Which attachments were not read."""


Attached = Callable[[bytes, str], Page | None]
"""Reads an attachment that is no text, by its bytes and name; None where it cannot. Raises `BadInput`."""


def mailbox_mails(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each mail of a mailbox with the line that it begins on, from 1."""
    found = list(MAIL_BEGINS.finditer(content))
    line, counted = 1, 0
    for at, match in enumerate(found, 1):
        begin, end = match.end(), found[at].start() if at < len(found) else len(content)
        line += content.count(b"\n", counted, begin)
        counted = begin
        yield line, _QUOTED_SEPARATOR.sub(rb"\1", content[begin:end])


def read_mail(content: bytes, attached: Attached | None = None, line: int = 1) -> Mail:
    """Return an e-mail, which begins on a line of its file.

    Raises `BadInput` for one with too many parts, and for a text that is none.
    """
    if (1 + content.count(b"\n")) * content.lower().count(b"boundary=") > MOST_WORK:
        raise BadInput("too many parts for its length: save its text")
    message = email.message_from_bytes(content)
    if not any(name.casefold() in KNOWN_HEADS for name in message):
        raise BadInput("no e-mail: it has neither sender nor subject; a text is called .txt")
    reader = _Reader(attached)
    heads = _heads(message)
    reader.read(message, (), heads)
    properties = {name.lower(): heads[name] for name in _PROPERTIES if name in heads}
    if "Date" in heads:
        properties["date"] = _iso(heads["Date"])
    if own := _identifiers(message, "Message-ID"):
        properties["message_id"] = own[0]
    return Mail(heads.get("Subject", ""), _lined(reader.blocks, content, line), properties, reader.notes)


class _Reader:
    def __init__(self, attached: Attached | None) -> None:
        self._attached = attached
        self.blocks: list[Block] = Blocks()
        self.notes: list[str] = []

    def read(self, message: Message, above: tuple[str, ...], heads: dict[str, str]) -> None:
        """Add the blocks of a message, a head each first, then those of what is attached to it."""
        lines = [f"{name}: {words}" for name, words in heads.items()]
        parts = list(_leaves(message))
        names = [name for part in parts if (name := _name(part))]
        lines += [f"{_ATTACHED}{', '.join(names)}"] if names else []
        own = () if above else tuple(MID + name for name in _identifiers(message, "Message-ID")[:1])
        links = _answered(message)
        for text in lines or [""]:
            self.blocks.append(Prose(text, Place(above, anchors=own), links, is_code=True))
            own = links = ()
        for part in parts:
            if part.get_content_type() == "message/rfc822":
                inner = part.get_payload()
                inner = inner[0] if isinstance(inner, list) and inner else None
                if isinstance(inner, Message):
                    its_heads = _heads(inner)
                    self.read(inner, (*above, its_heads.get("Subject", "Forwarded message")), its_heads)
                continue
            name = _name(part)
            for block in self._part(part, name):
                headings = (*above, name, *block.place.headings) if name else (*above, *block.place.headings)
                place = Place(headings, block.place.page, is_navigation=block.place.is_navigation)
                self.blocks.append(replace(block, place=place))

    def _part(self, part: Message, name: str) -> list[Block]:
        """Return the blocks of a part; none, and a note of an attachment, where it cannot be read."""
        blocks, why = _text(part, is_attached=bool(name)), ""
        content = part.get_payload(decode=True)
        if not blocks and name and isinstance(content, bytes) and content.strip():
            try:
                page = self._attached(content, name) if self._attached is not None else None
                blocks = page.blocks if page is not None else []
            except BadInput as error:
                why = f": {error}"
            if not blocks and part.get_content_maintype() not in ("image", "audio", "video"):
                self.notes.append(f"attachment {name!r} not read{why}")
        return blocks


def _lined(blocks: list[Block], content: bytes, line: int) -> list[Block]:
    """Return the blocks of a mail with their lines; as they are where one is encoded, and does not stand there."""
    found: list[Block] = []
    text_starts = len(content.replace(b"\r\n", b"\n").partition(b"\n\n")[0])
    heads = b"\n" + content[:text_starts].lower()
    at, passed = text_starts, content.count(b"\n", 0, text_starts)
    for block in blocks:
        if not isinstance(block, Prose):
            return blocks
        first = block.text.partition("\n")[0].encode()
        if at == text_starts and block.is_code and HEAD.match(block.text):
            below = heads.count(b"\n", 1, 1 + max(0, heads.find(b"\n" + first.partition(b":")[0].lower() + b":")))
        else:
            start = content.find(first, at)
            if start < 0:
                return blocks
            below = passed = passed + content.count(b"\n", at, start)
            at = start + len(first)
        found.append(replace(block, place=replace(block.place, line=line + below)))
    return found


def _heads(message: Message) -> dict[str, str]:
    return {name: words for name in HEADS if (words := _head(message, name))}


def _answered(message: Message) -> tuple[str, ...]:
    """Return the link to the mail that a mail answers: the last that it names."""
    names = _identifiers(message, "In-Reply-To")[:1] or _identifiers(message, "References")[-1:]
    return tuple(MID + name for name in names)


def _identifiers(message: Message, name: str) -> list[str]:
    return _IDENTIFIER.findall(str(message.get(name) or ""))


def _iso(date: str) -> str:
    """Return a date by ISO 8601, which sorts; as it is written where it is none."""
    try:
        return parsedate_to_datetime(date).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return date


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
    if part.get_content_maintype() not in ("text", "multipart") and not is_attached:  # a broken one of many parts
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
