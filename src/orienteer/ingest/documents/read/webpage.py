"""HTML as blocks: paragraphs, headings, lists, code, tables, links and anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from orienteer.ingest.documents.read.blocks import Grid, Page, Place, Prose, Span, filled
from orienteer.ingest.documents.read.markdown import MOST_COLUMNS
from orienteer.ingest.documents.read.titles import LINK_MARKS, chosen, cleaned, is_generic, without_mark

_SILENT = frozenset(["script", "style", "noscript", "template", "svg", "math", "select", "iframe", "textarea", "xmp"])
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HOLDING = _SILENT | _HEADINGS.keys() | {"title", "pre"}
"""Elements that change how their content is read."""
_PARTING = frozenset(
    [
        *("p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "ul", "ol", "li", "dl"),
        *("dt", "dd", "blockquote", "figure", "figcaption", "thead", "tbody", "tfoot", "form", "fieldset", "address"),
        *("hr", "details", "summary", "br", "body", "html", "legend", "label", "option"),
    ]
)
_TABLE_PARTS = frozenset(["table", "tr", "td", "th", "caption"])
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0]+")
MOST_SPANNED = 1_000
"""Characters of a cell in all columns that it spans; one that would have more stands in the first alone."""
DEEPEST_TABLE = 20
"""Tables within tables; the words of one that lies deeper are those of the cell. Pages laid out by tables had ten."""
LEAST = 2
"""Columns, and rows with the header, of what is a table; anything less lays out a page."""


@dataclass(slots=True)
class _Table:
    start: int
    rows: list[list[str]] = field(default_factory=list)
    heads: list[bool] = field(default_factory=list)
    """Whether a row holds heads alone."""
    cell: list[str] | None = None
    is_head: bool = False
    is_caption: bool = False
    width: int = 1
    caption: str = ""
    links: list[str] = field(default_factory=list)


def read_html(text: str) -> Page:
    """Return title and blocks of a page; any text is one."""
    reader = _HtmlReader(len(text))
    for token in html_tokens(text):
        reader.take(token)
    return reader.finished()


class _HtmlReader:
    def __init__(self, length: int) -> None:
        self._page = Page()
        self._end = length
        self._at = 0
        self._silent, self._silent_tag = 0, ""
        self._title: list[str] = []
        self._in_title = False
        self._in_pre = 0
        self._words: list[str] = []
        self._begin = 0
        self._links: list[str] = []
        self._heading: int | None = None
        self._path: list[tuple[int, str]] = []
        self._bare: int | None = None  # where the last heading begins, until something stands beneath it
        self._anchors: list[str] = []
        self._tables: list[_Table] = []
        self._too_deep = 0  # tables that are open within the deepest that is one

    def take(self, token: HtmlToken) -> None:
        """Take the next tag or text of the page."""
        self._at = token.start
        if self._silent:
            self._silent += (token.tag == self._silent_tag) - (token.tag == f"/{self._silent_tag}")
        elif not token.tag:
            self._text(token.text)
        elif token.tag.startswith("/"):
            self._close(token.tag[1:])
        elif token.is_empty and token.tag in _HOLDING:
            return
        elif token.tag in _SILENT:
            self._silent, self._silent_tag = 1, token.tag
        else:
            self._open(token.tag, token.attributes)

    def finished(self) -> Page:
        """Return the page, whatever was left open."""
        self._at = self._end
        while self._tables:
            self._end_table()
        self._end_heading()
        self._flush()
        self._leave(1)
        title = cleaned(chosen(cleaned("".join(self._title)), self._page.top))
        self._page.title = "" if is_generic(title) else title
        self._page.lift_title()
        return self._page

    def _text(self, text: str) -> None:
        if self._in_title:
            self._title.append(text)
        elif (cell := self._cell()) is not None:
            cell.append(text)
        elif self._heading is None or text.strip() not in LINK_MARKS:
            if not self._words:
                self._begin = self._at
            self._words.append(text)

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _PARTING:
            self._part(tag)
        elif tag in _HEADINGS:
            self._flush()
            self._leave(_HEADINGS[tag])
            self._heading = _HEADINGS[tag]
        elif tag in _TABLE_PARTS:
            self._open_table_part(tag, attributes)
        elif tag == "title":
            self._in_title = not self._title
        elif tag == "pre":
            self._flush()
            self._in_pre += 1
        elif tag == "a" and (target := attributes.get("href")):
            (self._tables[-1].links if self._tables else self._links).append(target.strip())
        elif tag == "img" and (alternative := attributes.get("alt")):
            self._text(f" {alternative} ")
        if anchor := attributes.get("id") or (attributes.get("name") if tag == "a" else None):
            self._anchors.append(anchor)  # of what follows: whatever came before has its place by now

    def _close(self, tag: str) -> None:
        if tag in _PARTING:
            self._part(tag)
        elif tag in _HEADINGS:
            self._end_heading()
        elif tag in _TABLE_PARTS:
            self._close_table_part(tag)
        elif tag == "title":
            self._in_title = False
        elif tag == "pre":
            self._flush()
            self._in_pre = max(0, self._in_pre - 1)

    def _cell(self) -> list[str] | None:
        return self._tables[-1].cell if self._tables else None

    def _part(self, tag: str) -> None:
        """End a paragraph; in a cell or a heading a word, in code a line."""
        cell = self._cell()
        if cell is not None:
            cell.append(" ")
        elif self._in_pre and tag == "br":
            self._words.append("\n")
        elif self._heading is not None:
            self._words.append(" ")
        else:
            self._flush()

    def _flush(self) -> None:
        words, self._words = "".join(self._words), []
        text = words.strip("\n") if self._in_pre else _SPACE.sub(" ", words).strip()
        if text.strip() or (self._links and self._bare is None):  # the links of a heading wait for what it is above
            self._add(text, self._begin, is_code=bool(self._in_pre))

    def _add(self, text: str, start: int, *, is_code: bool = False) -> None:
        links, self._links = tuple(dict.fromkeys(self._links)), []
        self._page.blocks.append(Prose(text, self._place(start), links, is_code=is_code))

    def _place(self, start: int) -> Place:
        self._bare = None
        anchors, self._anchors = tuple(self._anchors), []
        return Place(tuple(words for _, words in self._path), span=Span(start, self._at), anchors=anchors)

    def _end_heading(self) -> None:
        if self._heading is None:
            return
        level, self._heading = self._heading, None
        words = without_mark("".join(self._words))
        self._words = []
        if words:
            self._path.append((level, words))
            self._bare = self._begin

    def _leave(self, level: int) -> None:
        """Leave the headings from a level on; the last is a paragraph where nothing stands beneath it."""
        if self._bare is not None and self._path and self._path[-1][0] >= level:
            self._add(self._path.pop()[1], self._bare)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()

    # ----------------------------------------------------------------------------------------------------- tables

    def _open_table_part(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._too_deep or (tag == "table" and len(self._tables) == DEEPEST_TABLE):
            self._too_deep += tag == "table"
            self._part(tag)
            return
        if tag == "table":
            self._flush()
            self._tables.append(_Table(self._at))
            return
        if not self._tables:
            return
        table = self._tables[-1]
        _end_cell(table)
        if tag == "tr" or (not table.rows and tag != "caption"):
            table.rows.append([])
            table.heads.append(True)
        if tag != "tr":
            table.cell = []
            table.is_head, table.is_caption = tag == "th", tag == "caption"
            span = attributes.get("colspan", "1")
            table.width = max(1, int(span)) if re.fullmatch("[0-9]{1,2}", span) else 1

    def _close_table_part(self, tag: str) -> None:
        if self._too_deep:
            self._too_deep -= tag == "table"
            self._part(tag)
        elif self._tables:
            _end_cell(self._tables[-1])
            if tag == "table":
                self._end_table()

    def _end_table(self) -> None:
        table = self._tables.pop()
        _end_cell(table)
        filled_rows = [(tuple(row), is_head) for row, is_head in zip(table.rows, table.heads, strict=True) if any(row)]
        rows = [row for row, _ in filled_rows]
        links = tuple(dict.fromkeys(table.links))
        width = min(MOST_COLUMNS, max(map(len, rows), default=0))
        if (outer := self._tables[-1] if self._tables else None) is not None:
            outer.links += links  # a table within a table lays it out: its words are those of the cell
            if outer.cell is not None:
                outer.cell.append(f" {' '.join(cell for row in rows for cell in row)} ")
        elif width >= LEAST and len(rows) >= LEAST:
            header = rows.pop(0)[:width] if filled_rows[0][1] else ()
            header = (*header, *(f"column_{at + 1}" for at in range(len(header), width)))
            self._page.blocks.append(Grid(header, filled(rows, width), self._place(table.start), table.caption, links))
        elif rows or links:
            text = " ".join(cell for row in rows for cell in row)
            self._page.blocks.append(Prose(text, self._place(table.start), links))


def _end_cell(table: _Table) -> None:
    if table.cell is None:
        return
    text = _SPACE.sub(" ", "".join(table.cell)).strip()
    table.cell = None
    if table.is_caption:
        table.caption = text
    elif table.rows:
        row = table.rows[-1]
        more = min(table.width, MOST_COLUMNS - len(row)) - 1  # columns that the cell spans besides its first
        row += [text, *[text if len(text) * table.width <= MOST_SPANNED else ""] * more]
        table.heads[-1] &= table.is_head


# ------------------------------------------------------------------------------------------------------ tags and texts

# A tag holds no other; what looks like one and does not end is text. Possessive, so that nothing is tried twice.
_MARK = re.compile(
    r"<(?:(?P<comment>!--)|(?P<other>[!?])"
    r"|(?P<end>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9:-]*+)(?P<rest>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>)"
)
_ATTRIBUTE = re.compile(r"([^\s=\"'/>]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+)))?")
RAW = frozenset({"script", "style", "textarea", "xmp"})
"""Elements whose content is no markup."""


class HtmlToken(NamedTuple):
    """A tag or a run of text. `tag` is empty for text, and begins with a slash where one ends."""

    start: int
    tag: str
    text: str = ""
    attributes: Mapping[str, str] = {}
    is_empty: bool = False
    """It closes itself, as tags do in XHTML and SVG."""


def html_tokens(page: str) -> Iterator[HtmlToken]:
    """Return the tags and texts of a page in order; entities are resolved, comments left out.

    Takes time that grows with the page's length, whatever it holds. The standard library's parser takes minutes for a
    few kilobytes of tags left open, and pages are other people's.
    """
    at = scanned = 0
    while (mark := _MARK.search(page, scanned)) is not None:
        end, token = _html_token(page, mark)
        if token is None and end < 0:  # no markup after all
            scanned = mark.end()
            continue
        if mark.start() > at:
            yield HtmlToken(at, "", unescape(page[at : mark.start()]))
        if token is not None:
            yield token
        at = scanned = end
        if token is not None and token.tag in RAW and not token.is_empty:
            close = re.compile(f"</{token.tag}\\b", re.IGNORECASE).search(page, at)
            at = scanned = close.start() if close else len(page)
    if at < len(page):
        yield HtmlToken(at, "", unescape(page[at:]))


def _html_token(page: str, mark: re.Match[str]) -> tuple[int, HtmlToken | None]:
    """Return where a mark ends and what it says; -1 where it does not end."""
    if mark["comment"]:
        end = page.find("-->", mark.end())
        return (len(page) if end < 0 else end + 3), None
    if mark["other"]:
        end = page.find(">", mark.end())
        return (-1 if end < 0 else end + 1), None
    tag = mark["end"] + mark["tag"].lower()
    attributes: dict[str, str] = {}
    for name, double, single, bare in () if mark["end"] else _ATTRIBUTE.findall(mark["rest"]):
        attributes.setdefault(name.lower(), unescape(double or single or bare))
    return mark.end(), HtmlToken(mark.start(), tag, "", attributes, is_empty=mark["rest"].endswith("/"))
