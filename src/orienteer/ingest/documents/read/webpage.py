"""HTML as blocks: paragraphs, headings, lists, code, tables, links and anchors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from orienteer.ingest.documents.read.blocks import MOST_COLUMNS, Block, Grid, Page, Place, Prose, Span, filled
from orienteer.ingest.documents.read.markup import DEEPEST, HEADINGS, MARK, Markup
from orienteer.ingest.documents.read.titles import LINK_MARKS, chosen, cleaned, is_generic, without_mark

_SPACE = re.compile(r"[ \t\r\n\f\v\xa0]+")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")
_HEADS = {
    **dict.fromkeys(["author", "dc.creator", "dcterms.creator"], "author"),
    **dict.fromkeys(["date", "dc.date", "dcterms.date", "article:published_time"], "date"),
    **dict.fromkeys(["dcterms.modified", "article:modified_time"], "modified"),
}
"""Metadata by the name of a `<meta>`; the first of several counts."""
_MOST_SEARCHED = 1 << 16
"""Maximum characters of a page that are searched for metadata."""
_CONTENT = frozenset(["main", "article", "section", "blockquote"])
_AROUND = frozenset(["prev", "previous", "next", "up", "start", "home", "contents", "index"])
_REGIONS = frozenset(["nav", "header", "footer", "aside"])
_MENUS = frozenset(["nav", "navigation", "contentinfo", "search", "menu", "menubar", "doc-toc"])
"""Elements and roles that lead elsewhere, as does a footer of the page; others do where most of them is links."""
_WITHIN_LINES = frozenset(["q", "abbr", "wbr", "img", "math", "annotation", "svg", "title"])
MOST_SPANNED = 1_000
"""Characters of a cell in all rows and columns that it spans; one that would have more stands in the first alone."""
MOST_FILLED = 8
"""Times as many cells as a table has that may be filled by those above them."""
LEAST = 2
"""Columns, and rows with the header, of what is a table; anything less lays out a page."""
MOST_TRIED = 3
"""Tables within each other that are read twice."""
LEAST_LINKS = 3
"""Links one after another, with nearly nothing between, that are a menu."""
LEAST_AROUND = 2
"""Links to the pages around, by their relation or key, in a paragraph or table that is a menu whatever else it says."""
NEARLY, MOSTLY = 0.75, 0.5
"""Shares of characters that are links: in a paragraph, in an element that may be a menu."""
SHORT = 1_000
"""Characters of an element for menus that holds few links; a longer one was never closed."""


def read_html(text: str) -> Page:
    """Return title and blocks of a page; any text is one."""
    page = page_of(Markup(text))
    title = cleaned(chosen(cleaned(page.title), page.top))
    page.title = "" if is_generic(title) else title
    page.lift_title()
    head = text[:_MOST_SEARCHED].partition("<body")[0].encode("utf-8", "replace")
    for meta in LexborHTMLParser(head).css("meta[content]") if b"<meta" in head else ():
        called = (meta.attributes.get("name") or meta.attributes.get("property") or "").lower()
        if called in _HEADS and (said := cleaned(meta.attributes["content"] or "")):
            page.heads.setdefault(_HEADS[called], said)
    return page


def page_of(markup: Markup, span: Callable[[int, int], Span] | None = None) -> Page:
    """Return the blocks of a page, and as its title what it is called.

    `span` gives the place of the lines from a first to a last.
    """
    written = markup.written().encode("utf-8", "replace")
    root = LexborHTMLParser(written, options=LexborDocumentOptions.WO_EVENTS).root
    reader = _Reader(span)
    if root is not None:
        reader.read(root)
    page = reader.finished()
    if markup.is_too_deep:
        page.notes.append(f"elements within more than {DEEPEST} others are read as plain words")
    return page


class _Lines(NamedTuple):
    first: int = 1
    last: int = 1


class _Weight(NamedTuple):
    """How much of a block leads elsewhere."""

    links: int
    linked: int
    """Characters of its words that are links."""
    characters: int
    around: int = 0
    """Links to the next page, the one before, the one above."""

    @property
    def is_leading(self) -> bool:
        return self.around >= LEAST_AROUND or (self.links > 0 and self.linked >= NEARLY * self.characters)


class _Reader:
    def __init__(self, span: Callable[[int, int], Span] | None) -> None:
        self._page = Page()
        self._span = span
        self._lines = self._begin = _Lines()
        self._words: list[str] = []
        self._links: list[str] = []
        self._anchors: list[str] = []
        self._path: list[tuple[int, str]] = []
        self._bare: _Lines | None = None
        """Where the last heading stands, until something stands beneath it."""
        self._in_link = self._in_line = self._in_content = 0
        self._in_pre = False
        self._linked = self._around = 0
        """Characters of links, and links to the pages around, since the last block."""
        self._tried = 0
        """Tables around that were read as such, and then laid out the page."""
        self._weights: list[_Weight] = []

    def read(self, parent: LexborNode) -> None:
        """Take what an element holds."""
        node = parent.first_child
        while node is not None:
            if node.is_text_node:
                self._say(node.text_content or "")
            elif node.is_element_node:
                about = node.attributes
                if _is_seen(about):
                    self._take(node, node.tag or "", about)
            node = node.next

    def finished(self) -> Page:
        """Return the page, with its lists of links marked."""
        self._flush()
        self._leave(1)
        at = 0
        for is_leading, run in groupby(self._weights, key=lambda weight: weight.is_leading):
            weights = list(run)
            if is_leading and sum(weight.links + weight.around for weight in weights) >= LEAST_LINKS:
                self._mark(at, at + len(weights))
            at += len(weights)
        return self._page

    def _take(self, node: LexborNode, tag: str, about: Mapping[str, str | None]) -> None:
        """Take an element. Calls itself no deeper than markup nests."""
        mark, anchor = about.get(MARK), about.get("id") or about.get("name")
        if tag in _WITHIN_LINES:
            if mark:
                self._lines = _lines(mark)
            self._anchors += [anchor] if anchor else []
            self._take_within(node, tag, about)
            return
        if tag == "br":
            self._break()
            self._lines = _lines(mark) if mark and not self._in_line else self._lines
            return
        self._part()
        if tag in HEADINGS and not self._in_line and not self._in_pre:
            self._leave(HEADINGS[tag])
        if mark and not self._in_line:
            self._lines = _lines(mark)
        self._anchors += [anchor] if anchor else []  # of what follows: whatever came before has its place by now
        if self._in_line or self._in_pre:
            self.read(node)
        elif tag in HEADINGS:
            self._heading(node, HEADINGS[tag])
        elif tag == "table":
            self._table(node)
        else:
            is_content, self._in_pre = tag in _CONTENT, tag == "pre"
            first, path = len(self._page.blocks), list(self._path)
            self._in_content += is_content
            self.read(node)
            self._in_content -= is_content
            self._flush()
            self._in_pre = False
            if (role := about.get("role")) in _MENUS or tag in _REGIONS:
                is_footer = tag == "footer" and not self._in_content
                self._end_region(first, path, is_menu=is_footer or not _MENUS.isdisjoint((tag, role)))
        self._part()

    def _take_within(self, node: LexborNode, tag: str, about: Mapping[str, str | None]) -> None:
        """Take an element that stands within a line."""
        title, target = about.get("title") or "", (about.get("href") or "").strip()
        if tag == "img":
            self._say(f" {about.get('alt') or title} ")
        elif tag == "math" and (formula := about.get("alttext")):
            self._say(formula)
        elif tag == "math":
            self.read(node.css_first("annotation") or node)
        elif tag == "title" and not self._page.title:
            self._page.title = self._inline(node)
        elif tag != "svg":
            self._links += [target] if target else []
            self._in_link += bool(target)
            self._around += bool(target and (about.get("accesskey") or about.get("rel") in _AROUND))
            before, first = len(self._words), node.first_child
            self.read(node)
            if title and first is not None and first.tag == "img" and not "".join(self._words[before:]).strip():
                self._say(title)  # of a picture without words
            self._in_link -= bool(target)
            self._say(f" ({title})" if tag == "abbr" and title else "")

    # ------------------------------------------------------------------------------------------------------- words

    def _say(self, text: str) -> None:
        if not self._in_pre:
            text = _SPACE.sub(" ", text)
        stripped = text.strip()
        if self._in_link:
            if stripped in LINK_MARKS:
                return
            self._linked += len(stripped)
        if not self._words:
            self._begin = self._lines
        if stripped or self._in_pre or (self._words and self._words[-1] != "\n"):
            self._words.append(text)

    def _break(self) -> None:
        """End a line; twice, and it is a paragraph that ends."""
        if self._in_line:
            self._words.append(" ")
        elif self._in_pre:
            self._say("\n")
        elif self._words and self._words[-1] == "\n":
            self._flush()
        elif self._words:
            self._words.append("\n")

    def _part(self) -> None:
        """End a paragraph; within a line a word, in code a line."""
        if self._in_line:
            self._words.append(" ")
        elif not self._in_pre:
            self._flush()
        elif self._words and not self._words[-1].endswith("\n"):
            self._words.append("\n")

    def _inline(self, node: LexborNode) -> str:
        """Return the words of an element in one line."""
        outer, self._words = self._words, []
        self._in_line += 1
        self.read(node)
        self._in_line -= 1
        words, self._words = "".join(self._words), outer
        return _SPACE.sub(" ", words).strip()

    def _flush(self) -> None:
        if not self._words and not self._links:
            return
        words, self._words = "".join(self._words), []
        text = words.strip("\n") if self._in_pre else _LINE_ENDS.sub("\n", re.sub("  +", " ", words)).strip()
        if text.strip() or (self._links and self._bare is None):  # the links of a heading wait for what it is above
            lines = self._begin
            if self._in_pre:
                blank = len(words) - len(words.lstrip("\n"))
                lines = _Lines(lines.first + blank, max(lines.last, lines.first + blank))
            self._add(text, lines)

    def _add(self, text: str, lines: _Lines) -> None:
        place = self._place(lines)
        self._append(Prose(text, place, self._taken_links(), is_code=self._in_pre), len(text))

    def _append(self, block: Block, characters: int) -> None:
        is_code = isinstance(block, Prose) and block.is_code
        self._weights.append(_Weight(0 if is_code else len(block.links), self._linked, characters, self._around))
        self._page.blocks.append(block)
        self._linked = self._around = 0

    def _taken_links(self) -> tuple[str, ...]:
        links, self._links = tuple(dict.fromkeys(self._links)), []
        return links

    def _place(self, lines: _Lines) -> Place:
        self._bare = None
        anchors, self._anchors = tuple(self._anchors), []
        span = self._span(*lines) if self._span is not None else None
        return Place(tuple(words for _, words in self._path), span=span, anchors=anchors, line=lines.first)

    # ---------------------------------------------------------------------------------------------------- headings

    def _heading(self, node: LexborNode, level: int) -> None:
        lines = self._lines
        words = without_mark(self._inline(node))
        self._linked = 0
        if words:
            self._path.append((level, words))
            self._bare = lines

    def _leave(self, level: int) -> None:
        """Leave the headings from a level on; the last is a paragraph where nothing stands beneath it."""
        if self._bare is not None and self._path and self._path[-1][0] >= level:
            self._add(self._path.pop()[1], self._bare)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()

    # -------------------------------------------------------------------------------------------------- navigation

    def _end_region(self, first: int, path: list[tuple[int, str]], *, is_menu: bool) -> None:
        """Mark what stands in an element that may be a menu, if it is one. Its headings end with it."""
        weights = self._weights[first:]
        characters = sum(weight.characters for weight in weights)
        is_linked = sum(weight.linked for weight in weights) >= MOSTLY * characters > 0
        if is_linked or (is_menu and characters <= SHORT):
            if self._bare is not None and len(self._path) > len(path):
                self._leave(self._path[-1][0])
            self._path = path
            self._mark(first, len(self._page.blocks))

    def _mark(self, first: int, end: int) -> None:
        blocks = self._page.blocks
        for at in range(first, end):
            blocks[at] = replace(blocks[at], place=replace(blocks[at].place, is_navigation=True))

    # ------------------------------------------------------------------------------------------------------ tables

    def _table(self, node: LexborNode) -> None:
        rows = list(_rows(node))
        caption = next((part for part in _children(node) if part.tag == "caption"), None)
        is_grid = len(rows) >= LEAST <= max(len(row.cells) for row in rows) and self._tried < MOST_TRIED
        if not is_grid or node.css_first("td h1, td h2, td h3"):
            self.read(node)
            return
        links, anchors, lines, linked = list(self._links), list(self._anchors), self._lines, self._linked
        title = self._inline(caption) if caption else ""
        said = [[cell._replace(text=self._inline(cell.node)) for cell in row.cells] for row in rows]
        self._anchors += [node.id for row in rows for node in (row.node, *(cell.node for cell in row.cells)) if node.id]
        full = [(row, texts) for row, texts in zip(rows, _spread(said), strict=True) if any(texts)]
        texts = [texts for _, texts in full]
        width = max(map(len, texts), default=0)
        if len(texts) < LEAST or width < LEAST:  # the other cells are empty: they lay out the page
            self._links, self._anchors, self._linked = links, anchors, linked
            self._tried += 1
            self.read(node)
            self._tried -= 1
            return
        is_blank = rows[0].is_head and full[0][0] is not rows[0]  # as Markdown has to write a table without a head
        header = [""] * width if is_blank else texts.pop(0) if full[0][0].is_head else []
        header += [f"column_{at + 1}" for at in range(len(header), width)]
        place = self._place(lines)
        characters = sum(len(text) for row in (header, *texts) for text in row)
        grid = Grid(tuple(header), filled(texts, width), place, title, self._taken_links())
        self._append(grid, characters)


class _Cell(NamedTuple):
    node: LexborNode
    columns: int
    rows: int
    text: str = ""


class _Row(NamedTuple):
    node: LexborNode
    cells: list[_Cell]
    is_head: bool
    """It holds heads alone, or is in the head of its table."""


def _lines(mark: str) -> _Lines:
    first, _, last = mark.partition("-")
    return _Lines(int(first), int(last or first))


def _is_seen(about: Mapping[str, str | None]) -> bool:
    return about.get("hidden", "until-found") == "until-found"


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        if child.is_element_node and _is_seen(child.attributes):
            yield child
        child = child.next


def _rows(table: LexborNode) -> Iterator[_Row]:
    for part in _children(table):
        for row in [part] if part.tag == "tr" else _children(part) if part.tag != "caption" else ():
            nodes = list(_children(row))
            cells = [_Cell(node, _spanned(node, "colspan", 1), _spanned(node, "rowspan", 0)) for node in nodes]
            if cells:
                yield _Row(row, cells, part.tag == "thead" or all(node.tag == "th" for node in nodes))


def _spanned(cell: LexborNode, name: str, least: int) -> int:
    """Return how many rows or columns a cell spans; 0 are all that follow."""
    value = cell.attributes.get(name) or ""
    return max(least, int(value)) if re.fullmatch("[0-9]{1,4}", value) else 1


def _spread(rows: Sequence[Sequence[_Cell]]) -> Iterator[list[str]]:
    """Return the texts of rows in their columns, those of cells that span several in each of them."""
    room = MOST_FILLED * sum(map(len, rows)) + MOST_SPANNED
    waiting: dict[int, tuple[int, str]] = {}  # for a column the rows that are still to be filled, and with what
    for number, cells in enumerate(rows):
        room -= len(waiting)
        row = {column: text for column, (_, text) in waiting.items()} if room > 0 else {}
        waiting = {column: (left - 1, text) for column, (left, text) in waiting.items() if left > 1 and room > 0}
        at, beyond = 0, []
        for cell in cells:
            while at in row:
                at += 1
            if at >= MOST_COLUMNS:
                beyond.append(cell.text)
                continue
            down = min(cell.rows or len(rows), len(rows) - number)
            again = cell.text if len(cell.text) * cell.columns * down <= MOST_SPANNED else ""
            for column in range(at, min(at + cell.columns, MOST_COLUMNS)):
                row.setdefault(column, cell.text if column == at else again)
                if down > 1:
                    waiting[column] = (down - 1, again)
        if beyond:
            row[MOST_COLUMNS - 1] = " ".join([row[MOST_COLUMNS - 1], *beyond])
        yield [row.get(column, "") for column in range(max(row, default=-1) + 1)]
