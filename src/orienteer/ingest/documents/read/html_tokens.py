"""The tags and texts of an HTML page, in time that grows with its length whatever it holds.

The standard library's parser takes minutes for a few kilobytes of tags left open; pages are other people's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple

# A tag holds no other; what looks like one and does not end is text. Possessive, so that nothing is tried twice.
_MARK = re.compile(
    r"<(?:(?P<comment>!--)|(?P<other>[!?])"
    r"|(?P<end>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9:-]*+)(?P<rest>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>)"
)
_ATTRIBUTE = re.compile(r"([^\s=\"'/>]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+)))?")
RAW = frozenset({"script", "style", "textarea", "xmp"})
"""Elements whose content is no markup."""


class Token(NamedTuple):
    """A tag or a run of text. `tag` is empty for text, and begins with a slash where one ends."""

    start: int
    tag: str
    text: str = ""
    attributes: Mapping[str, str] = {}
    is_empty: bool = False
    """It closes itself, as tags do in XHTML and SVG."""


def tokens(page: str) -> Iterator[Token]:
    """Return the tags and texts of a page in order; entities are resolved, comments left out."""
    at = scanned = 0
    while (mark := _MARK.search(page, scanned)) is not None:
        end, token = _token(page, mark)
        if token is None and end < 0:  # no markup after all
            scanned = mark.end()
            continue
        if mark.start() > at:
            yield Token(at, "", unescape(page[at : mark.start()]))
        if token is not None:
            yield token
        at = scanned = end
        if token is not None and token.tag in RAW and not token.is_empty:
            close = re.compile(f"</{token.tag}\\b", re.IGNORECASE).search(page, at)
            at = scanned = close.start() if close else len(page)
    if at < len(page):
        yield Token(at, "", unescape(page[at:]))


def _token(page: str, mark: re.Match[str]) -> tuple[int, Token | None]:
    """Return where a mark ends and what it says; -1 where it does not end."""
    if mark["comment"]:
        end = page.find("-->", mark.end())
        return (len(page) if end < 0 else end + 3), None
    if mark["other"]:
        end = page.find(">", mark.end())
        return (-1 if end < 0 else end + 1), None
    tag = mark["end"] + mark["tag"].lower()
    attributes = {} if mark["end"] else _attributes(mark["rest"])
    return mark.end(), Token(mark.start(), tag, "", attributes, is_empty=mark["rest"].endswith("/"))


def _attributes(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        values.setdefault(name.lower(), unescape(double or single or bare))
    return values
