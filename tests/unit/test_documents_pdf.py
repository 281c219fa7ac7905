"""PDFs that are drawn here by hand: their text in reading order, tables, headings, forms, and what is told of them."""

from __future__ import annotations

import pytest

from office_files import drawn_pdf, text_at
from orienteer.errors import BadInput
from orienteer.ingest import Grid, Prose

pytest.importorskip("pypdfium2")

from orienteer.ingest import PdfBounds, read_pdf  # it needs the library

LEFT = "the boats of the harbour lie at the quay"
RIGHT = "fees are paid in spring at the small office"


@pytest.fixture
def read(tmp_path):
    def reading(*streams, seconds=60.0, **options):
        drawn_pdf(tmp_path / "a.pdf", *streams, **options)
        return read_pdf((tmp_path / "a.pdf").read_bytes(), PdfBounds(seconds), lambda page: None)

    return reading


def texts(page):
    return [block.text for block in page.blocks if isinstance(block, Prose)]


def listed(*lines, top=700.0, step=14.0, left=72.0, **options):
    return "".join(text_at(left, top - step * at, line, **options) for at, line in enumerate(lines))


COLUMNS = [f"{number} {LEFT}" for number in range(6)], [f"{number} {RIGHT}" for number in range(6)]
OPTIONS = {"-a": "reads all boats", "-m": "shows the middle of the mooring", "-q": "says nothing", "-v": "says more"}
ORDERS = {  # operators of a page, its paragraphs
    "columns that were written one after the other": (
        listed(*COLUMNS[0], size=10) + listed(*COLUMNS[1], size=10, left=330),
        [" ".join(COLUMNS[0]), " ".join(COLUMNS[1])],
    ),
    "a title above columns, a footnote below": (
        text_at(200, 740, "Of boats and of their fees, as it was told in spring", size=10)
        + listed(*COLUMNS[0], size=10)
        + listed(*COLUMNS[1], size=10, left=330)
        + text_at(72, 560, "This was written by the office of the harbour for all its guests.", size=10),
        [
            "Of boats and of their fees, as it was told in spring",
            " ".join(COLUMNS[0]),
            " ".join(COLUMNS[1]),
            "This was written by the office of the harbour for all its guests.",
        ],
    ),
    "options whose column was written before that of what they do": (
        listed(*OPTIONS) + listed(*OPTIONS.values(), left=150),
        [f"{letter} {what}" for letter, what in OPTIONS.items()],
    ),
    "options row by row, one of two lines": (
        text_at(72, 700, "-a")
        + listed("reads all boats", "and their fees", left=150)
        + text_at(72, 672, "-m")
        + listed("shows the middle", top=672, left=150),
        ["-a reads all boats and their fees", "-m shows the middle"],
    ),
    "turned words": (
        text_at(72, 700, "Upright words.")
        + text_at(40, 200, "words of the margin", turn="0 1 -1 0")
        + text_at(580, 500, "and of the other", turn="0 -1 1 0")
        + text_at(300, 400, "head over heels", turn="-1 0 0 -1"),
        ["Upright words.", "words of the margin", "head over heels", "and of the other"],
    ),
    "parted words": (
        listed(
            "They have a com-", "puter and a well-known boat of Smith-", "Jones that is well-", "known as SEA-", "GULL."
        ),
        ["They have a computer and a well-known boat of Smith-Jones that is well-known as SEAGULL."],
    ),
    "paragraphs by their distance": (
        listed("One line", "and its end.") + listed("Another", "one.", top=650),
        ["One line and its end.", "Another one."],
    ),
    "an item each": (listed("- the first", "- the second"), ["- the first", "- the second"]),
    "lines of a program": (
        listed("Run this:") + listed("def fee\\(boat\\):", "    return 40 * boat.length", top=660, font="F2"),
        ["Run this:", "def fee(boat):\n    return 40 * boat.length"],
    ),
    "a space that is merely a distance of two letters": (
        "BT /F1 12 Tf 72 700 Td (listed belo) Tj 4 Tc 54 0 Td (wu) Tj 0 Tc 19.3 0 Td (nder the harbour) Tj ET",
        ["listed below under the harbour"],
    ),
    "accents before their letters, as TeX writes them": (
        text_at(72, 700, "Herr M\\310uller and Ren\\302e"),
        ["Herr Müller and René"],
    ),
    "letters that stand apart": (
        "BT /F1 12 Tf 3 Tc 72 700 Td (Harbour of Gull) Tj ET " + text_at(72, 640, "words"),
        ["Harbour of Gull", "words"],
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_text_comes_in_reading_order(read, name):
    stream, expected = ORDERS[name]
    assert texts(read(stream)) == expected


def test_a_page_that_lies_on_its_side_is_read_as_it_is_shown(read):
    drawn = "q 0 1 -1 0 612 0 cm " + rules(4, top=500) + cells(ROWS, top=500) + text_at(60, 540, "Of the quays.") + "Q"
    before, grid = read(drawn, page="/Rotate 90").blocks
    assert (before.text, grid.header, list(grid.rows)) == ("Of the quays.", ROWS[0], ROWS[1:])


def test_text_of_a_form_that_is_drawn_on_the_page_is_read(read):
    stream = text_at(72, 700, "The depth of Gull is 12 metres.")
    form = (
        "<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
        f"/Length {len(stream)} >>\nstream\n{stream}\nendstream"
    )
    page = read("q /X Do Q", resources="/XObject << /X 100 0 R >>", objects={100: form})
    assert texts(page) == ["The depth of Gull is 12 metres."]


# --------------------------------------------------------------------------------------------------------------- tables

ROWS = [("Quay", "Depth", "Fee"), ("Gull", "12", "40"), ("Tern", "9", "30"), ("Salt Bay", "4", "20")]
XS, STEP = (60, 200, 340, 480), 20


def cells(rows, *, top=700, without=()):
    return "".join(
        text_at(XS[column] + 5, top - STEP * row - 14, cell, size=10)
        for row, line in enumerate(rows)
        for column, cell in enumerate(line)
        if (row, column) not in without
    )


def rules(rows, *, top=700, columns=4):
    across = "".join(f"{XS[0]} {top - STEP * at} m {XS[columns - 1]} {top - STEP * at} l S " for at in range(rows + 1))
    return across + "".join(f"{x} {top} m {x} {top - STEP * rows} l S " for x in XS[:columns])


def boxes(rows, *, top=700):
    """The same by a rectangle for each cell."""
    return "".join(
        f"{XS[column]} {top - STEP * (row + 1)} {XS[column + 1] - XS[column]} {STEP} re S "
        for row in range(rows)
        for column in range(3)
    )


@pytest.mark.parametrize("drawn", [rules(4), boxes(4), ""], ids=["lines", "boxes", "no rules"])
def test_a_table_stands_in_its_place(read, drawn):
    page = read(text_at(60, 740, "Before it.") + text_at(60, 560, "After it.") + drawn + cells(ROWS))
    before, grid, after = page.blocks
    assert (before.text, after.text) == ("Before it.", "After it.")
    assert isinstance(grid, Grid)
    assert (grid.header, list(grid.rows)) == (ROWS[0], ROWS[1:])
    assert {block.place.page for block in page.blocks} == {1}


def test_a_cell_of_several_rows_is_said_in_each(read):
    below = "".join(f"{x} 660 m {x} 620 l S " for x in XS)
    drawn = f"{rules(2)} {below} {XS[1]} 640 m {XS[3]} 640 l S {XS[0]} 620 m {XS[3]} 620 l S "
    rows = [("Quay", "Depth", "Fee"), ("Gull", "12", "40"), ("Tern", "9", "30"), ("", "4", "20")]
    (grid,) = read(drawn + cells(rows)).blocks
    assert list(grid.rows)[1:] == [("Tern", "9", "30"), ("Tern", "4", "20")]


def test_a_framed_text_is_no_table(read):
    page = read("60 600 400 110 re S " + listed("A warning that", "stands in a frame."))
    assert texts(page) == ["A warning that stands in a frame."]


# ------------------------------------------------------------------------------------------------------------- headings


def outline(*entries):
    """Objects of an outline: level 0 or 1, title, page, height on the page."""
    numbers = [101 + at for at in range(len(entries))]
    parents, last = [], 100
    for number, (level, *_) in zip(numbers, entries, strict=True):
        parents.append(last if level else 100)
        last = last if level else number
    objects = {}
    for number, parent, (_, title, page, top) in zip(numbers, parents, entries, strict=True):
        siblings = [one for one, other in zip(numbers, parents, strict=True) if other == parent]
        children = [one for one, other in zip(numbers, parents, strict=True) if other == number]
        at = siblings.index(number)
        links = f"/Next {siblings[at + 1]} 0 R " if at + 1 < len(siblings) else ""
        links += f"/Prev {siblings[at - 1]} 0 R " if at else ""
        links += f"/First {children[0]} 0 R /Last {children[-1]} 0 R /Count {len(children)} " if children else ""
        objects[number] = f"<< /Title ({title}) /Parent {parent} 0 R {links}/Dest [{10 * page} 0 R /XYZ 72 {top} 0] >>"
    top = [one for one, other in zip(numbers, parents, strict=True) if other == 100]
    objects[100] = f"<< /Type /Outlines /First {top[0]} 0 R /Last {top[-1]} 0 R /Count {len(top)} >>"
    return {"objects": objects, "catalog": "/Outlines 100 0 R"}


def paths(page):
    return [(block.text, block.place.headings) for block in page.blocks]


def test_the_outline_gives_the_headings(read):
    first = text_at(72, 700, "Chapter 1") + text_at(72, 686, "Mooring") + text_at(72, 650, "Boats lie here.")
    second = text_at(72, 700, "They pay.") + text_at(72, 650, "1.1 Fees") + text_at(72, 610, "Forty euro.")
    third = text_at(72, 700, "Last words.") + text_at(72, 500, "and nothing else")
    marks = outline((0, "Mooring", 1, 710), (1, "Fees", 2, 665), (0, "A picture", 3, 520), (0, "Bare", 3, 100))
    page = read(first, second, third, **marks)
    assert paths(page) == [
        ("Boats lie here.", ("Chapter 1 Mooring",)),
        ("They pay.", ("Chapter 1 Mooring",)),
        ("Forty euro.", ("Chapter 1 Mooring", "1.1 Fees")),
        ("Last words.", ("Chapter 1 Mooring", "1.1 Fees")),
        ("A picture", ()),
        ("and nothing else", ("Bare",)),
    ]


def test_headings_in_smaller_letters_stand_beneath_an_outline_of_chapters_alone(read):
    body = listed(*["A long line of the text that says what there is to say of it."] * 4, top=650)
    chapter = text_at(72, 740, "Mooring", size=24), text_at(72, 740, "Cranes", size=24)
    fees, rules = text_at(72, 700, "Fees", size=16), text_at(72, 700, "Rules", size=16)
    # The second line of a text in letters nearly as large is no heading.
    rest = text_at(72, 560, "int fee\\(boat, int", size=13.2) + text_at(72, 546, "length\\)", size=13.6)
    page = read(
        chapter[0] + fees + body, chapter[1] + rules + body, **outline((0, "Mooring", 1, 760), (0, "Cranes", 2, 760))
    )
    assert [block.place.headings for block in page.blocks] == [("Mooring", "Fees"), ("Cranes", "Rules")]
    page = read(chapter[0] + fees + body + rest, rules + body, **outline((0, "Mooring", 1, 760), (0, "Page 2", 2, 760)))
    assert paths(page)[1][1] == ("Mooring", "Fees")
    assert page.blocks[-1].place.headings == ("Page 2", "Rules")


def test_a_part_of_the_outline_that_leads_nowhere_is_above_what_leads_to_a_page(read):
    marks = outline((0, "Part of boats", 1, 0), (1, "Mooring", 1, 710), (0, "Cranes", 2, 760))
    marks["objects"][101] = marks["objects"][101].replace("/Dest [10 0 R /XYZ 72 0 0]", "")
    page = read(
        text_at(72, 700, "Mooring") + text_at(72, 650, "Boats lie here."), text_at(72, 700, "They lift."), **marks
    )
    assert paths(page) == [("Boats lie here.", ("Part of boats", "Mooring")), ("They lift.", ("Cranes",))]


def test_a_title_ends_where_the_next_heading_begins(read):
    body = listed(*["A long line of the text that says what there is to say of it."] * 4, top=600)
    page = read(listed("The harbour", "of Gull", top=740, step=30, size=24) + text_at(72, 650, "Fees", size=24) + body)
    assert page.title == "The harbour of Gull"
    assert read(text_at(72, 740, "Of boats", size=30) + body, title="\\(anonymous\\)").title == "Of boats"


def test_larger_letters_are_headings_where_there_is_no_outline(read):
    body = "A long line of the text that says what there is to say of it."
    page = read(
        text_at(72, 740, "The harbour", size=30)
        + text_at(72, 700, "Fees", size=18)
        + listed(*[body] * 4, top=670)
        + text_at(72, 600, "In winter", size=15)
        + listed(*[body] * 4, top=570)
        + text_at(72, 500, "Boats", size=18)
        + listed(*[body] * 4, top=470)
    )
    assert page.title == "The harbour"
    later = text_at(72, 700, "Winter", size=18) + listed(*[body] * 4, top=670)
    covered = read(text_at(72, 740, "The harbour", size=30) + text_at(72, 600, "Office of Gull", size=24), later, later)
    assert [block.place.headings for block in covered.blocks] == [(), (), ("Winter",), ("Winter",)]
    assert [block.place.headings for block in page.blocks] == [(), ("Fees",), ("Fees", "In winter"), ("Boats",)]


@pytest.mark.parametrize("form", ["Harbour office {}", "{} of 9", "Part 2-{}", "- {} -", "Gull {} / 233"])
def test_headers_and_footers_are_known_by_repetition(read, form):
    streams = [
        text_at(72, 760, "The harbour of Gull")
        + listed(f"Page with {'word ' * at}of its own", f"{at * at} boats", "and more", top=700)
        + text_at(300, 30, form.format(at + 4))
        for at in range(1, 6)
    ]
    found = texts(read(*streams))
    assert sum("The harbour of Gull" in text for text in found) == 1
    assert sum(form.format(at + 4) in found for at in range(1, 6)) <= 1
    assert [f"{at * at} boats" in " ".join(found) for at in range(1, 6)] == [True] * 5


def test_numbers_that_do_not_grow_with_the_pages_are_no_footers(read):
    depths = [12, 40, 7, 9, 31]
    found = texts(read(*[listed(f"Depth {depth}", "of the quay", "in metres") for depth in depths]))
    assert [f"Depth {depth} of the quay in metres" for depth in depths] == found


def test_pages_that_say_nothing_else_keep_what_they_say(read):
    assert texts(read(*[text_at(72, 700, f"Slide {at}") for at in range(1, 6)])) == [
        f"Slide {at}" for at in range(1, 6)
    ]


def test_a_table_of_contents_is_navigation(read):
    entries = [f"{at} Chapter of boats {'.' * 40} {at * 7}" for at in range(1, 8)]
    contents, text = read(listed("Contents", *entries), listed("Boats lie at the quay.")).blocks
    assert contents.place.is_navigation
    assert not text.place.is_navigation
    assert contents.text.split("\n")[1] == "1 Chapter of boats … 7"


# ----------------------------------------------------------------------------------------------------- forms, and notes


def test_fields_and_comments_are_read(read):
    objects = {
        100: "<< /Fields [101 0 R 102 0 R 103 0 R 105 0 R] /DR << /Font << /Helv 3 0 R >> >> /DA (/Helv 0 Tf 0 g) >>",
        101: "<< /Type /Annot /Subtype /Widget /FT /Tx /T (boat) /V (Seagull) /Rect [0 0 9 9] >>",
        102: "<< /Type /Annot /Subtype /Widget /FT /Btn /T (paid) /V /Yes /AS /Yes /Rect [0 0 9 9] "
        "/AP << /N << /Yes 3 0 R /Off 3 0 R >> >> >>",
        103: "<< /Type /Annot /Subtype /Widget /FT /Tx /T (empty) /Rect [0 0 9 9] >>",
        104: "<< /Type /Annot /Subtype /Text /Contents (Ask the master) /Rect [0 0 9 9] >>",
        105: "<< /Type /Annot /Subtype /Widget /FT /Ch /T (quays) /Ff 2097152 /Opt [(East) (West) (Old)] "
        "/V [(East) (Old)] /Rect [0 0 9 9] >>",
    }
    page = "/Annots [101 0 R 102 0 R 103 0 R 104 0 R 105 0 R]"
    found = texts(read(text_at(72, 700, "A form."), objects=objects, catalog="/AcroForm 100 0 R", page=page))
    assert found == ["A form.", "boat: Seagull", "paid: Yes", "Ask the master", "quays: East, Old"]


PICTURE = "q 200 0 0 200 72 400 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"


def test_what_was_not_read_is_told(read):
    page = read(text_at(72, 700, "One."), PICTURE, text_at(72, 700, "Three."), "", PICTURE)
    assert (texts(page), page.notes) == (["One.", "Three."], ["2 of 5 pages hold pictures alone"])
    page = read(*[text_at(72, 700, f"A word {'and more ' * at}") for at in range(1, 4)], seconds=0.0)
    assert len(texts(page)) == 1
    assert page.notes == ["pages 1 to 1 of 3: the others take more than seconds = 0 of processor time"]
    page = read(text_at(72, 700, "One."), "", text_at(72, 700, "Three."), objects={20: "null"})
    assert texts(page) == ["One.", "Three."]
    assert [note for note in page.notes if note.startswith("page 2 was not read: ")] == page.notes != []
    with pytest.raises(BadInput, match="no text: it holds pictures alone"):
        read(PICTURE, PICTURE)
