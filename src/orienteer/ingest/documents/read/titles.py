"""Titles of documents, unless they come from a program or a template."""

from __future__ import annotations

import re
from dataclasses import replace

from orienteer.ingest.documents.read.blocks import Block, Page, Prose, moved

LONGEST = 200
"""Maximum characters of a title. A longer one is a paragraph, or is cut off at a word."""
LONGEST_LINE = 90
"""Characters of the first line of a text that may be its title."""
EARLY = 5
"""Blocks at the beginning of a document among which its first heading may be its title."""
_SPACE = re.compile(r"\s+")
_MARKS = "¶§🔗\uf0c1\ue157"
LINK_MARKS = frozenset(f"{_MARKS}#")
"""Signs that sites put after a heading as a link to itself."""
_GENERIC = re.compile(
    r"(?:untitled|no title|title|index|home|home ?page|welcome|main|page|new page|document|doc|file|presentation"
    r"|powerpoint presentation|slide|slides|workbook|book|sheet|template|default|normal|unknown|none|null|readme"
    r"|readme first|contents|table of contents|toc|blank|draft|temp|test|notebook|introduction|overview|abstract"
    r"|summary|license|\(?anonymous\)?)"
    r"(?: document| page| presentation| notebook| \(?\d+\)?|\d+)?$",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(
    r"[^\s]*\.(?:docx?|pdf|tex|dvi|ps|eps|indd|qxd|html?|xml|rtf|odt|pptx?|xlsx?|txt|md|fm|p65)$", re.I
)
_OF_A_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)|LaTeX|OpenOffice|Adobe \w+) - ", re.IGNORECASE)
_NO_TITLE = re.compile(r"[;={}<>|\\]|[.,:!?)\]]$|^(?:[-*#:]|\.\. )")
"""Signs of values and sentences, which titles do not have."""


def cleaned(title: str) -> str:
    """Return a title in one line, without additions by sites and programs, or "" if it has no letter or digit."""
    words = without_mark(_OF_A_PROGRAM.sub("", _SPACE.sub(" ", title).strip()))
    if len(words) > LONGEST:
        words = f"{words[:LONGEST].rpartition(' ')[0] or words[:LONGEST]} …"
    return words if any(map(str.isalnum, words)) else ""


def without_mark(heading: str) -> str:
    """Return a heading in one line, without the link to itself."""
    words = _SPACE.sub(" ", heading).strip()
    while words != (rest := words.removesuffix(" #").rstrip(_MARKS).rstrip()):
        words = rest
    return words


def is_generic(title: str) -> bool:
    """Return whether a title is one that many documents have, or the name of a file."""
    return not title or _GENERIC.match(title) is not None or _FILE_NAME.match(title) is not None


def chosen(named: str, heading: str) -> str:
    """Return the better title of a page: its `title`, or the one heading above all of it.

    `named` has the site's name in it, or is a word of the program that made the page; it is right where the heading is
    the site's name.
    """
    if not heading or named == heading:
        return named
    is_part = _plain(heading) in _plain(named)
    is_word = len(named.split()) == 1
    return heading if is_generic(named) or ((is_part or is_word) and not is_generic(heading)) else named


def _plain(words: str) -> str:
    return " ".join(re.findall(r"\w+", words.casefold()))


def titled(page: Page) -> Page:
    """Return a page that takes an early first heading as its title if it has none.

    What stands beneath a heading that is the title loses it from its path, for every part is named by the title.
    """
    first = next((block.place.headings[0] for block in page.blocks[:EARLY] if block.place.headings), "")
    title = page.title or ("" if is_generic(first) or len(first) > LONGEST else first)
    return replace(page, title=title, blocks=[_without(block, title) for block in page.blocks]) if title else page


def _without(block: Block, heading: str) -> Block:
    headings = block.place.headings
    return moved(block, block.place.beneath(headings[1:])) if headings[:1] == (heading,) else block


def of_text(page: Page) -> Page:
    """Return a plain text with its first line as title, if that is a paragraph of its own and not a sentence."""
    first, *others = page.blocks or [Prose("")]
    if not isinstance(first, Prose) or not others:
        return page
    line = first.text.strip()
    is_title = "\n" not in line and len(line) <= LONGEST_LINE and not _NO_TITLE.search(line)
    return replace(page, title=cleaned(line)) if is_title and not is_generic(line) else page
