"""Markdown, and plain text, as blocks. Spans are places in the source text.

Understood: headings of both kinds, paragraphs, items of lists, code, tables with pipes, HTML comments, front matter
with a title, links and images of every kind, wiki links. Everything else stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import MOST_BLOCKS, Block, Blocks, Grid, Page, Place, Prose, Span, filled

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_DIVIDER = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$")
_REFERENCE = re.compile(r" {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?(?:\s+[\"'(].*[\"')])?\s*$")
_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:(.+)$", re.MULTILINE)
_QUOTE = re.compile(r" {0,3}>[ ]?")

_CODE_SPAN = re.compile(r"(?<!`)(`++)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_IMAGE = re.compile(
    r"!\[((?:[^\]!]|!(?!\[))*+)\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
)
_LINK = re.compile(r"\[([^\[\]]+)\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_BY_NAME = re.compile(r"\[([^\[\]]+)\](?:\[([^\[\]]*)\])?")
_WIKI = re.compile(r"!?\[\[([^\[\]|#\n]*)(#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+)>")
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=\S)([^*]+)(?<=\S)\1(?![\w*])|(?<![\w_])(_{1,3})(?=\S)([^_]*(?:\w_\w[^_]*)*)(?<=\S)\3(?![\w_])"
)
_TAG = re.compile(
    r"</?(?:br|p|div|span|a|b|i|em|strong|sub|sup|img|kbd|details|summary|center|h\d)\b[^<>]*>", re.IGNORECASE
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_DELIMITER = re.compile(r"(?<!\\)\|")
_NO_ANCHOR = re.compile(r"[^\w\- ]")
_HELD = "\ue000{}\ue001"
_HELD_MARK = re.compile("\ue000(\\d+)\ue001")
MOST_COLUMNS = 1_000
"""Of a table; anything with more columns is no table."""
MOST_LINES = 10 * MOST_BLOCKS
"""Of one document."""
LONGEST_LINE = 20_000
"""Characters of a line in which emphasis and links are looked for; a longer one is data, and stays as it is."""


class TextLine(NamedTuple):
    """A line without its end, and where it begins."""

    text: str
    start: int


def read_markdown(text: str) -> Page:
    """Return the title and the blocks of a text in Markdown, as any text is.

    The title is that of the front matter, else the first heading where that is above all others.
    """
    return _MarkdownReader(text).read()


def read_plain(text: str) -> list[Block]:
    """Return the paragraphs of a text without marks: blank lines part them."""
    blocks: list[Block] = Blocks()
    lines: list[TextLine] = []
    for line in (*text_lines(text), TextLine("", len(text))):
        if line.text.strip():
            lines.append(line)
        elif lines:
            blocks.append(Prose("\n".join(line.text.strip() for line in lines), Place(span=span_of(lines))))
            lines = []
    return blocks


def anchor_of(heading: str) -> str:
    """Return what a link calls a heading: its words in lower case, joined by hyphens."""
    return _NO_ANCHOR.sub("", heading.casefold()).strip().replace(" ", "-")


def plain(text: str, references: dict[str, str] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return a piece of Markdown as plain text, and where its links lead."""
    if len(text) > LONGEST_LINE or not re.search(r"[\[*_`<\\]", text):
        return text, ()
    links: list[str] = []
    codes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        codes.append(match[2].strip())
        return _HELD.format(len(codes) - 1)

    def follow(shown: str, target: str) -> str:
        if target:
            links.append(target)
        return shown

    def by_name(match: re.Match[str]) -> str:
        target = (references or {}).get((match[2] or match[1]).casefold())
        return follow(match[1], target) if target else match[0]

    def wiki(match: re.Match[str]) -> str:
        page, part = match[1], match[2] or ""
        return follow(match[3] or page or part[1:], page + part)

    text = _CODE_SPAN.sub(hold, text)
    text = _WIKI.sub(wiki, text)
    text = _IMAGE.sub(lambda match: match[1], text)
    text = _LINK.sub(lambda match: follow(match[1], match[2]), text)
    text = _BY_NAME.sub(by_name, text)
    text = _AUTOLINK.sub(lambda match: follow(match[1], match[1]), text)
    text = _TAG.sub(" ", text)
    for _ in range(2):  # emphasis within emphasis
        text = _EMPHASIS.sub(lambda match: match[2] or match[4], text)
    text = _ESCAPED.sub(r"\1", text)
    return _released(text, codes).strip(), tuple(dict.fromkeys(links))


class _MarkdownReader:
    def __init__(self, text: str) -> None:
        self._page = Page()
        self._references: dict[str, str] = {}
        self._path: list[tuple[int, str]] = []  # level and words of the headings above
        self._anchors: list[str] = []  # of headings that no block has come after yet
        self._bare: Span | None = None  # of the last heading, until something stands beneath it
        self._links: tuple[str, ...] = ()  # of headings that no block has come after yet
        self._lines = self._prepared(text)
        self._at = 0

    def _prepared(self, text: str) -> list[TextLine]:
        front = _FRONT.match(text)
        if front is not None:
            title = _FRONT_TITLE.search(front[1])
            if title is not None:
                self._page.title = title[1].strip(" \t").strip("\"'")
            text = "\n" * front.end() + text[front.end() :]
        lines: list[TextLine] = []
        for line in text_lines(_without_comments(text)):
            reference = _REFERENCE.match(line.text)
            if reference is not None:
                self._references[reference[1].casefold()] = reference[2]
            lines.append(line if reference is None else TextLine("", line.start))
        return lines

    def read(self) -> Page:
        paragraph: list[TextLine] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if paragraph and (level := self._underline(line, paragraph)):
                self._heading(level, " ".join(line.text.strip() for line in paragraph), span_of(paragraph))
                paragraph = []
            elif self._starts_block(line):
                self._prose(paragraph)
                paragraph = []
                self._block(line)
                continue
            elif not line.text.strip():
                self._prose(paragraph)
                paragraph = []
            elif _ITEM.match(line.text):
                self._prose(paragraph)
                paragraph = [line]
            else:
                paragraph.append(line)
            self._at += 1
        self._prose(paragraph)
        self._leave(1)
        self._page.lift_title()
        return self._page

    @staticmethod
    def _underline(line: TextLine, paragraph: Sequence[TextLine]) -> int:
        match = _UNDERLINE.match(line.text)
        is_item = _ITEM.match(paragraph[0].text) is not None
        return 0 if match is None or is_item else 1 if match[1][0] == "=" else 2

    def _starts_block(self, line: TextLine) -> bool:
        text = line.text
        if text.lstrip(" ")[:1] not in ("#", "`", "~", "-", "_", "*") and "|" not in text:
            return False
        return bool(_HEADING.match(text) or _FENCE.match(text) or _RULE.match(text) or self._is_table())

    def _is_table(self) -> bool:
        if self._at + 1 >= len(self._lines) or "|" not in self._lines[self._at].text:
            return False
        below, header = self._lines[self._at + 1].text.strip(), self._lines[self._at].text
        if len(below) > LONGEST_LINE or len(header) > LONGEST_LINE:
            return False
        if "-" not in below or not _DIVIDER.match(below):
            return False
        return 1 < len(_cells(below)) == len(_cells(header)) <= MOST_COLUMNS

    def _block(self, line: TextLine) -> None:
        """Read the block that begins at a line which cannot belong to a paragraph, and go past it."""
        heading, fence = _HEADING.match(line.text), _FENCE.match(line.text)
        if heading is not None:
            self._at += 1
            self._heading(len(heading[1]), _unclosed(line.text[heading.end() :]), span_of([line]))
        elif fence is not None:
            self._code(fence[1])
        elif self._is_table():
            self._table()
        else:  # a rule
            self._at += 1

    def _heading(self, level: int, text: str, span: Span) -> None:
        words, links = plain(text, self._references)
        self._leave(level)
        if words:
            self._links += links
            self._path.append((level, words))
            self._anchors.append(anchor_of(words))
            self._bare = span

    def _leave(self, level: int) -> None:
        """Leave the headings from a level on; the last is a paragraph where nothing stands beneath it."""
        if self._bare is not None and self._path and self._path[-1][0] >= level:
            words = self._path.pop()[1]
            self._page.blocks.append(Prose(words, self._place(*self._bare), self._linked()))
        while self._path and self._path[-1][0] >= level:
            self._path.pop()

    def _place(self, start: int, end: int) -> Place:
        self._bare = None
        anchors, self._anchors = tuple(self._anchors), []
        return Place(tuple(words for _, words in self._path), span=Span(start, end), anchors=anchors)

    def _linked(self, links: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the links of a block, each once; the first beneath a heading has its links as well."""
        all_links, self._links = tuple(dict.fromkeys([*self._links, *links])), ()
        return all_links

    def _prose(self, lines: Sequence[TextLine]) -> None:
        if not lines:
            return
        parts = [_without(_QUOTE, line.text).strip() for line in lines]
        parts[0] = _without(_ITEM, parts[0])
        text, links = plain(" ".join(part for part in parts if part), self._references)
        if text or links:
            self._page.blocks.append(Prose(text, self._place(*span_of(lines)), self._linked(links)))

    def _code(self, fence: str) -> None:
        self._at += 1
        inside: list[TextLine] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if line.text.strip().startswith(fence) and not line.text.strip().strip(fence[0]):
                break
            inside.append(line)
        text = "\n".join(line.text for line in inside).strip("\n")
        if text.strip():
            begin = next(line.start for line in inside if line.text)
            end = inside[-1].start + len(inside[-1].text)
            self._page.blocks.append(Prose(text, self._place(begin, end), self._linked(), is_code=True))

    def _table(self) -> None:
        first = self._lines[self._at]
        links: list[str] = []

        def row(line: TextLine) -> tuple[str, ...]:
            cells = [plain(cell, self._references) for cell in _cells(line.text)]
            links.extend(link for _, cell_links in cells for link in cell_links)
            return tuple(text for text, _ in cells)

        header = row(first)
        self._at += 2
        rows: list[tuple[str, ...]] = []
        last = self._lines[self._at - 1]
        while self._at < len(self._lines) and "|" in self._lines[self._at].text:
            last = self._lines[self._at]
            rows.append(row(last))
            self._at += 1
        place = self._place(first.start, last.start + len(last.text))
        self._page.blocks.append(Grid(header, filled(rows, len(header)), place, links=self._linked(links)))


def text_lines(text: str) -> Iterator[TextLine]:
    """Yield the lines of a text. Raises `BadInput` for too many."""
    if text.count("\n") > MOST_LINES:
        raise BadInput(f"more than {MOST_LINES:,} lines: part it")
    start = 0
    for line in text.split("\n"):
        yield TextLine(line, start)
        start += len(line) + 1


def span_of(lines: Sequence[TextLine]) -> Span:
    """Return where some lines stand."""
    return Span(lines[0].start, lines[-1].start + len(lines[-1].text))


def _without_comments(text: str) -> str:
    """Blank out HTML comments, so that all other text keeps its place. A comment that never ends stays."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[at:start], re.sub(r"[^\n]", " ", text[start : end + 3])]
        at = end + 3
    return "".join([*parts, text[at:]]) if parts else text


def _unclosed(heading: str) -> str:
    """Return a heading's words without the hashes that may close it."""
    words = heading.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if bare != words and bare[-1:] in ("", " ", "\t") else words


def _without(mark: re.Pattern[str], text: str) -> str:
    """Return a text without the mark at its beginning, if it has one."""
    match = mark.match(text)
    return text[match.end() :] if match is not None else text


def _cells(line: str) -> list[str]:
    """Return the cells of a row; a pipe in code, or after a backslash, parts none."""
    codes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        codes.append(match[0])
        return _HELD.format(len(codes) - 1)

    line = _CODE_SPAN.sub(hold, line.strip())
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [_released(cell, codes).strip() for cell in _DELIMITER.split(line)]


def _released(text: str, codes: Sequence[str]) -> str:
    """Put back what was held out of a text while it was worked on."""
    return _HELD_MARK.sub(lambda match: codes[int(match[1])] if int(match[1]) < len(codes) else match[0], text)
