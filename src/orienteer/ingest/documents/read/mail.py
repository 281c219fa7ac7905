"""E-mails as documents: headers, text and attachments; one in a file, or many in a mailbox.

A reply links to the mail that it answers by `mid:` and that mail's identifier (RFC 2392).
"""

from __future__ import annotations

import email
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import LONGEST_HEAD, MID, Block, Page, Place, Prose
from orienteer.ingest.documents.read.kinds import HEAD, KNOWN_HEADS, MAIL_BEGINS
from orienteer.ingest.documents.read.lines import read_lines
from orienteer.ingest.documents.read.markdown import read_plain
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.letters import SAMPLE, decoded, is_text

HEADS = ("From", "To", "Cc", "Date", "Subject")
MOST_WORK = 50_000_000
"""Maximum lines times parts: each line is compared with the end of every open part."""
MOST_ATTACHED = 1 << 20
"""Maximum bytes of an attached text."""
_ATTACHED = "Attached: "
_SPACE = re.compile(r"\s+")
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
_IDENTIFIER = re.compile(r"<([^<>\s]{1,200})>")


Attached = Callable[[bytes, str], Page | None]
"""Reads a binary attachment by its bytes and name, or returns None. Raises `BadInput`."""


def mailbox_mails(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each mail of a mailbox with its first line, from 1."""
    found = list(MAIL_BEGINS.finditer(content))
    line, counted = 1, 0
    for at, match in enumerate(found, 1):
        begin, end = match.end(), found[at].start() if at < len(found) else len(content)
        line += content.count(b"\n", counted, begin)
        counted = begin
        yield line, _QUOTED_SEPARATOR.sub(rb"\1", content[begin:end])


def read_mail(content: bytes, attached: Attached | None = None, line: int = 1) -> Page:
    """Return an e-mail that begins on `line` of its file.

    Its subject is the title. `--where` can filter by its headers: from, to, cc, subject, message_id and date (ISO 8601
    if it is valid). Raises `BadInput` if it has too many parts or is not an e-mail.
    """
    if (1 + content.count(b"\n")) * content.lower().count(b"boundary=") > MOST_WORK:
        raise BadInput("too many parts for its length: save its text")
    message = email.message_from_bytes(content)
    if not any(name.casefold() in KNOWN_HEADS for name in message):
        raise BadInput("no e-mail: it has neither sender nor subject; a text is called .txt")
    heads = _heads(message)
    page = Page(heads.get("Subject", ""), heads={name.lower(): words for name, words in heads.items()})
    for block in _blocks(message, (), heads, attached, page.notes):
        page.blocks.append(block)
    if names := [name for part in _leaves(message) if (name := _name(part))]:
        page.heads["attachments"] = list(names)
    with suppress(KeyError, ValueError, TypeError, IndexError, OverflowError):  # it stays as it is written
        page.heads["date"] = parsedate_to_datetime(heads["Date"]).isoformat()
    if own := _identifiers(message, "Message-ID"):
        page.heads["message_id"] = own[0]
    page.blocks = _lined(page.blocks, content, line)
    return page


def _blocks(
    message: Message, above: tuple[str, ...], heads: dict[str, str], attached: Attached | None, notes: list[str]
) -> Iterator[Block]:
    """Yield the blocks of a message: its headers, its text, its attachments."""
    parts = [(part, _name(part)) for part in _leaves(message)]
    names = ", ".join(name for _, name in parts if name)
    lines = [f"{name}: {words}" for name, words in heads.items()] + ([f"{_ATTACHED}{names}"] if names else [])
    own = () if above else _links(_identifiers(message, "Message-ID")[:1])
    answered = _identifiers(message, "In-Reply-To")[:1] or _identifiers(message, "References")[-1:]
    yield Prose((lines or [""])[0], Place(above, anchors=own), _links(answered), is_code=True)
    yield from (Prose(text, Place(above), is_code=True) for text in lines[1:])
    for part, name in parts:
        if part.get_content_type() == "message/rfc822":
            for inner in _inside(part)[:1]:
                its_heads = _heads(inner)
                below = (*above, its_heads.get("Subject", "Forwarded message"))
                yield from _blocks(inner, below, its_heads, attached, notes)
            continue
        for block in _text(part, is_attached=bool(name)) or (_attached(part, name, attached, notes) if name else ()):
            headings = (*above, *filter(None, [name]), *block.place.headings)
            place = Place(headings, block.place.page, is_navigation=block.place.is_navigation)
            yield replace(block, place=place)


def _attached(part: Message, name: str, attached: Attached | None, notes: list[str]) -> list[Block]:
    """Return the blocks of a binary attachment. If it cannot be read, add a note."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content.strip():
        return []
    why = ""
    try:
        page = attached(content, name) if attached is not None else None
        if page is not None and page.blocks:
            return page.blocks
    except BadInput as error:
        why = f": {error}"
    if part.get_content_maintype() not in ("image", "audio", "video"):
        notes.append(f"attachment {name!r} not read{why}")
    return []


def _lined(blocks: list[Block], content: bytes, line: int) -> list[Block]:
    """Return the blocks of a mail with their lines, or unchanged if one is encoded and cannot be found."""
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
    return {name: words for name in HEADS if (words := _words(str(message.get(name) or "")))}


def _identifiers(message: Message, name: str) -> list[str]:
    return _IDENTIFIER.findall(str(message.get(name) or ""))


def _links(identifiers: Sequence[str]) -> tuple[str, ...]:
    return tuple(MID + name for name in identifiers)


def _inside(message: Message) -> list[Message]:
    payload = message.get_payload()
    return [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the parts of a message that are read: of alternatives, the plain text, else the last one."""
    if message.get_content_type() == "message/rfc822" or not message.is_multipart():
        yield message
        return
    parts = _inside(message)
    if message.get_content_subtype() == "alternative":
        plain = [part for part in parts if part.get_content_type() == "text/plain" and _text(part, is_attached=False)]
        parts = plain[:1] or parts[-1:]
    for part in parts:
        yield from _leaves(part)


def _text(part: Message, *, is_attached: bool) -> list[Block]:
    """Return the blocks of a part, none if it is not a text."""
    kind, content = part.get_content_type(), part.get_payload(decode=True)
    if part.get_content_maintype() not in ("text", "multipart") and not is_attached:  # a broken one of many parts
        return []
    if not isinstance(content, bytes) or not is_text(content[:SAMPLE]):
        return []
    if is_attached and len(content) > MOST_ATTACHED:
        return []
    text = _decoded(content, part.get_content_charset()).replace("\r\n", "\n").replace("\r", "\n")
    if kind == "text/html":
        return read_html(text).blocks
    return read_lines(text).blocks if is_attached and kind != "text/plain" else read_plain(text)


def _decoded(content: bytes, named: str | None) -> str:
    """Return a text in the declared encoding, or else in a detected one."""
    try:
        text = content.decode(named) if named else decoded(content)[0]
    except (LookupError, ValueError):  # it is no encoding, or none for texts, or another one
        text = decoded(content)[0]
    return text.encode("utf-8", "replace").decode()  # without halves of characters


def _name(part: Message) -> str:
    """Return the file name of an attachment, or ""."""
    try:
        return _words(str(part.get_filename() or ""))
    except (LookupError, ValueError):  # it names an encoding that is none, or another one's bytes
        return ""


def _words(head: str) -> str:
    """Return a decoded header in one line."""
    cut = head[:LONGEST_HEAD]
    try:
        parts = decode_header(cut)
    except (ValueError, email.errors.HeaderParseError):
        parts = [(cut, None)]
    words = (part if isinstance(part, str) else _decoded(part, encoding) for part, encoding in parts)
    return _SPACE.sub(" ", "".join(words)).strip()
