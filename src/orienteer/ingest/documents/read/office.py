"""Word files, presentations and workbooks as blocks, read whole.

Their texts are alike: paragraphs (`p`) of runs (`r`) of texts (`t`), tables (`tbl`), comments. So one walk in document
order reads all, and the names below say which elements are special. What floats next to the text follows its paragraph:
text boxes, tables within cells, footnotes, comments, charts, and the descriptions of pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import MOST_COLUMNS, Grid, Page, Place, Prose, filled
from orienteer.ingest.documents.read.office_package import Package, Part, Relation
from orienteer.ingest.documents.read.titles import LONGEST, cleaned, is_generic, titled
from orienteer.ingest.formats.workbook import all_sheets

MOST_CHARACTERS = 128 << 20
"""Characters that one file may give: its text, and some more for every block and cell."""
_BLOCK, _CELL = 100, 4  # characters that a block and a cell take as well as their text
MOST_SPANNED = 1_000
"""Characters of a merged cell that are repeated in each of its cells; a longer text is only in the first."""
MOST_TITLES = 3
"""Maximum rows above a table's header that are its caption; more rows are paragraphs."""
LEAST = 2
"""Minimum rows and columns of a table; anything less is page layout."""
MOST_FIELDS, LONGEST_INSTRUCTION, MOST_BASES = 50, 2_000, 20
"""Nested fields, characters of a field's instruction, styles based on one another. More of them have no effect."""

_DELETED = frozenset(["del", "moveFrom", "delText", "delInstrText"])
_SILENT = _DELETED | {"pPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr", "sdtPr", "ffData", "lstStyle"}
_SILENT |= {"bodyPr", "replyLst", "rPh"}  # without text, or read apart
_LEADING = {"chart": "r:id", "relIds": "r:dm"}  # what is another part, and the attribute that names it
_APART = frozenset(["txbxContent", "txBody", "tbl", *_LEADING])  # within a paragraph, but no part of it
_RUNS = frozenset(["r", "hyperlink", "fldSimple", "oMath", "oMathPara", "bookmarkStart"])  # some stand in no paragraph
_BEFORE = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "rt": " ("}
_BEFORE |= {"den": "/", "sup": "^", "sub": "_"}
_AFTER = {"p": "\n", "rt": ")"}
_REFERENCES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
_COMMENTS = frozenset(["comment", "cm", "reply", "threadedComment"])
_AUTHORS = frozenset(["authors", "cmAuthorLst", "authorLst", "personList"])
_EMBEDDED = frozenset(["altChunk", "OLEObject", "oleObj"])
_CONTENTS = re.compile(r"\s*(?:TOC|TOA|INDEX)\b")  # fields and styles of what lists what is elsewhere
_CONTENTS_STYLE = re.compile(r"toc |index |table of ")
_ADDRESS = re.compile(r'\s*HYPERLINK\s+(\\l\s+)?"([^"]+)"')
_HEADS = {"creator": "author", "created": "created", "modified": "modified"}
"""Metadata by the names of the core properties."""
_HEADING = re.compile(r"(?:title|heading ?([1-9]))$")
_FILE = re.compile(r"(?:.*[\\/].*|\S+)\.\w{2,4}")  # what programs put where a picture should be described
_SYMBOL = re.compile(r"(?!00[01]|D[89A-F]|[EF])[0-9A-F]{4}", re.IGNORECASE)  # no code of symbol fonts, no half of one


def read_office(path: Path) -> Page:
    """Return title and blocks of a Word file, presentation or workbook. Raises `BadInput` if it cannot be read."""
    try:
        return _Reader(path).read_file()
    except RecursionError as error:
        raise BadInput("nests too deeply: save it again") from error
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{path} ")) from error


@dataclass(slots=True)
class _Field:
    """An open field: its instruction, and whether its result has begun."""

    instruction: str = ""
    is_shown: bool = False

    @property
    def is_contents(self) -> bool:
        return self.is_shown and _CONTENTS.match(self.instruction) is not None


class _Reader:
    """Reads the parts of a file into the blocks of a page."""

    def __init__(self, path: Path) -> None:
        self._path, self._package, self._page = path, Package(path.read_bytes()), Page()
        self._left = MOST_CHARACTERS
        # where the next block stands
        self._headings: list[tuple[int, str]] = []
        self._is_bare = False  # nothing is beneath the last heading yet
        self._slide: int | None = None
        self._anchors: list[str] = []
        self._links: list[str] = []
        self._is_navigation = False
        # what is read
        self._part = Part(Element(""), {})
        self._fields: list[_Field] = []  # those that are open, outermost first
        self._styles: dict[str, Element] = {}
        self._style = cache(self._style_of)
        self._authors: dict[str, str] = {}
        self._answered: set[str] = set()  # cells that are talked about
        self._has_cells = False
        self._embedded = 0  # files within the file, which are not read
        # what waits, or was read
        self._after: list[tuple[Part, Element]] = []
        self._notes: dict[tuple[str, str], tuple[Part, Element]] = {}
        self._caption = self._initial = ""  # the last paragraph, if it is one
        self._repeated = {"‹#›"}  # and what stands for the number of a slide
        self._is_repeated = False

    def read_file(self) -> Page:
        """Read the file by its main part. Raises `BadInput`."""
        page, package = self._page, self._package
        about = package.relations("")
        name = next((one.target for one in about.values() if one.kind == "officeDocument"), "")
        if not name and "content.xml" not in package:
            raise BadInput("no Office file: it does not say which of its parts is the document")
        main = package.part(name) if name else self._part
        for part in package.linked(main.relations, "commentAuthors", "authors", "person"):
            self._read_part(part)
        readers = {"document": self._read_document, "presentation": self._read_presentation}
        readers.get(main.root.tag, self._read_workbook)(main)
        if not page.blocks:
            raise BadInput("no text")
        if self._embedded:
            page.notes.append(f"not read: files within it ({self._embedded}); save them as files of their own")
        cores = [core.root for core in package.linked(about, "core-properties")]
        names = [cleaned(core.findtext("title") or "") for core in cores]
        said = {name: core.findtext(tag) for core in cores for tag, name in _HEADS.items()}
        page.heads |= {name: cleaned(value) for name, value in said.items() if value}
        page.notes += package.faults
        page.title = next((title for title in (page.title, *names) if not is_generic(title)), "")
        return titled(page) if main.root.tag == "document" else page

    def _read_document(self, main: Part) -> None:
        """Read a Word file: its text, then its headers and footers."""
        for part in self._package.linked(main.relations, "styles"):
            self._styles = {style.get("styleId", ""): style for style in part.root.iterfind("style")}
        for part in self._package.linked(main.relations, *_REFERENCES.values()):
            notes = (note for note in part.root if note.get("type", "normal") == "normal")  # the others are lines
            self._notes |= {(part.root.tag, note.get("id", "")): (part, note) for note in notes}
        self._read_part(main)
        self._leave(0)
        self._headings = []
        self._after += self._notes.values()  # those that nothing refers to
        self._flush()
        self._is_repeated = True
        for part in self._package.linked(main.relations, "header", "footer"):
            self._read_part(part)

    def _read_presentation(self, main: Part) -> None:
        """Read the slides of a presentation in order, each with its comments and notes."""
        hidden, last = [], ""
        for number, one in enumerate((one for one in main.root.iter("sldId") if one.get("r:id")), 1):
            if (slide := self._package.once(main.relation(one))) is None:
                continue
            hidden += [str(number)] if slide.root.get("show") in ("0", "false") else []
            self._leave(0)
            self._slide, self._part = number, slide
            titles = (shape for shape in slide.root.iter("sp") if _placeholder(shape) in ("title", "ctrTitle"))
            title = ""
            if (shape := next(titles, None)) is not None:
                title = cleaned(self._text(shape))
                shape.clear()
            self._headings = [(1, f"{title or 'Slide'} {number}" if title in ("", last) else title)]
            self._is_bare, last = bool(title), title
            self._page.title = title if is_generic(self._page.title) else self._page.title
            self._flush()
            self._read_part(slide)
            for part in self._package.linked(slide.relations, "comments", "notesSlide"):
                self._headings += [(2, "Notes")] if part.root.tag == "notes" else []
                self._read_part(part)
                del self._headings[1:]
        self._leave(0)
        if hidden:
            self._page.notes.append(f"read, but hidden in the presentation: slides {', '.join(hidden)}")

    def _read_workbook(self, main: Part) -> None:
        """Read the sheets of a workbook, each with the comments of its cells and the text in its drawings."""
        self._has_cells, hidden = True, []
        parts = {sheet.get("name"): main.relation(sheet) for sheet in main.root.iter("sheet")}
        for sheet in all_sheets(self._path):
            hidden += [sheet.name] if sheet.is_hidden else []
            self._headings = [] if sheet.is_only and is_generic(sheet.name) else [(1, sheet.name)]
            self._grid((row.cells for row in sheet.rows), "", 1)
            self._answered = set()
            beside = self._package.relations(parts.get(sheet.name, Relation()).target)
            for part in self._package.linked(beside, "threadedComment", "comments", "drawing"):
                self._read_part(part)
        if hidden:
            self._page.notes.append(f"read, but hidden in the workbook: {', '.join(hidden)}")

    def _read_part(self, part: Part, element: Element | None = None) -> None:
        """Read a part or one of its elements. Fields do not continue past its ends."""
        outer = (self._part, self._fields)
        self._part, self._fields = part, [field for field in self._fields if field.is_contents]
        self._read(part.root if element is None else element)
        self._part, self._fields = outer

    def _read(self, element: Element) -> None:
        """Read an element that is or contains paragraphs."""
        tag = element.tag
        if tag == "p":
            self._paragraph(element)
        elif tag in _RUNS:
            paragraph = Element("p")
            paragraph.append(element)
            self._paragraph(paragraph)
        elif tag == "tbl":
            self._table(element)
        elif tag in _COMMENTS:
            self._comment(element)
        elif tag in _AUTHORS:
            self._authors |= {
                one.get("id", str(at)): one.get("name") or one.get("displayName") or one.text or ""
                for at, one in enumerate(element)
            }
        elif tag in _LEADING and element.get(_LEADING[tag]) is not None:
            if (part := self._package.once(self._part.relation(element, _LEADING[tag]))) is not None:
                self._read_part(part)
        elif tag == "chartSpace":
            self._chart(element)
        elif tag not in _SILENT:
            self._group(element)

    def _group(self, element: Element) -> None:
        """Read the content of a body, a control or a shape."""
        was_repeated, gallery = self._is_repeated, _value(element, "sdtPr/docPartObj/docPartGallery")
        contents = [_Field("TOC", is_shown=True)] if gallery == "Table of Contents" else []
        self._notice(element)
        self._flush()
        self._is_repeated |= _placeholder(element) in ("dt", "ftr", "hdr", "sldNum")
        self._fields += contents
        for child in _shown(element):
            self._read(child)
        self._fields = [field for field in self._fields if field not in contents]
        self._is_repeated = was_repeated

    def _paragraph(self, paragraph: Element) -> None:
        properties = _child(paragraph, "pPr")
        style, level = self._style(_value(properties, "pStyle"))
        if properties.find("outlineLvl") is not None:
            level = _outline(properties)
        is_contents = any(field.is_contents for field in self._fields)
        self._is_navigation = is_contents or _CONTENTS_STYLE.match(style) is not None
        words: list[str] = []
        self._take(paragraph, words)
        if text := "\n".join(filter(None, (" ".join(line.split()) for line in "".join(words).split("\n")))):
            text = self._taken_back(self._initial) + text
            if level is None or len(text) > LONGEST or self._is_navigation or self._is_repeated:
                self._add(text)
                self._caption = text if style == "caption" else ""
                self._initial = text if _child(properties, "framePr").get("lines") else ""
            else:
                self._leave(level)
                text = " ".join(text.split())
                self._headings = [*((other, above) for other, above in self._headings if other < level), (level, text)]
                self._is_bare = True
                self._page.title = self._page.title or (text if level == 0 else "")
        self._flush()

    def _style_of(self, style: str) -> tuple[str, int | None]:
        """Return the name of a style, and its level as a heading: 0 for the title, None for no heading."""
        first = ""
        for _ in range(MOST_BASES):  # styles may be based on one another in a circle
            element = self._styles.get(style, Element(""))
            name = (_value(element, "name") or style).casefold()
            first = first or name
            if (heading := _HEADING.match(name) or _HEADING.match(style.casefold())) is not None:
                return first, int(heading[1] or 0)
            if (properties := _child(element, "pPr")).find("outlineLvl") is not None:
                return first, _outline(properties)
            if not (style := _value(element, "basedOn")):
                break
        return first, None

    def _leave(self, level: int) -> None:
        """Before a heading of a level, add the last heading as a paragraph if it has no content."""
        if self._is_bare and self._headings[-1][0] >= level:
            self._add(self._headings.pop()[1])
        self._is_bare = False

    def _add(self, text: str, table: tuple[tuple[str, ...], list[tuple[str, ...]]] | None = None) -> None:
        """Add a paragraph, or a table with its caption. Skip repeated headers and footers, and page numbers."""
        anchors, links = (tuple(dict.fromkeys(names)) for names in (self._anchors, self._links))
        self._anchors, self._links = [], []
        headings = tuple(heading for _, heading in self._headings)
        place = Place(headings, self._slide, None, anchors, is_navigation=self._is_navigation)
        block = Prose(text, place, links) if table is None else Grid(*table, place, text, links)
        said = f"{text} {table}" if self._is_repeated and table else text
        if self._is_repeated and (said in self._repeated or said.isdecimal()):
            return
        self._repeated |= {said} if self._is_repeated else set()
        self._spend((text, *links, *headings, *anchors), _BLOCK)
        self._is_bare = False
        self._page.blocks.append(block)

    def _taken_back(self, text: str) -> str:
        """Remove the last block if it is this paragraph; the next block gets its links and anchors."""
        last = self._page.blocks[-1] if self._page.blocks else None
        if not isinstance(last, Prose) or last.text != text:
            return ""
        del self._page.blocks[-1]
        self._links, self._anchors = [*last.links, *self._links], [*last.place.anchors, *self._anchors]
        return text

    def _spend(self, texts: Sequence[str], beside: int = 0) -> None:
        """Count the size of texts, plus `beside`. Raises `BadInput` if the file exceeds the limit."""
        self._left -= sum(map(len, texts)) + _CELL * len(texts) + beside
        if self._left < 0:
            raise BadInput(f"holds more than {MOST_CHARACTERS:,} characters of text: split it")

    def _flush(self) -> None:
        """Read the elements that follow the last block."""
        self._is_navigation = False
        while self._after:
            waiting, self._after = self._after, []
            for part, element in waiting:
                self._read_part(part, element)

    def _comment(self, comment: Element) -> None:
        cell = comment.get("ref", "")
        if comment.tag == "threadedComment":
            self._answered.add(cell)
        elif cell in self._answered:  # it repeats the talk for old programs
            return
        author = comment.get("author") or self._authors.get(comment.get("authorId", comment.get("personId", "")))
        if text := self._text(comment):
            self._add(f"Comment{f' by {author}' if author else ''}{f' on {cell}' if cell else ''}: {text}")
        self._flush()
        for reply in comment.iterfind("replyLst/reply"):
            self._comment(reply)

    def _text(self, element: Element) -> str:
        """Return the text of an element in one line. Floating elements are read later."""
        words: list[str] = []
        self._take(next(element.iterfind("txBody"), element), words)
        return " ".join("".join(words).split())

    def _take(self, element: Element, words: list[str]) -> None:
        """Collect the words, links and anchors of a paragraph. Floating elements are read later."""
        for child in _shown(element):
            tag = child.tag
            if tag == "t":
                words += [child.text or ""] if all(field.is_shown for field in self._fields) else []
            elif tag in _APART:
                self._after.append((self._part, child))
            elif tag in _REFERENCES:
                note = self._notes.pop((_REFERENCES[tag], child.get("id", "")), None)
                self._after += [note] if note is not None else []
            elif tag in ("fldChar", "fldSimple", "instrText"):
                self._take_field(child, words)
            elif tag == "rPr":
                list(map(self._notice, child.findall("hlinkClick")))
            elif tag not in _SILENT:
                words.append(_before(child))
                if child.attrib:
                    self._notice(child)
                self._take(child, words)
                words.append(_AFTER.get(tag, ""))
        if element.tag == "p":
            self._fields = [field for field in self._fields if field.is_shown]  # one that shows nothing hides nothing

    def _take_field(self, field: Element, words: list[str]) -> None:
        """Read a field that is one element, or begin or end one, or begin its result."""
        mark = field.get("fldCharType", field.tag)
        if mark in ("begin", "fldSimple") and len(self._fields) < MOST_FIELDS:
            self._fields.append(_Field(field.get("instr", "")))
        last = self._fields[-1] if self._fields else _Field()
        if mark == "instrText" and len(last.instruction) < LONGEST_INSTRUCTION:
            last.instruction += field.text or ""
        elif mark in ("separate", "fldSimple"):
            last.is_shown = True
            self._is_navigation |= last.is_contents
            if (address := _ADDRESS.match(last.instruction)) is not None:
                self._links.append(f"#{address[2]}" if address[1] else address[2])
            self._take(field, words)
        if mark in ("end", "fldSimple") and self._fields:
            self._fields.pop()

    def _notice(self, element: Element) -> None:
        """Collect an element's link, its anchor and its description as a picture, which programs may repeat."""
        self._embedded += element.tag in _EMBEDDED
        anchor = f"#{element.get('anchor')}" if element.get("anchor") else ""
        if element.tag in ("hyperlink", "hlinkClick") and (link := self._part.relation(element).address + anchor):
            self._links.append(link)
        elif element.tag == "bookmarkStart" and element.get("name", "_GoBack") != "_GoBack":
            self._anchors.append(element.get("name", ""))
        text = " ".join((element.get("descr") or element.get("alt") or "").split())
        if text and not _FILE.fullmatch(text) and not (self._after and "".join(self._after[-1][1].itertext()) == text):
            self._after.append((self._part, Element("p")))
            SubElement(self._after[-1][1], "t").text = text

    def _table(self, table: Element) -> None:
        rows = [(row, list(_members(row, "tc"))) for row in _members(table, "tr")]
        if len(rows) < LEAST or max(len(cells) for _, cells in rows) < LEAST:
            for cell in (cell for _, cells in rows for cell in cells):
                self._group(cell)
            return
        self._is_navigation = any(field.is_contents for field in self._fields)
        caption = self._taken_back(self._caption)
        heads = max(1, next((at for at, (row, _) in enumerate(rows) if row.find("trPr/tblHeader") is None), 0))
        is_wide = any(cell.get("gridSpan") or cell.find("tcPr/gridSpan") is not None for cell in rows[0][1])
        if heads < LEAST < len(rows) and is_wide:  # the second row has the names of what is merged in the first
            heads += any(_merged(cell) == "vMerge" for cell in rows[1][1])
        self._grid(self._rows(rows), caption, heads)
        self._flush()

    def _rows(self, rows: Iterable[tuple[Element, Sequence[Element]]]) -> Iterator[list[str]]:
        """Yield each row's texts, one a column. Merged cells repeat their text."""
        above: list[str] = []
        for row, cells in rows:
            texts = [""] * _number(row, "trPr/gridBefore", 0)
            for cell in cells[: MOST_COLUMNS + 1]:
                text, span, at = self._text(cell), _number(cell, "tcPr/gridSpan", 1), len(texts)
                if not text and (merged := _merged(cell)):
                    same = above[at : at + 1] if merged == "vMerge" else texts[-1:]
                    text = "".join(other for other in same if len(other) <= MOST_SPANNED)
                repeated = text if len(text) * span <= MOST_SPANNED and len(cells) > 1 else ""
                texts += [text, *[repeated] * (span - 1)]
            above = texts[: MOST_COLUMNS + 1]
            yield above

    def _grid(self, given: Iterable[list[str]], caption: str, heads: int) -> None:
        """Add a table. The lines above its header are its caption, or paragraphs if they are many."""
        rows = []
        for row in given:
            self._spend(row)
            rows += [row] if any(row) else []
        above = next((at for at, row in enumerate(rows[:-1]) if not (row[0] and {*row} <= {"", row[0]})), 0)
        titles, rows, heads = [row[0] for row in rows[:above]], rows[above:], max(1, heads - above)
        if above <= MOST_TITLES:
            caption = " ".join(filter(None, [caption, *titles]))
        else:
            list(map(self._add, titles))
        width = max(map(len, rows), default=0)
        if width > MOST_COLUMNS:
            name = caption or next((heading for _, heading in self._headings[-1:]), "a table")
            self._page.notes.append(f"not read: columns of {name} after the first {MOST_COLUMNS:,}")
            width = MOST_COLUMNS
        self._spend((), _CELL * sum(max(width - len(row), 0) for row in rows))
        table = list(filled(rows, width))
        names = (" ".join(dict.fromkeys(filter(None, column))) for column in zip(*table[:heads], strict=True))
        header = tuple(name or f"column_{at}" for at, name in enumerate(names, 1))
        if header or caption:
            self._add(caption, (header, table[heads:]) if header else None)

    def _chart(self, chart: Element) -> None:
        """Read a chart: its titles, and a row for each category with the values of the series."""
        caption = " ".join(filter(None, map(self._text, chart.iter("title"))))
        series = [] if self._has_cells else list(chart.iter("ser"))[:MOST_COLUMNS]  # a workbook has them in cells
        names = [" ".join(value.text or "" for value in one.iterfind("tx//v")) for one in series]
        columns = [_points(one, "cat", "xVal") for one in series[:1]] + [_points(one, "val", "yVal") for one in series]
        rows = ([column.get(at, "") for column in columns] for at in sorted(set[int]().union(*columns)))
        self._grid(chain([["", *names]], rows), caption, 1)
        self._flush()


def _shown(element: Element) -> Iterable[Element]:
    """Return the children in reading order: only the first alternative, and ruby after its base."""
    if element.tag == "AlternateContent":
        return element[:1]
    return reversed(element) if element.tag == "ruby" else element


def _members(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, even inside controls."""
    for child in _shown(element):
        if child.tag == tag:
            yield child
        elif child.tag not in _SILENT:
            yield from _members(child, tag)


def _before(element: Element) -> str:
    """Return the characters that an element represents."""
    if element.tag == "sym" and _SYMBOL.fullmatch(code := element.get("char", "")):
        return chr(int(code, 16))
    return (element.text or "") if element.tag == "text" else _BEFORE.get(element.tag, "")


def _placeholder(shape: Element) -> str:
    """Return a slide shape's placeholder type, such as `title`, or ""."""
    return _child(shape, "nvSpPr/nvPr/ph").get("type", "") if shape.tag == "sp" else ""


def _child(element: Element, path: str) -> Element:
    """Return a descendant by its path, or an empty element."""
    found = element.find(path)
    return Element(path) if found is None else found


def _value(element: Element, path: str) -> str:
    """Return the value of a property, or ""."""
    return _child(element, path).get("val", "")


def _outline(properties: Element) -> int | None:
    level = _value(properties, "outlineLvl")
    return int(level) + 1 if level in tuple("012345678") else None


def _number(element: Element, path: str, otherwise: int) -> int:
    text = _value(element, path)
    return min(int(text), MOST_COLUMNS) if text.isdecimal() and len(text) < 10 else otherwise


def _merged(cell: Element) -> str:
    """Return "vMerge" if the cell is merged with the one above, "hMerge" with the one before, else ""."""
    for name in ("vMerge", "hMerge"):
        mark = cell.find(f"tcPr/{name}")
        if cell.get(name) in ("1", "true") or (mark is not None and mark.get("val", "continue") == "continue"):
            return name
    return ""


def _points(series: Element, *names: str) -> dict[int, str]:
    """Return the points of a chart's series by their index."""
    points: dict[int, str] = {}
    for point in (point for name in names for point in series.iterfind(f"{name}//pt")):
        at = int(point.get("idx", "")[:9]) if point.get("idx", "").isdecimal() else 0
        points[at] = " ".join(filter(None, (point.findtext("v"), points.get(at))))  # categories may have several levels
    return points
