"""PDF, Word and spreadsheet files in a process of their own: what they hold, and what broken ones cost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import office_files as office
from orienteer.build.documents.blocks import Grid, Prose
from orienteer.build.documents.conversion import Converter
from orienteer.build.documents.files import File
from orienteer.errors import BadInput


@pytest.fixture(scope="module")
def convert():
    for name in ("markitdown", "pdfplumber", "openpyxl"):
        pytest.importorskip(name)
    with Converter(seconds=60) as converter:
        yield lambda path: converter(File(path, path.name, "converted"), "A Title")


@pytest.fixture
def books(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def make(*sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets:
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / "book.xlsx")
        return tmp_path / "book.xlsx"

    return make


def test_a_pdf_has_its_pages(convert, tmp_path):
    office.pdf(tmp_path / "a.pdf", "First page here.\nMore of it.", "Second page.")
    found = convert(tmp_path / "a.pdf")
    assert [(block.text, block.place.page) for block in found.blocks] == [
        ("First page here. More of it.", 1),
        ("Second page.", 2),
    ]
    assert (found.title, found.has_title) == ("A Title", False)


def test_a_word_file_has_its_headings_and_tables(convert, tmp_path):
    body = (
        office.paragraph("The Report", style="Heading1")
        + office.paragraph("Opening words.")
        + office.paragraph("Part", style="Heading2")
        + office.paragraph("Inner words.")
        + office.table(("Year", "Who"), ("1990", "Ada"))
    )
    office.docx(tmp_path / "a.docx", body=body)
    found = convert(tmp_path / "a.docx")
    prose = [(block.text, block.place.headings) for block in found.blocks if isinstance(block, Prose)]
    assert prose == [("Opening words.", ()), ("Inner words.", ("Part",))]
    (grid,) = [block for block in found.blocks if isinstance(block, Grid)]
    assert (grid.header, list(grid.rows)) == (("Year", "Who"), [("1990", "Ada")])
    assert found.title == "The Report"


def test_the_title_of_a_word_file_stands_above_its_headings(convert, tmp_path):
    body = (
        office.paragraph("The Report", style="Title")
        + office.paragraph("Opening words.")
        + office.paragraph("First", style="Heading1")
        + office.paragraph("One.")
        + office.paragraph("Second", style="Heading1")
        + office.paragraph("Inner", style="Heading2")
        + office.paragraph("Two.")
    )
    office.docx(tmp_path / "a.docx", body=body)
    found = convert(tmp_path / "a.docx")
    assert (found.title, found.has_title) == ("The Report", True)
    assert [block.place.headings for block in found.blocks] == [(), ("First",), ("Second", "Inner")]


def test_a_workbook_has_its_sheets(convert, books):
    path = books(
        ("People", [["Name", "Born"], ["Ada", 1961], [None, None], ["Noor", 3.5]]), ("Empty", []), ("More", [["x"]])
    )
    people, more = convert(path).blocks
    assert (people.header, list(people.rows)) == (("Name", "Born"), [("Ada", "1961"), ("Noor", "3.5")])
    assert (people.place.headings, more.place.headings) == (("People",), ("More",))


def test_a_picture_of_text_says_so(convert, tmp_path):
    office.pdf(tmp_path / "a.pdf", "")
    with pytest.raises(BadInput, match="no text"):
        convert(tmp_path / "a.pdf")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.pdf", b"%PDF-1.4 nothing more"),
        ("a.pdf", b"no pdf at all"),
        ("a.docx", b"PK\x03\x04 cut off"),
        ("a.docx", b"no archive"),
        ("a.xlsx", b"no archive"),
        ("a.pptx", b""),
    ],
)
def test_broken_files_are_one_line(convert, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput) as raised:
        convert(tmp_path / name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx"])
def test_a_bomb_is_not_unpacked(convert, tmp_path, name):
    office.bomb(tmp_path / name, megabytes=40)
    with pytest.raises(BadInput, match="unpacks from"):
        convert(tmp_path / name)


def test_the_process_goes_on_after_a_broken_file(convert, tmp_path):
    (tmp_path / "bad.pdf").write_bytes(b"%PDF")
    office.pdf(tmp_path / "good.pdf", "Still here.")
    with pytest.raises(BadInput):
        convert(tmp_path / "bad.pdf")
    assert next(iter(convert(tmp_path / "good.pdf").blocks)).text == "Still here."


def test_a_conversion_that_takes_too_long_is_ended(tmp_path):
    path = tmp_path / "a.pdf"
    office.pdf(path, "Words.")
    with Converter(seconds=1e-6) as converter, pytest.raises(BadInput, match=r"takes more than 1e-06 s"):
        converter(File(path, "a.pdf", "converted"), "T")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_conversion_that_dies_is_told_and_started_again(tmp_path):
    pytest.importorskip("pdfplumber")
    path = Path(tmp_path / "a.pdf")
    office.pdf(path, "Words.")
    with Converter(seconds=60) as converter:
        converter._started("pdf", ".pdf")
        started = converter._workers["pdf"].popen
        started.kill()
        started.wait()
        assert next(iter(converter(File(path, "a.pdf", "converted"), "T").blocks)).text == "Words."
