"""Words that a build loses, by format: what another program reads of a file, beside what its nodes hold.

    python benchmarks/words_lost.py FOLDER... [--suites FOLDER] [--most N] [--show N] [--json FILE]

FOLDER holds files of other projects, at any depth: those with a suffix of `ORACLES` are read, each content once, at
most N a format. Others' folders that have many: /usr/share, /usr/lib, an unpacked `pip download --no-binary :all:` of
python-docx and python-pptx (their tests), Python's own `test` (mail). Beside them stand the examples of CommonMark
with the HTML that its authors give (`commonmark.json` of a FOLDER), the tree constructions of html5lib with their
trees (`--suites`), and files that python-docx, python-pptx, openpyxl and reportlab make here of known words.

A word counts once a file, whatever its case; it is lost if no title, heading or text of the file's nodes has it. A
format whose oracle or maker is not on this machine is left out, and said.
"""

from __future__ import annotations

import csv
import email
import email.policy
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from orienteer.graph.store import Graph
from orienteer.ingest.documents.run import build_graph
from report import command_line, write_json

MOST = 200
"""Files of a format."""
LARGEST = 2_000_000
"""Bytes of a file."""
UNSEEN = ("script", "style", "template", "iframe", "noembed", "noframes", "noscript")
"""Elements of HTML whose text nobody is shown."""
INLINE = (
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "mark", "nobr", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    *UNSEEN,
)  # fmt: skip
"""Elements of HTML within which and beside which a word goes on."""
SPEC = "commonmark.json"
MAILS = "test_email/data"
"""Where Python's own tests have mails, with the suffix of texts."""
_WORD = re.compile(r"[^\W_]+")


class Sample(NamedTuple):
    """A file, and what another program reads of it."""

    name: str
    content: bytes
    said: str


def words(text: str) -> set[str]:
    """Return the words of a text, whatever their case and width."""
    return set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


# ------------------------------------------------------------------------------------------------------------- oracles


def said_in_html(content: bytes | str) -> str:
    """Return the text of a page by lxml."""
    import lxml.html  # type: ignore[import-untyped]  # it has no types

    text = content if isinstance(content, str) else content.decode()
    root = lxml.html.document_fromstring(f"<div>{text.partition('?>')[2] if text.startswith('<?xml') else text}")
    for unseen in list(root.iter(*UNSEEN)):
        unseen.drop_tree()
    for element in root.iter():
        if isinstance(element.tag, str) and element.tag not in INLINE:  # a comment has no name
            element.tail = f"\n{element.tail or ''}"
            element.text = f"\n{element.text or ''}"
    return str(root.text_content())


def said_in_markdown(content: bytes) -> str:
    """Return the text of Markdown as markdown-it-py renders it."""
    from markdown_it import MarkdownIt

    return said_in_html(MarkdownIt("gfm-like", {"linkify": False}).render(content.decode()))


def said_in_office(content: bytes) -> str:
    """Return the text of the parts of a document of Word or PowerPoint: its paragraphs, whole."""
    lines = []
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for part in package.namelist():
            if re.fullmatch(
                r"word/(document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml", part
            ) or re.fullmatch(r"ppt/(slides|notesSlides)/[^/]+\.xml", part):
                for paragraph in ElementTree.fromstring(package.read(part)).iter():
                    if paragraph.tag.endswith("}p"):
                        lines.append("".join(_piece(each) for each in paragraph.iter()))
    return "\n".join(lines)


def _piece(element: ElementTree.Element) -> str:
    kind = element.tag.rpartition("}")[2]
    return (element.text or "") if kind == "t" else " " if kind in ("tab", "br", "cr") else ""


def said_in_workbook(content: bytes) -> str:
    """Return the words of the cells and of their comments by openpyxl."""
    import openpyxl  # type: ignore[import-untyped]  # it has no types

    cells = [
        cell
        for sheet in openpyxl.load_workbook(io.BytesIO(content), data_only=True).worksheets
        for row in sheet.iter_rows()
        for cell in row
    ]
    said = [cell.value for cell in cells if isinstance(cell.value, str)]
    return "\n".join([*said, *(cell.comment.text for cell in cells if cell.comment is not None)])


def said_in_pdf(content: bytes) -> str:
    """Return the text of a PDF by Poppler."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(content)
        file.flush()
        ran = subprocess.run(["pdftotext", "-q", file.name, "-"], capture_output=True, check=True)
    return re.sub(r"(\w)[-\u00ad]\n(\w)", r"\1\2", ran.stdout.decode())


def said_in_mail(content: bytes) -> str:
    """Return the subject and the texts of a mail by the standard library."""
    mail = email.message_from_bytes(content, policy=email.policy.default)
    said = [str(mail["subject"] or "")]
    for part in mail.walk():
        if part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment":
            text = part.get_content()
            said.append(said_in_html(text) if part.get_content_subtype() == "html" else text)
    return "\n".join(said)


def said_in_values(value: Any) -> str:  # Any: JSON, TOML
    """Return the names and the values of nested values."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}\n{said_in_values(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "\n".join(map(said_in_values, value))
    return value if isinstance(value, str) else ""


ORACLES: Mapping[str, Callable[[bytes], str]] = {
    ".html": said_in_html,
    ".md": said_in_markdown,
    ".docx": said_in_office,
    ".pptx": said_in_office,
    ".xlsx": said_in_workbook,
    ".pdf": said_in_pdf,
    ".eml": said_in_mail,
    ".txt": bytes.decode,
    ".rst": bytes.decode,
    ".json": lambda content: said_in_values(json.loads(content)),
    ".toml": lambda content: said_in_values(tomllib.loads(content.decode())),
    ".csv": lambda content: "\n".join(" ".join(row) for row in csv.reader(io.StringIO(content.decode(), newline=""))),
}
"""What reads a file of a suffix. Raises anything for one that it cannot read, which then counts for nothing."""


def others(folders: list[Path], most: int) -> Iterator[tuple[str, list[Sample]]]:
    """Yield the formats and the files of other projects, spread over their folders."""
    every = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    for suffix, oracle in ORACLES.items():
        paths = [path for path in every if _suffix(path) == suffix and path.stat().st_size <= LARGEST]
        seen: set[bytes] = set()
        samples: list[Sample] = []
        for path in (path for begin in range(97) for path in paths[begin::97]):
            content = path.read_bytes()
            digest = hashlib.sha256(content).digest()
            if len(samples) == most or digest in seen:
                continue
            seen.add(digest)
            try:
                samples.append(Sample(f"{path.stem}{suffix}", content, oracle(content)))
            except Exception as error:  # noqa: BLE001  # another program may fail in any way
                print(f"{path}: not compared, {type(error).__name__}", file=sys.stderr)
        yield f"{suffix}, others' files", samples
    for path in every:
        if path.name == SPEC:
            cases = json.loads(path.read_bytes())
            yield (
                ".md, CommonMark's examples",
                [Sample("case.md", case["markdown"].encode(), said_in_html(case["html"])) for case in cases],
            )


def _suffix(path: Path) -> str:
    return ".eml" if path.parent.as_posix().endswith(MAILS) and path.name.startswith("msg_") else path.suffix.lower()


def tree_cases(suites: Path) -> Iterator[Sample]:
    """Yield the documents of html5lib's tests, with the texts of the trees that its authors expect."""
    with tarfile.open(suites / "html.tar.xz") as archive:
        for member in archive:
            if not member.name.endswith(".dat"):
                continue
            file = archive.extractfile(member)
            assert file is not None  # a .dat is a file
            for case in re.split(r"(?m)^#data\n", file.read().decode()):
                data, _, rest = case.partition("\n#errors\n")
                if rest and "#document-fragment" not in rest and "#script-on" not in rest:
                    yield Sample("case.html", data.encode(), _said_in_tree(rest.partition("#document\n")[2]))


def _said_in_tree(tree: str) -> str:
    """Return the texts of a tree, a line a node: `|   <p>`, `|     "text"`, whose text may have lines of its own."""
    said, above = [], dict[int, str]()
    for node in re.split(r"(?m)^\| ", tree):
        depth, mark = len(node) - len(node.lstrip(" ")), node.strip()
        ended = [above.pop(place) for place in list(above) if place >= depth]
        if mark.startswith("<") and not mark.startswith("<!"):
            above[depth] = mark.strip("<>")
            ended.append(mark.strip("<>"))
        if any(name not in INLINE and not name.startswith("math ") for name in ended):
            said.append("\n")
        if mark.startswith('"') and not set(above.values()).intersection(UNSEEN):
            said.append(node.strip("\n").lstrip(" ").removeprefix('"').removesuffix('"'))
    return "".join(said)


# -------------------------------------------------------------------------------------------------- made of known words


class Fresh:
    """Gives words that stand nowhere else, and remembers them."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def __call__(self, place: str) -> str:
        self.given.append(f"{place}word{len(self.given)}")
        return self.given[-1]


def made_word(word: Fresh) -> bytes:
    """Return a document of Word with words in all places that python-docx reaches."""
    import docx

    document = docx.Document()
    document.core_properties.title = word("title")
    section = document.sections[0]
    section.different_first_page_header_footer = True
    for place, part in (
        ("header", section.header),
        ("footer", section.footer),
        ("firstheader", section.first_page_header),
        ("firstfooter", section.first_page_footer),
    ):
        part.paragraphs[0].text = word(place)
    document.add_heading(word("heading"), 1)
    paragraph = document.add_paragraph()
    split = word("split")
    runs = [paragraph.add_run(part) for part in (split[:3], split[3:])]
    runs[0].bold = True
    document.add_comment(runs, text=word("comment"))
    for style in ("List Bullet", "Quote", "Caption"):
        document.add_paragraph(word("styled"), style=style)
    table = document.add_table(4, 3)
    for row in table.rows:
        for cell in row.cells:
            cell.text = word("cell")
    table.cell(1, 0).merge(table.cell(1, 1))
    table.cell(2, 2).add_table(1, 1).cell(0, 0).text = word("nested")
    return _saved(document)


def made_slides(word: Fresh) -> bytes:
    """Return a deck with words in titles, bodies, tables, groups and notes."""
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    for _ in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = word("title")
        slide.placeholders[1].text = f"{word('first')}\n{word('second')}"
        box = (Inches(1), Inches(1), Inches(4), Inches(1))
        slide.shapes.add_textbox(*box).text_frame.text = word("box")
        slide.shapes.add_group_shape().shapes.add_textbox(*box).text_frame.text = word("group")
        table = slide.shapes.add_table(2, 2, *box).table
        for row in table.rows:
            for cell in row.cells:
                cell.text = word("cell")
        slide.notes_slide.notes_text_frame.text = word("note")
    return _saved(deck)


def made_workbook(word: Fresh) -> bytes:
    """Return a workbook with words in the cells of two sheets, a second table, merged cells and a comment."""
    import openpyxl
    from openpyxl.comments import Comment  # type: ignore[import-untyped]  # it has no types

    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet(word("sheet"))):
        for top in (1, 12):
            for row in range(top, top + 6):
                for column in range(1, 5):
                    sheet.cell(row, column, word("cell"))
        sheet["B3"].comment = Comment(word("comment"), "somebody")
        sheet.cell(20, 1, word("merged"))
        sheet.merge_cells("A20:D20")
    return _saved(book)


def made_pdf(word: Fresh) -> bytes:
    """Return a PDF with words in paragraphs, a ruled and an unruled table, two columns, turned text and an outline."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import Table

    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4)
    for page in range(3):
        canvas.drawString(60, 780, heading := word("heading"))
        canvas.bookmarkPage(str(page))
        canvas.addOutlineEntry(heading, str(page))
        for line in range(12):
            for left in (60, 320):
                canvas.drawString(left, 750 - 14 * line, f"{word('left')} {word('right')}")
        for top, style in ((480, [("GRID", (0, 0), (-1, -1), 1, "black")]), (360, [])):
            table = Table([[word("cell") for _ in range(4)] for _ in range(4)], colWidths=110, style=style)
            table.wrapOn(canvas, 450, 100)
            table.drawOn(canvas, 60, top)
        canvas.saveState()
        canvas.translate(30, 200)
        canvas.rotate(90)
        canvas.drawString(0, 0, word("turned"))
        canvas.restoreState()
        canvas.drawString(60, 30, f"{word('footer')} {page + 1}")
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def _saved(made: Any) -> bytes:  # Any: of another library
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


MADE: Mapping[str, Callable[[Fresh], bytes]] = {
    ".docx": made_word,
    ".pptx": made_slides,
    ".xlsx": made_workbook,
    ".pdf": made_pdf,
}


# ------------------------------------------------------------------------------------------------------------ measuring


def measure(samples: list[Sample], work: Path, show: int) -> dict[str, Any]:  # Any: JSON
    """Build a graph of files and return how many of their words its nodes hold, and which files were not read."""
    for at, sample in enumerate(samples):
        path = work / "files" / f"{at:04}" / sample.name
        path.parent.mkdir(parents=True)
        path.write_bytes(sample.content)
    report = build_graph([work / "files"], work / "graph")
    graph = Graph.open(work / "graph")
    held: dict[str, set[str]] = {}
    for node_id in graph.node_ids():
        node = graph.node(node_id)
        texts = (node.name, node.text, json.dumps(node.properties.get("heading", ""), ensure_ascii=False))
        held.setdefault(str(node.properties["file"]), set()).update(words("\n".join(texts)))
    wanted = lost = losing = unread = 0
    shown: list[tuple[int, str]] = []
    for at, sample in enumerate(samples):
        name, said = f"{at:04}/{sample.name}", words(sample.said)
        missing = said - held.get(name, set())
        unread += bool(said) and name not in held
        wanted, lost, losing = wanted + len(said), lost + len(missing), losing + bool(missing)
        if missing:
            shown.append((len(missing), f"{name}: {len(missing)} of {len(said)}: {' '.join(sorted(missing)[:12])}"))
    for _, line in sorted(shown, reverse=True)[:show]:
        print(f"    {line}")
    for left_out in (*report.unreadable, *report.skipped)[:show]:
        print(f"    not read: {left_out.file.removeprefix(str(work))}: {left_out.reason}")
    return {"files": len(samples), "not read": unread, "words": wanted, "lost": lost, "files that lose": losing}


def main() -> None:
    """Measure every format, a line each."""
    parser = command_line(__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="where files of other projects lie")
    parser.add_argument("--suites", type=Path, metavar="FOLDER", help="has html.tar.xz")
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help=f"files of a format (default: {MOST})")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="files that lose most, of each format")
    options = parser.parse_args()
    written: dict[str, Any] = {}  # Any: JSON
    if shutil.which("pdftotext") is None:
        print("others' PDFs are left out: there is no pdftotext (Poppler)", file=sys.stderr)

    def all_samples() -> Iterator[tuple[str, list[Sample]]]:
        yield from others(options.folders, options.most)
        if options.suites:
            yield ".html, html5lib's trees", list(tree_cases(options.suites))
        for suffix, make in MADE.items():
            word = Fresh()
            try:
                yield f"{suffix}, made of known words", [Sample(f"made{suffix}", make(word), "\n".join(word.given))]
            except ModuleNotFoundError as error:
                print(f"{suffix}: none is made, there is no {error.name}", file=sys.stderr)

    for name, samples in all_samples():
        if not samples:
            print(f"{name}: none here", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="orienteer-") as folder:
            written[name] = one = measure(samples, Path(folder), options.show)
        share = 100 * one["lost"] / max(1, one["words"])
        print(f"{name:34}" + "".join(f"{one[each]:>9,} {each}" for each in one) + f"{share:>8.2f} %", flush=True)
    write_json(options.json, written)


if __name__ == "__main__":
    main()
