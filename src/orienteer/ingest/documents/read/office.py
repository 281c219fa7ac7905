"""Word files, presentations and workbooks as blocks, read whole.

The text of Word and that of drawings are alike, paragraphs (`p`) of runs (`r`) of texts (`t`), and tables (`tbl`); so
one walk in document order reads both. What floats next to the text follows its paragraph: text boxes, tables within
cells, footnotes, comments, charts, and the descriptions of pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from xml.etree.ElementTree import Element

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import Block, Grid, Page, Place, Prose, filled
from orienteer.ingest.documents.read.markdown import MOST_COLUMNS
from orienteer.ingest.documents.read.office_package import Package, Part, Relation
from orienteer.ingest.documents.read.titles import LONGEST, cleaned, is_generic, titled
from orienteer.ingest.formats.workbook import all_sheets

MOST_CHARACTERS = 128 << 20
"""Characters that one file may give: its text, and some more for every block and cell."""
_BLOCK, _CELL = 100, 4  # characters that a block and a cell take as well as their text
MOST_SPANNED = 1_000
"""Characters of a cell in all cells that it is merged of; a longer text is in the first alone."""
MOST_TITLES = 3
"""Rows above a table's header that are its caption; more are paragraphs."""
LEAST = 2
"""Rows, and columns, of a table; anything less lays out a page."""
_SILENT = frozenset(
    [
        *("pPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr", "sdtPr", "ffData", "bodyPr", "lstStyle", "replyLst"),
        "rPh",
        *("del", "moveFrom", "delText", "delInstrText"),
    ]
)
"""Elements without text, read apart, or deleted."""
_APART = frozenset(["txbxContent", "txBody", "tbl", "chart", "relIds"])
"""Elements within a paragraph that are no part of it."""
_LEADING = {"chart": "r:id", "relIds": "r:dm"}
"""Elements whose content is another part, and the attribute that names it."""
_RUNS = frozenset(["r", "hyperlink", "fldSimple", "oMath", "oMathPara", "bookmarkStart"])
"""Elements of a paragraph, which some files have outside of any."""
_WRAPPERS = frozenset(["sdt", "sdtContent", "customXml", "ins", "moveTo", "AlternateContent", "Choice"])
"""Elements that rows and cells may be in."""
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_REFERENCES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
_SEPARATORS = frozenset(["separator", "continuationSeparator", "continuationNotice"])
_EMBEDDED = frozenset(["aFChunk", "package", "oleObject"])
_FORMULA = {"den": "/", "sup": "^", "sub": "_"}
_TITLES, _REPEATED = frozenset(["title", "ctrTitle"]), frozenset(["dt", "ftr", "hdr"])
"""Placeholders: a slide's title, and those with the same text on every slide."""
_CONTENTS = re.compile(r"\s*(?:TOC|TOA|INDEX)\b")
"""Fields that list what is elsewhere in the document."""
_CONTENTS_STYLE = re.compile(r"toc |index |table of ")
_ADDRESS = re.compile(r'\s*HYPERLINK\s+(\\l\s+)?"([^"]+)"')
MOST_FIELDS, LONGEST_INSTRUCTION, MOST_BASES = 50, 2_000, 20
"""Fields within fields, characters of what one computes, styles based on one another: what is beyond has no effect."""
_HEADING = re.compile(r"heading ?([1-9])$")
_FILE = re.compile(r"(?:.*[\\/].*|\S+)\.\w{2,4}")
"""What programs put where the description of a picture should be."""
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{2,4}")
_PRIVATE = range(0xD800, 0xF900)  # code points that symbol fonts use, and halves of others: they name no character
_Style: TypeAlias = tuple[str, int | None]
"""The name of a style in lower case, and its level as a heading: 0 for the title, None for no heading."""


def read_office(path: Path) -> Page:
    """Return title and blocks of a Word file, presentation or workbook. Raises `BadInput` if it cannot be read."""
    package = Package(path.read_bytes())
    reader = _Reader(package)
    try:
        reader.read_file(path)
    except RecursionError as error:
        raise BadInput("nests too deeply: save it again") from error
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{path} ")) from error
    page = reader.page
    if not page.blocks:
        raise BadInput("no text")
    if reader.embedded:
        page.notes.append(f"not read: files within it ({reader.embedded}); save them as files of their own")
    page.notes += package.faults
    named = "" if (core := package.optional("docProps/core.xml")) is None else cleaned(core.findtext("title") or "")
    page.title = next((title for title in (page.title, named) if not is_generic(title)), "")
    return titled(page) if reader.has_styles else page


class _Reader:
    """Reads the parts of a file into the blocks of a page."""

    def __init__(self, package: Package) -> None:
        self.page = Page()
        self.has_styles = False
        self.embedded = 0
        """Files within the file, which are not read."""
        self._package = package
        self._left = MOST_CHARACTERS
        # where the next block stands
        self._path: list[tuple[int, str]] = []
        self._is_bare = False  # nothing is beneath the last heading yet
        self._slide: int | None = None
        self._anchors: list[str] = []
        self._links: list[str] = []
        self._in_contents = 0
        self._is_navigation = False
        # what is read
        self._part = Part("", Element(""), {})
        self._fields: list[_Field] = []  # those that are open, outermost first
        self._has_cells = False
        self._takers = {
            "t": self._take_text,
            **dict.fromkeys(_CHARACTERS, self._take_character),
            "sym": self._take_symbol,
            "ruby": self._take_ruby,
            **dict.fromkeys(_APART, self._take_apart),
            **dict.fromkeys(_REFERENCES, self._take_note),
            "bookmarkStart": self._take_anchor,
            "rPr": self._take_click,
            "hyperlink": self._take_link,
            "fldSimple": self._take_field,
            "fldChar": self._take_mark,
            "instrText": self._take_instruction,
        }
        self._styles: dict[str, Element] = {}
        self._known: dict[str, _Style] = {}
        self._title_shape: Element | None = None
        self._notes: dict[tuple[str, str], tuple[Part, Element]] = {}
        # what waits
        self._after: list[tuple[Part, Element | str]] = []
        self._caption: Prose | None = None
        self._carried = ""  # a large initial, whose word goes on in the next paragraph
        self._repeated: set[str] = set()
        self._is_repeated = False

    # ----------------------------------------------------------------------------------------------- kinds of file

    def read_file(self, path: Path) -> None:
        """Read a file by what is in it. Raises `BadInput`."""
        name = self._package.main()
        main = self._package.part(name) if name else None
        if main is not None and main.root.tag == "document":
            self.read_document(main)
        elif main is not None and main.root.tag == "presentation":
            self.read_presentation(main)
        elif not name and "content.xml" not in self._package:
            raise BadInput("no Office file: it does not say which of its parts is the document")
        else:
            self.read_workbook(path, main)

    def read_document(self, main: Part) -> None:
        """Read a Word file: its text, then its headers and footers."""
        package, self.has_styles = self._package, True
        for part in package.linked(main.relations, "styles"):
            self._styles = {style.get("styleId", ""): style for style in part.root.iterfind("style")}
        for kind in _REFERENCES.values():
            for part in package.linked(main.relations, kind):
                notes = (note for note in part.root if note.get("type") not in _SEPARATORS)
                self._notes |= {(kind, note.get("id", "")): (part, note) for note in notes}
        self._read_part(main)
        self._leave(0)
        self._path = []
        self._after += self._notes.values()  # those that nothing refers to
        self._flush()
        self._is_repeated = True
        for part in package.linked(main.relations, "header", "footer"):
            self._read_part(part)

    def read_presentation(self, main: Part) -> None:
        """Read the slides of a presentation in order, each with its notes and comments."""
        package = self._package
        people = list(package.linked(main.relations, "commentAuthors", "authors"))
        authors = {author.get("id", ""): author.get("name", "") for part in people for author in part.root}
        slides = [main.target(slide) for slide in main.root.iter("sldId") if slide.get("r:id")]
        hidden, last = [], ""
        for number, relation in enumerate(slides, 1):
            if (slide := package.once(relation)) is None:
                continue
            if slide.root.get("show") in ("0", "false"):
                hidden.append(str(number))
            self._leave(0)
            self._slide, self._part = number, slide
            self._title_shape = next((shape for shape in slide.root.iter("sp") if _placeholder(shape) in _TITLES), None)
            title = "" if self._title_shape is None else cleaned(self._text(self._title_shape))
            self._path = [(1, f"{title or 'Slide'} {number}" if title in ("", last) else title)]
            self._is_bare, last = bool(title), title
            self.page.title = title if is_generic(self.page.title) else self.page.title
            self._flush()
            self._read_part(slide)
            for part in package.linked(slide.relations, "comments"):
                for comment in (one for tag in ("cm", "reply") for one in part.root.iter(tag)):
                    self._comment(comment, authors.get(comment.get("authorId", ""), ""))
            for part in package.linked(slide.relations, "notesSlide"):
                self._path.append((2, "Notes"))
                self._read_part(part)
                self._path.pop()
        self._leave(0)
        if hidden:
            self.page.notes.append(f"read, but hidden in the presentation: slides {', '.join(hidden)}")

    def read_workbook(self, path: Path, main: Part | None) -> None:
        """Read the sheets of a workbook, each with the comments of its cells and the text in its drawings."""
        package, hidden, self._has_cells = self._package, [], True
        relations = {} if main is None else main.relations
        parts = {} if main is None else {sheet.get("name"): main.target(sheet) for sheet in main.root.iter("sheet")}
        people = (person for part in package.linked(relations, "person") for person in part.root)
        authors = {person.get("id", ""): person.get("displayName", "") for person in people}
        for sheet in all_sheets(path):
            self._path = [] if sheet.is_only and is_generic(sheet.name) else [(1, sheet.name)]
            if sheet.is_hidden:
                hidden.append(sheet.name)
            if max((len(row.cells) for row in sheet.rows), default=0) > MOST_COLUMNS:
                self.page.notes.append(f"not read: columns of {sheet.name} after the first {MOST_COLUMNS:,}")
            rows = [row.cells[:MOST_COLUMNS] for row in sheet.rows]
            for row in rows:
                self._spend(row)
            self._grid(rows, "", 1)
            if (part := parts.get(sheet.name)) is not None:
                self._read_beside(package.relations(part.target), authors)
        if hidden:
            self.page.notes.append(f"read, but hidden in the workbook: {', '.join(hidden)}")

    def _read_beside(self, relations: Mapping[str, Relation], authors: Mapping[str, str]) -> None:
        """Read the comments of a sheet's cells and the text in its drawings."""
        threads = [cell for thread in self._package.linked(relations, "threadedComment") for cell in thread.root]
        for cell in threads:
            self._comment(cell, authors.get(cell.get("personId", ""), ""))
        answered = {cell.get("ref") for cell in threads}  # whose first comment is repeated for old programs
        for comments in self._package.linked(relations, "comments"):
            names = [name.text or "" for name in comments.root.iter("author")]
            for cell in comments.root.iter("comment"):
                if cell.get("ref") not in answered:
                    at = _number(cell.get("authorId", ""), len(names))
                    self._comment(cell, names[at] if at < len(names) else "")
        for drawing in self._package.linked(relations, "drawing"):
            self._read_part(drawing)

    # ------------------------------------------------------------------------------------------------------- blocks

    def _read_part(self, part: Part) -> None:
        self.embedded += sum(relation.kind in _EMBEDDED for relation in part.relations.values())
        with self._within(part):
            self._read_all(part.root)
            self._add_caption()

    @contextmanager
    def _within(self, part: Part) -> Iterator[None]:
        """Read another part, or what stands apart in this one: no field reaches over its ends."""
        outer = (self._part, self._fields, self._in_contents)
        self._part, self._fields = part, []
        yield
        self._part, self._fields, self._in_contents = outer

    def _read_all(self, element: Element) -> None:
        for child in element:
            self._read(child)
        if self._carried:
            self._paragraph(Element("p"))

    def _read(self, element: Element) -> None:
        """Read an element that holds paragraphs, or is one."""
        tag = element.tag
        if tag in _SILENT or element is self._title_shape:
            return
        if tag == "p":
            self._paragraph(element)
        elif tag in _RUNS:
            paragraph = Element("p")
            paragraph.append(element)
            self._paragraph(paragraph)
        elif tag == "tbl":
            self._table(element)
        elif tag == "comment":
            self._comment(element, element.get("author", ""))
        elif element.get(leading := _LEADING.get(tag, "")) is not None:
            if (part := self._package.once(self._part.target(element, leading))) is not None:
                (self._chart if tag == "chart" else self._read_part)(part)
        elif (kind := _placeholder(element)) != "sldNum":
            self._describe(element)
            self._flush()
            was_repeated, gallery = self._is_repeated, _value(element, "sdtPr/docPartObj/docPartGallery")
            self._is_repeated |= kind in _REPEATED
            self._in_contents += gallery == "Table of Contents"
            self._read_all(_shown(element))
            self._in_contents -= gallery == "Table of Contents"
            self._is_repeated = was_repeated

    def _paragraph(self, paragraph: Element) -> None:
        style, level = self._style(paragraph)
        self._is_navigation = self._in_contents > 0 or _CONTENTS_STYLE.match(style) is not None
        words, self._carried = self._carried + self._words(paragraph), ""
        frame = paragraph.find("pPr/framePr")
        if frame is not None and frame.get("dropCap") in ("drop", "margin"):
            self._carried = words
            return
        text = "\n".join(filter(None, (" ".join(line.split()) for line in words.split("\n"))))
        if text:
            self._add_caption()
        is_heading = level is not None and len(text) <= LONGEST and not self._is_navigation and not self._is_repeated
        if text and level is not None and is_heading:
            self._leave(level)
            heading = " ".join(text.split())
            self._path = [*((other, above) for other, above in self._path if other < level), (level, heading)]
            self._is_bare = True
            self.page.title = self.page.title or (heading if level == 0 else "")
        elif text:
            prose = Prose(text, self._place(), self._taken_links())
            if style == "caption":
                self._caption = prose  # of the table that follows, if one does
            else:
                self._add(prose)
        self._flush()

    def _style(self, paragraph: Element) -> _Style:
        """Return the name of a paragraph's style, and its level as a heading."""
        properties = paragraph.find("pPr")
        if properties is None:
            return "", None
        style = _value(properties, "pStyle")
        if style not in self._known:
            self._known[style] = self._style_of(style)
        name, level = self._known[style]
        return name, level if properties.find("outlineLvl") is None else _outline(properties)

    def _style_of(self, style: str) -> _Style:
        first = ""
        for _ in range(MOST_BASES):  # styles may be based on one another in a circle
            element = self._styles.get(style, Element(""))
            name = (_value(element, "name") or style).casefold()
            first = first or name
            if name == "title" or _HEADING.match(name):
                return first, 0 if name == "title" else int(name[-1])
            properties = element.find("pPr")
            if properties is not None and properties.find("outlineLvl") is not None:
                return first, _outline(properties)
            if not (style := _value(element, "basedOn")):
                break
        return first, None

    def _leave(self, level: int) -> None:
        """Add the last heading as a paragraph if nothing is beneath it, and a heading of that level comes."""
        if self._is_bare and self._path[-1][0] >= level:
            _, heading = self._path.pop()
            self._add(Prose(heading, self._place()))
        self._is_bare = False

    def _place(self) -> Place:
        anchors, self._anchors = tuple(dict.fromkeys(self._anchors)), []
        headings = tuple(heading for _, heading in self._path)
        return Place(headings, self._slide, None, anchors, is_navigation=self._is_navigation)

    def _taken_links(self) -> tuple[str, ...]:
        links, self._links = tuple(dict.fromkeys(self._links)), []
        return links

    def _add(self, block: Block) -> None:
        words = block.text if isinstance(block, Prose) else block.caption
        if self._is_repeated:
            said = words if isinstance(block, Prose) else f"{block.header} {block.rows}"
            if said in self._repeated or said.isdecimal():  # the number of a page
                return
            self._repeated.add(said)
        self._spend((words, *block.links, *block.place.headings, *block.place.anchors), beside=_BLOCK)
        self._is_bare = False
        self.page.blocks.append(block)

    def _spend(self, texts: Sequence[str], *, beside: int = 0) -> None:
        """Count texts, and what they take beside. Raises `BadInput` if they are too many."""
        self._left -= sum(map(len, texts)) + _CELL * len(texts) + beside
        if self._left < 0:
            raise BadInput(f"holds more than {MOST_CHARACTERS:,} characters of text: split it")

    def _add_caption(self) -> None:
        if self._caption is not None:
            caption, self._caption = self._caption, None
            self._add(caption)

    def _flush(self) -> None:
        """Read what follows the block that was read."""
        while self._after:
            waiting, self._after = self._after, []
            for part, element in waiting:
                self._is_navigation = False
                if isinstance(element, str):
                    self._add(Prose(element, self._place()))
                else:
                    with self._within(part):
                        self._read(element)
        self._is_navigation = False

    def _comment(self, comment: Element, author: str) -> None:
        text = self._text(comment) or " ".join((comment.findtext("text") or "").split())
        cell = f" on {comment.get('ref')}" if comment.get("ref") else ""
        if text:
            links = self._taken_links()
            self._add(Prose(f"Comment{f' by {author}' if author else ''}{cell}: {text}", self._place(), links))
        self._flush()

    def _describe(self, element: Element) -> None:
        """Take the description of a picture, which some elements repeat."""
        text = " ".join((element.get("descr") or element.get("alt") or "").split())
        if text and not _FILE.fullmatch(text) and text != next((last for _, last in self._after[-1:]), None):
            self._after.append((self._part, text))

    # -------------------------------------------------------------------------------------------------------- words

    def _words(self, element: Element) -> str:
        words: list[str] = []
        self._take(element, words)
        self._fields = [field for field in self._fields if field.is_shown]  # one that shows nothing hides nothing
        return "".join(words)

    def _text(self, element: Element) -> str:
        """Return the text of the paragraphs within an element; what floats waits."""
        texts: list[str] = []
        for child in _shown(element):
            if child.tag in ("p", "text"):
                texts.append(self._words(child))
            elif child.tag in _APART and child.tag != "txBody":
                self._after.append((self._part, child))
            elif child.tag not in _SILENT:
                texts.append(self._text(child))
        return " ".join(" ".join(texts).split())

    def _take(self, element: Element, words: list[str]) -> None:
        """Take the words of a paragraph, and its links and anchors; what floats waits."""
        for child in _shown(element):
            if (take := self._takers.get(child.tag)) is not None:
                take(child, words)
            elif child.tag not in _SILENT:
                self._describe(child)
                words.append(_FORMULA.get(child.tag, ""))
                self._take(child, words)

    def _take_text(self, text: Element, words: list[str]) -> None:
        if all(field.is_shown for field in self._fields):
            words.append(text.text or "")

    def _take_character(self, character: Element, words: list[str]) -> None:
        words.append(_CHARACTERS[character.tag])

    def _take_symbol(self, symbol: Element, words: list[str]) -> None:
        code = symbol.get("char", "")
        if _HEXADECIMAL.fullmatch(code) and int(code, 16) not in _PRIVATE and int(code, 16) >= ord(" "):
            words.append(chr(int(code, 16)))

    def _take_ruby(self, ruby: Element, words: list[str]) -> None:
        for name, before, after in (("rubyBase", "", ""), ("rt", " (", ")")):
            words.append(before)
            for text in ruby.iterfind(name):
                self._take(text, words)
            words.append(after)

    def _take_apart(self, element: Element, words: list[str]) -> None:
        self._after.append((self._part, element))

    def _take_note(self, reference: Element, words: list[str]) -> None:
        note = self._notes.pop((_REFERENCES[reference.tag], reference.get("id", "")), None)
        self._after += [note] if note is not None else []

    def _take_anchor(self, bookmark: Element, words: list[str]) -> None:
        self._anchors += [name for name in [bookmark.get("name", "")] if name not in ("", "_GoBack")]

    def _take_click(self, properties: Element, words: list[str]) -> None:
        for click in properties.iterfind("hlinkClick"):
            self._take_link(click, words)

    def _take_link(self, link: Element, words: list[str]) -> None:
        relation = self._part.target(link)
        anchor = f"#{link.get('anchor')}" if link.get("anchor") else ""
        if anchor or (relation is not None and relation.is_external):
            self._links.append((relation.target if relation is not None else "") + anchor)
        self._take(link, words)

    def _take_field(self, field: Element, words: list[str]) -> None:
        """Take a field that is one element."""
        self._fields.append(_Field(field.get("instr", "")))
        self._mark_field("separate")
        self._take(field, words)
        self._mark_field("end")

    def _take_mark(self, mark: Element, words: list[str]) -> None:
        self._mark_field(mark.get("fldCharType", ""))

    def _take_instruction(self, instruction: Element, words: list[str]) -> None:
        if self._fields and len(self._fields[-1].instruction) < LONGEST_INSTRUCTION:
            self._fields[-1].instruction += instruction.text or ""

    def _mark_field(self, mark: str) -> None:
        """Begin a field, begin its result, or end it."""
        if mark == "begin" and len(self._fields) < MOST_FIELDS:
            self._fields.append(_Field())
        elif mark == "separate" and self._fields:
            field = self._fields[-1]
            field.is_shown, field.is_contents = True, _CONTENTS.match(field.instruction) is not None
            self._in_contents += field.is_contents
            self._is_navigation |= field.is_contents
            if (address := _ADDRESS.match(field.instruction)) is not None:
                self._links.append(f"#{address[2]}" if address[1] else address[2])
        elif mark == "end" and self._fields:
            self._in_contents -= self._fields.pop().is_contents

    # ------------------------------------------------------------------------------------------------------- tables

    def _table(self, table: Element) -> None:
        rows = [(row, list(_members(row, "tc"))) for row in _members(table, "tr")]
        if len(rows) < LEAST or max(len(cells) for _, cells in rows) < LEAST:
            for cell in (cell for _, cells in rows for cell in cells):
                self._read_all(cell)
            return
        self._is_navigation = self._in_contents > 0
        caption, self._caption = self._caption or Prose(""), None
        self._links += caption.links
        self._anchors += caption.place.anchors
        texts: list[list[str]] = []
        for row, cells in rows:
            texts.append(self._row(row, cells, texts[-1] if texts else []))
            self._spend(texts[-1])
        heads = max(1, next((at for at, (row, _) in enumerate(rows) if row.find("trPr/tblHeader") is None), 0))
        if heads < LEAST < len(rows) and any(map(_spans_columns, rows[0][1])):
            heads += any(_is_merged(cell, "vMerge") for cell in rows[1][1])  # the names of what is merged in the first
        self._grid(texts, caption.text, heads)
        self._flush()

    def _row(self, row: Element, cells: Sequence[Element], above: Sequence[str]) -> list[str]:
        """Return the cells of a row, one for each column: merged ones have one text."""
        texts = [""] * _number(_value(row, "trPr/gridBefore"), 0)
        for cell in cells:
            at = len(texts)
            text = self._text(cell)
            if not text and _is_merged(cell, "vMerge"):
                text = above[at] if at < len(above) and len(above[at]) <= MOST_SPANNED else ""
            elif not text and _is_merged(cell, "hMerge"):
                text = texts[-1] if texts and len(texts[-1]) <= MOST_SPANNED else ""
            span = _number(_value(cell, "tcPr/gridSpan"), 1)  # of Word; in drawings each of the merged cells is there
            repeated = text if len(text) * span <= MOST_SPANNED and len(cells) > 1 else ""
            texts += [text, *[repeated] * (span - 1)]
        return texts[:MOST_COLUMNS]

    def _grid(self, rows: list[list[str]], caption: str, heads: int) -> None:
        """Add a table. The lines above its header are its caption, or paragraphs if they are many."""
        rows = [row for row in rows if any(row)]
        above = next((at for at, row in enumerate(rows[:-1]) if not _is_line(row)), 0)
        captions = [caption, *(row[0] for row in rows[:above])] if above <= MOST_TITLES else [caption]
        for row in rows[: above if above > MOST_TITLES else 0]:
            self._add(Prose(row[0], self._place()))
        rows = rows[above:]
        width, heads = max(map(len, rows), default=0), max(1, heads - above)
        self._spend((), beside=_CELL * sum(width - len(row) for row in rows))
        columns = zip(*filled(rows[:heads], width), strict=True)
        names = (" ".join(dict.fromkeys(filter(None, column))) for column in columns)
        header = tuple(name or f"column_{at}" for at, name in enumerate(names, 1))
        if rows:
            below, text = list(filled(rows[heads:], width)), " ".join(filter(None, captions))
            self._add(Grid(header, below, self._place(), text, self._taken_links()))

    def _chart(self, part: Part) -> None:
        """Read a chart: its titles, and a row for each category with the values of the series."""
        with self._within(part):
            caption = " ".join(filter(None, map(self._text, part.root.iter("title"))))
            series = [] if self._has_cells else list(part.root.iter("ser"))  # in a workbook they are those of cells
            names = [" ".join(value.text or "" for value in one.iterfind("tx//v")) for one in series]
            columns = [
                _points(series[0], "cat", "xVal") if series else {},
                *(_points(one, "val", "yVal") for one in series),
            ]
            places = sorted({at for column in columns for at in column})
            rows = [[column.get(at, "") for column in columns][:MOST_COLUMNS] for at in places]
            for row in rows:
                self._spend(row)
            if rows:
                self._grid([["", *names][:MOST_COLUMNS], *rows], caption, 1)
            elif caption:
                self._add(Prose(caption, self._place(), self._taken_links()))
        self._flush()


@dataclass(slots=True)
class _Field:
    """A field that is open: what it computes, and whether its result began."""

    instruction: str = ""
    is_shown: bool = False
    is_contents: bool = False


def _shown(element: Element) -> Element:
    """Return the element itself, or the first of several that mean the same."""
    return next(iter(element), element) if element.tag == "AlternateContent" else element


def _members(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _members(child, tag)


def _placeholder(shape: Element) -> str:
    """Return what a shape of a slide holds: `title`, `body`; empty if the slide does not say."""
    place = shape.find("nvSpPr/nvPr/ph") if shape.tag == "sp" else None
    return "" if place is None else place.get("type", "body")


def _value(element: Element, path: str) -> str:
    """Return the value of a property, empty if there is none."""
    found = element.find(path)
    return "" if found is None else found.get("val", "")


def _outline(properties: Element) -> int | None:
    level = _value(properties, "outlineLvl")
    return int(level) + 1 if level in tuple("012345678") else None


def _number(text: str, otherwise: int) -> int:
    return min(int(text), MOST_COLUMNS) if text.isdecimal() and len(text) < 10 else otherwise


def _spans_columns(cell: Element) -> bool:
    return _number(_value(cell, "tcPr/gridSpan") or cell.get("gridSpan", ""), 1) > 1


def _is_merged(cell: Element, name: str) -> bool:
    """Return whether a cell is part of the one before it, or above it."""
    mark = cell.find(f"tcPr/{name}")
    return cell.get(name) in ("1", "true") or (mark is not None and mark.get("val", "continue") == "continue")


def _is_line(row: Sequence[str]) -> bool:
    """Return whether a row has one text alone, in its first cell."""
    return bool(row[0]) and not any(cell and cell != row[0] for cell in row)


def _points(series: Element, *names: str) -> dict[int, str]:
    """Return the points of a chart's series by their index."""
    points: dict[int, str] = {}
    for point in (point for name in names for point in series.iterfind(f"{name}//pt")):
        at = int(point.get("idx", "")[:9]) if point.get("idx", "").isdecimal() else 0
        points[at] = " ".join(filter(None, (point.findtext("v"), points.get(at))))  # categories may have several levels
    return points
