"""Word files, presentations and workbooks: all that is in them is read, once and in order; attacks are refused."""

from __future__ import annotations

import random
import re
import time
import zipfile
from collections import Counter

import openpyxl
import pytest
from openpyxl.comments import Comment
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

import office_files as office
from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.ingest import Grid, Prose, read_office


def run(text):
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def par(*runs, properties=""):
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def cell(*content, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(content) or '<w:p/>'}</w:tc>"


def row(*cells, properties=""):
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def field(mark):
    return f'<w:r><w:fldChar w:fldCharType="{mark}"/></w:r>'


def complex_field(instruction, result):
    return (
        f"{field('begin')}<w:r><w:instrText>{instruction}</w:instrText></w:r>{field('separate')}{result}{field('end')}"
    )


def box(*content, mark="Choice"):
    inner = f"<wps:txbx><w:txbxContent>{''.join(content)}</w:txbxContent></wps:txbx>"
    return f"<mc:{mark}><w:drawing><a:graphic>{inner}</a:graphic></w:drawing></mc:{mark}>"


def boxed(*content):
    both = box(*content) + box(*content, mark="Fallback")
    return f"<w:r><mc:AlternateContent>{both}</mc:AlternateContent></w:r>"


@pytest.fixture
def word(tmp_path):
    def read(body, **parts):
        office.docx(tmp_path / "a.docx", body=body, **parts)
        return read_office(tmp_path / "a.docx")

    return read


def prose(page):
    return [block.text for block in page.blocks if isinstance(block, Prose)]


def grids(page):
    return [(block.header, list(block.rows)) for block in page.blocks if isinstance(block, Grid)]


# ------------------------------------------------------------------------------------------------------------ Word


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (run("beln") + run("armip") + run(" closed"), "belnarmip closed"),
        (run("No. ") + f'<w:fldSimple w:instr=" REF x ">{run("HB-4711")}</w:fldSimple>' + run("."), "No. HB-4711."),
        (run("by ") + complex_field(" MERGEFIELD captain ", run("Ada")) + run("!"), "by Ada!"),
        (complex_field("IF 1", complex_field("PAGE", run("7")) + run(" ports")), "7 ports"),
        (field("begin") + "<w:r><w:instrText>PAGE</w:instrText></w:r>" + field("end") + run("kept"), "kept"),
        (f"<w:ins>{run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "new"),
        (f"<w:moveFrom>{run('gone')}</w:moveFrom><w:moveTo>{run('here')}</w:moveTo>", "here"),
        (f"<w:smartTag>{run('Salt')}</w:smartTag><w:customXml>{run('holm')}</w:customXml>", "Saltholm"),
        (f"<w:sdt><w:sdtPr><w:tag/></w:sdtPr><w:sdtContent>{run('chosen')}</w:sdtContent></w:sdt>", "chosen"),
        ("<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t></w:r>", "non-stop"),
        ("<w:r><w:tab/><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>", "a b\nc"),
        (f"<w:ruby><w:rt>{run('よこはま')}</w:rt><w:rubyBase>{run('横浜')}</w:rubyBase></w:ruby>", "横浜 (よこはま)"),
        ("<m:oMath><m:f><m:num><m:t>a</m:t></m:num><m:den><m:t>b</m:t></m:den></m:f></m:oMath>", "a/b"),
        ('<w:r><w:sym w:font="Symbol" w:char="03B1"/><w:sym w:font="Wingdings" w:char="F0E0"/></w:r>', "α"),
    ],
)  # fmt: skip
def test_a_paragraph_has_the_words_that_word_shows(word, content, text):
    assert prose(word(par(content) + par(run("After.")))) == [text, "After."]


STYLES = """
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Rubrik"><w:name w:val="R"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Heading3"><w:name w:val="Überschrift 3"/></w:style>
<w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/><w:basedOn w:val="B"/></w:style>
<w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="A"/></w:style>
"""


def test_headings_are_those_of_the_styles_whatever_their_ids(word):
    styled = [
        ("The Report", "Titel"), ("One", "berschrift1"), ("a", ""), ("Two", "Kapitel"), ("Inner", "Rubrik"), ("b", "A"),
        ("Deep", "Heading3"), ("c", ""), ("Bare", "Rubrik"), ("Last", "berschrift1"),
    ]  # fmt: skip
    page = word("".join(office.paragraph(text, style=style) for text, style in styled), parts={"styles": STYLES})
    assert page.title == "The Report"
    assert [(block.text, block.place.headings) for block in page.blocks] == [
        ("a", ("One",)),
        ("b", ("Two", "Inner")),
        ("c", ("Two", "Inner", "Deep")),
        ("Bare", ("Two",)),  # a heading with nothing beneath it is a paragraph
        ("Last", ()),
    ]


def test_a_word_file_has_its_headings_and_tables(word):
    body = (
        office.paragraph("The Report", style="Heading1")
        + office.paragraph("Opening words.")
        + office.paragraph("Part", style="Heading2")
        + office.paragraph("Inner words.")
        + office.table(("Year", "Who"), ("1990", "Ada"))
    )
    page = word(body)
    found = [(block.text, block.place.headings) for block in page.blocks if isinstance(block, Prose)]
    assert found == [("Opening words.", ()), ("Inner words.", ("Part",))]
    assert grids(page) == [(("Year", "Who"), [("1990", "Ada")])]
    assert page.title == "The Report"


def test_merged_cells_shift_none(word):
    names = row(
        cell(par(run("port")), properties='<w:vMerge w:val="restart"/>'),
        cell(par(run("depth")), properties='<w:gridSpan w:val="2"/>'),
        cell(par(run("fee")), properties='<w:vMerge w:val="restart"/>'),
    )
    more = row(
        cell(properties="<w:vMerge/>"), cell(par(run("low"))), cell(par(run("high"))), cell(properties="<w:vMerge/>")
    )
    holm = cell(par(run("Holm")), properties='<w:vMerge w:val="restart"/>')
    first = row(holm, cell(par(run("3"))), cell(par(run("7"))), cell(par(run("12"))))
    second = row(cell(properties='<w:vMerge w:val="continue"/>'), *(cell(par(run(word))) for word in "489"))
    late = row(cell(par(run("5"))), cell(par(run("6"))), cell(par(run("0"))), properties='<w:gridBefore w:val="1"/>')
    (grid,) = grids(word(f"<w:tbl>{names}{more}{first}{second}{late}</w:tbl>"))
    assert grid[0] == ("port", "depth low", "depth high", "fee")
    assert grid[1] == [("Holm", "3", "7", "12"), ("Holm", "4", "8", "9"), ("", "5", "6", "0")]


def test_a_table_within_a_cell_and_one_that_lays_out_a_page(word):
    inner = office.table(("Ship", "Crew"), ("Gull", "4"))
    head, below = row(cell(par(run("Port"))), cell(par(run("Fleet")))), row(cell(par(run("Holm"))), cell(inner))
    left = cell(office.paragraph("Part", style="Heading1"), par(run("Left.")), inner)
    layout = f"<w:tbl>{row(left, cell(par(run('Right.'))))}</w:tbl>"
    page = word(f"<w:tbl>{head}{below}</w:tbl>{layout}")
    assert grids(page) == [
        (("Port", "Fleet"), [("Holm", "")]), (("Ship", "Crew"), [("Gull", "4")]), (("Ship", "Crew"), [("Gull", "4")]),
    ]  # fmt: skip
    assert (page.title, prose(page)) == ("Part", ["Left.", "Right."])


def test_a_caption_is_of_the_table_below_it(word):
    styles = '<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style>'
    caption = office.paragraph("Table 1: Ports", style="Beschriftung")
    titled = "<w:tbl>" + row(cell(par(run("In 2020")), properties='<w:gridSpan w:val="2"/>'))
    rows = "".join(row(cell(par(run(a))), cell(par(run(b)))) for a, b in (("port", "fee"), ("Holm", "3")))
    page = word(caption + f"{titled}{rows}</w:tbl>" + caption + par(run("End.")), parts={"styles": styles})
    (grid,) = (block for block in page.blocks if isinstance(block, Grid))
    assert (grid.caption, grid.header, grid.rows) == ("Table 1: Ports In 2020", ("port", "fee"), [("Holm", "3")])
    assert prose(page) == ["Table 1: Ports", "End."]


def test_what_floats_follows_its_paragraph_and_is_there_once(word):
    note = '<w:r><w:footnoteReference w:id="2"/><w:endnoteReference w:id="2"/></w:r>'
    mark = '<w:r><w:commentReference w:id="0"/></w:r>'
    picture = '<w:r><w:drawing><wp:docPr id="1" name="Picture 1" descr="A gull on a mast"/></w:drawing></w:r>'
    body = par(run("Body"), note, run(" text."), mark) + par(run("Next."), boxed(par(run("In a box.")))) + par(picture)
    notes = ('w:type="separator" w:id="-1"', "no"), ('w:id="2"', "The footnote."), ('w:id="3"', "Of nothing.")
    parts = {
        "footnotes": "".join(f"<w:footnote {about}>{par(run(text))}</w:footnote>" for about, text in notes),
        "endnotes": f'<w:endnote w:id="2">{par(run("The endnote."))}</w:endnote>',
        "comments": f'<w:comment w:id="0" w:author="Ada Vik">{par(run("Is it "), run("true?"))}</w:comment>',
        "header1": par(run("Confidential draft")) + office.table(("In a table",)),
        "header2": par(run("Confidential draft")) + par(run("12")),
        "footer1": office.paragraph("Page foot", style="Heading1"),
    }
    assert prose(word(body, parts=parts)) == [
        *("Body text.", "The footnote.", "The endnote.", "Comment by Ada Vik: Is it true?", "Next.", "In a box."),
        *("A gull on a mast", "Of nothing.", "Confidential draft", "In a table", "Page foot"),
    ]


def test_contents_are_navigation_and_what_follows_is_not(word):
    gallery = '<w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
    styles = '<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>'
    begin = f'{field("begin")}<w:r><w:instrText>TOC \\o "1-3"</w:instrText></w:r>{field("separate")}'
    body = (
        f"<w:sdt>{gallery}<w:sdtContent>{par(run('Contents'))}</w:sdtContent></w:sdt>"
        + par(begin, run("Ports 1"))
        + par(run("Fees 2"), complex_field("PAGEREF x", run("2")))
        + par(field("end"))
        + office.paragraph("Ships 3", style="Verzeichnis1")
        + par(run("The first words."))
    )
    page = word(body, parts={"styles": styles})
    assert [block.text for block in page.blocks if block.place.is_navigation] == [
        *("Contents", "Ports 1", "Fees 22", "Ships 3"),
    ]
    assert prose(page)[-1] == "The first words."


def test_links_lead_where_word_says(word):
    body = (
        par(f'<w:hyperlink r:id="h1" w:anchor="part">{run("one")}</w:hyperlink>')
        + par(f'<w:hyperlink w:anchor="fees">{run("two")}</w:hyperlink>')
        + par(complex_field(' HYPERLINK "http://b.example/" ', run("three")))
        + par('<w:bookmarkStart w:id="0" w:name="fees"/><w:bookmarkStart w:id="1" w:name="_GoBack"/>', run("four"))
    )
    blocks = word(body, links={"h1": "http://a.example/"}).blocks
    assert [block.links for block in blocks] == [("http://a.example/#part",), ("#fees",), ("http://b.example/",), ()]
    assert blocks[3].place.anchors == ("fees",)


class Author:
    """Writes a Word file at random, and remembers which words are to be read and which are not."""

    def __init__(self, seed):
        self.random, self.shown, self.hidden, self.number = random.Random(seed), Counter(), [], 0

    def word(self, *, is_hidden=False):
        self.number += 1
        word = f"w{self.number}x"
        (self.hidden.append(word) if is_hidden else self.shown.update([word]))
        return word

    def runs(self):
        words = [self.word() for _ in range(self.random.randint(1, 4))]
        letters = " ".join(words)
        at = self.random.randint(0, len(letters))
        return run(letters[:at]) + run(letters[at:])

    def inline(self):
        kinds = [
            self.runs,
            lambda: f'<w:fldSimple w:instr="{self.word(is_hidden=True)}">{self.runs()}</w:fldSimple>',
            lambda: complex_field(self.word(is_hidden=True), self.runs()),
            lambda: f"<w:ins>{self.runs()}</w:ins>",
            lambda: f"<w:del><w:r><w:delText>{self.word(is_hidden=True)}</w:delText></w:r></w:del>",
            lambda: f"<w:moveFrom>{run(self.word(is_hidden=True))}</w:moveFrom>",
            lambda: f"<w:sdt><w:sdtContent>{self.runs()}</w:sdtContent></w:sdt>",
            lambda: f'<w:hyperlink w:anchor="x">{self.runs()}</w:hyperlink>',
        ]
        return self.random.choice(kinds)()

    def paragraph(self):
        style = self.random.choice(["", "", "Heading1", "Heading2"])
        properties = f'<w:pStyle w:val="{style}"/>' if style else ""
        return par(run(" ").join(self.inline() for _ in range(self.random.randint(1, 3))), properties=properties)

    def blocks(self, depth):
        kinds = [self.paragraph] * 3
        if depth:
            kinds += [
                lambda: self.table(depth - 1),
                lambda: par(self.runs(), boxed(self.paragraph()), run(" "), self.runs()),
                lambda: f"<w:sdt><w:sdtContent>{self.blocks(depth - 1)}</w:sdtContent></w:sdt>",
                lambda: f"<mc:AlternateContent><mc:Choice>{self.blocks(depth - 1)}</mc:Choice></mc:AlternateContent>",
            ]
        return "".join(self.random.choice(kinds)() for _ in range(self.random.randint(1, 3)))

    def table(self, depth):
        columns, rows = self.random.randint(1, 4), self.random.randint(1, 4)
        return (
            f"<w:tbl>{''.join(row(*(cell(self.blocks(depth)) for _ in range(columns))) for _ in range(rows))}</w:tbl>"
        )


@pytest.mark.parametrize("seed", range(40))
def test_of_any_word_file_each_word_is_read_once_and_none_that_is_deleted(word, seed):
    author = Author(seed)
    page = word(author.blocks(3))
    read = Counter(re.findall(r"w\d+x", page.title))
    last = ()
    for block in page.blocks:
        texts = [block.text] if isinstance(block, Prose) else [block.caption, *block.header, *sum(block.rows, ())]
        texts += [heading for at, heading in enumerate(block.place.headings) if heading not in last[at : at + 1]]
        last = block.place.headings
        read.update(word for text in texts for word in re.findall(r"w\d+x", text))
    assert set(read) == set(author.shown)
    assert not set(read) & set(author.hidden)
    assert max(read.values()) == 1 or all(read[word] == 1 or _is_heading(page, word) for word in read)


def _is_heading(page, word):
    return any(word in heading for block in page.blocks for heading in block.place.headings)


# --------------------------------------------------------------------------------------------------- presentations


def slides(path, *pages, title=""):
    deck = Presentation()
    deck.core_properties.title = title
    for head, body in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = head
        slide.placeholders[1].text = body
    deck.save(path)


def test_each_slide_stands_apart_with_its_number(tmp_path):
    deck = [("Ferry plan", "By Ada"), ("Costs", "Ten"), ("Costs", "Twelve"), ("", "No head"), ("Bare", "")]
    slides(tmp_path / "plan.pptx", *deck, title="PowerPoint Presentation")
    page = read_office(tmp_path / "plan.pptx")
    assert page.title == "Ferry plan"
    assert [(block.text, block.place.headings, block.place.page) for block in page.blocks] == [
        ("By Ada", ("Ferry plan",), 1),
        ("Ten", ("Costs",), 2),
        ("Twelve", ("Costs 3",), 3),
        ("No head", ("Slide 4",), 4),
        ("Bare", (), 5),
    ]


def test_a_slide_with_a_title_alone_and_an_empty_page_of_notes_is_read(tmp_path):
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Questions?"
    slide.notes_slide.notes_text_frame.text = ""
    deck.save(tmp_path / "a.pptx")
    assert prose(read_office(tmp_path / "a.pptx")) == ["Questions?"]


def test_a_slide_has_all_its_tables_groups_charts_notes_and_links(tmp_path):
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Ports"
    place = (Inches(1), Inches(1), Inches(3), Inches(1))
    for rows in ((("Port", "Depth"), ("Holm", "12 m"), ("Salt", "")), (("Ship", "Captain"), ("Gull", "Ada Vik"))):
        table = slide.shapes.add_table(len(rows), 2, *place).table
        for at, texts in enumerate(rows):
            for column, text in enumerate(texts):
                table.cell(at, column).text = text
        if len(rows) == 3:
            table.cell(1, 1).merge(table.cell(2, 1))
    group = slide.shapes.add_group_shape()
    run = group.shapes.add_textbox(*place).text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "In a group.", "http://a.example/"
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Calls", (3, 7))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title, chart.chart_title.text_frame.text = True, "Calls by month"
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    slide._element.set("show", "0")
    deck.save(tmp_path / "a.pptx")
    page = read_office(tmp_path / "a.pptx")
    assert grids(page) == [
        (("Port", "Depth"), [("Holm", "12 m"), ("Salt", "12 m")]),
        (("Ship", "Captain"), [("Gull", "Ada Vik")]),
        (("column_1", "Calls"), [("May", "3"), ("June", "7")]),
    ]
    assert [(block.text, block.place.headings, block.links) for block in page.blocks if isinstance(block, Prose)] == [
        ("In a group.", ("Ports",), ("http://a.example/",)),
        ("Say it slowly.", ("Ports", "Notes"), ()),
    ]
    assert page.blocks[-2].caption == "Calls by month"
    assert page.notes == ["read, but hidden in the presentation: slides 1"]


def extended(path, parts, leads):
    """Add parts to a file, and relations to them: (the part that leads, the kind, the target)."""
    kinds = "http://schemas.microsoft.com/office/2017/10/relationships"
    with zipfile.ZipFile(path) as given:
        files = {name: given.read(name) for name in given.namelist()} | parts
    for at, (leading, kind, target) in enumerate(leads):
        folder, _, name = leading.rpartition("/")
        about = f"{folder}/_rels/{name}.rels"
        empty = b"<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'></Relationships>"
        more = f"<Relationship Id='x{at}' Type='{kinds}/{kind}' Target='{target}'/></Relationships>".encode()
        files[about] = files.get(about, empty).replace(b"</Relationships>", more)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def test_comments_of_slides_have_their_authors_in_old_files_and_new(tmp_path):
    slides(tmp_path / "a.pptx", ("Ports", "Holm"))
    old = b"<p:cmLst xmlns:p='p'><p:cm authorId='0'><p:text>Too few.</p:text></p:cm></p:cmLst>"
    said = "<q:txBody><a:p><a:r><a:t>{}</a:t></a:r><a:r><a:t>{}</a:t></a:r></a:p></q:txBody>"
    reply = f"<q:replyLst><q:reply authorId='{{B}}'>{said.format('It', ' is.')}</q:reply></q:replyLst>"
    first = f"<q:cm authorId='{{A}}'>{reply}{said.format('Is it', ' so?')}</q:cm>"
    new = f"<q:cmLst xmlns:q='q' xmlns:a='a'>{first}</q:cmLst>"
    parts = {
        "ppt/comments/old.xml": old,
        "ppt/comments/new.xml": new.encode(),
        "ppt/commentAuthors.xml": b"<p:cmAuthorLst xmlns:p='p'><p:cmAuthor id='0' name='Ada Vik'/></p:cmAuthorLst>",
        "ppt/authors.xml": b"<q:authorLst xmlns:q='q'><q:author id='{A}' name='Bo'/><q:author id='{B}' name='Cy'/>"
        b"</q:authorLst>",
    }
    of_slide = [("ppt/slides/slide1.xml", "comments", f"../comments/{name}.xml") for name in ("old", "new")]
    of_deck = [("ppt/presentation.xml", kind, f"{kind}.xml") for kind in ("commentAuthors", "authors")]
    extended(tmp_path / "a.pptx", parts, of_slide + of_deck)
    assert prose(read_office(tmp_path / "a.pptx")) == [
        *("Holm", "Comment by Ada Vik: Too few.", "Comment by Bo: Is it so?", "Comment by Cy: It is."),
    ]


# ------------------------------------------------------------------------------------------------------ workbooks


@pytest.fixture
def book(tmp_path):
    def make(*sheets, change=lambda book: None):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets:
            sheet = book.create_sheet(title)
            for one in rows:
                sheet.append(one)
        change(book)
        book.save(tmp_path / "book.xlsx")
        return read_office(tmp_path / "book.xlsx")

    return make


def test_a_workbook_has_its_sheets(book):
    people, more = book(
        ("People", [["Name", "Born"], ["Ada", 1961], [None, None], ["Noor", 3.5]]), ("Empty", []), ("More", [["x"]])
    ).blocks
    assert (people.header, list(people.rows)) == (("Name", "Born"), [("Ada", "1961"), ("Noor", "3.5")])
    assert (people.place.headings, more.place.headings) == (("People",), ("More",))


def test_a_workbook_has_its_titles_merged_cells_comments_and_hidden_sheets(book):
    def change(book):
        book["Ports"]["B5"].comment = Comment("Is this right?", "Ada Vik")
        book["Ports"].merge_cells("A4:A5")
        book["Old"].sheet_state = "hidden"

    rows = [["Ports of the north"], ["as of May"], ["port", "depth", "fee"], ["Holm", 3, 0.5], [None, 7, True]]
    page = book(("Ports", rows), ("Old", [["a", "b"], ["c", "d"]]), change=change)
    ports, comment, old = page.blocks
    assert ports.caption == "Ports of the north as of May"
    assert (ports.header, ports.rows) == (
        ("port", "depth", "fee"),
        [("Holm", "3", "0.5"), ("Holm", "7", "true")],
    )
    assert (comment.text, comment.place.headings) == ("Comment by Ada Vik on B5: Is this right?", ("Ports",))
    assert old.place.headings == ("Old",)
    assert page.notes == ["read, but hidden in the workbook: Old"]


def test_a_talk_about_a_cell_is_read_in_place_of_its_copy_for_old_programs(book, tmp_path):
    def change(book):
        book["Ports"]["A2"].comment = Comment("[Threaded comment] Your version of Excel ... Is it so?", "tc={1}")
        book["Ports"]["B2"].comment = Comment("An old one.", "Ada Vik")

    book(("Ports", [["port", "fee"], ["Holm", 3]]), change=change)
    talk = (
        "<ThreadedComments xmlns='t'><threadedComment ref='A2' personId='{P}'><text>Is it so?</text></threadedComment>"
        "<threadedComment ref='A2' personId='{Q}'><text>It is.</text></threadedComment></ThreadedComments>"
    )
    people = "<personList xmlns='t'><person displayName='Bo' id='{P}'/><person displayName='Cy' id='{Q}'/></personList>"
    extended(
        tmp_path / "book.xlsx",
        {"xl/threadedComments/t1.xml": talk.encode(), "xl/persons/person.xml": people.encode()},
        [
            ("xl/worksheets/sheet1.xml", "threadedComment", "../threadedComments/t1.xml"),
            ("xl/workbook.xml", "person", "persons/person.xml"),
        ],
    )
    assert prose(read_office(tmp_path / "book.xlsx")) == [
        *("Comment by Bo on A2: Is it so?", "Comment by Cy on A2: It is.", "Comment by Ada Vik on B2: An old one."),
    ]


CELLS = "<row r='{at}'>" + "<c t='s'><v>0</v></c>" * 40 + "</row>"


def book_of(path, rows, shared, roots=("worksheet", "sst")):
    """Write a workbook by its parts, whose cells are all one text."""
    sheet, strings = roots
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    sheets = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office_of = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f"<Types xmlns='{types}'><Default Extension='rels' "
            "ContentType='application/vnd.openxmlformats-package.relationships+xml'/>"
            f"<Override PartName='/xl/workbook.xml' ContentType='{kind}.sheet.main+xml'/>"
            f"<Override PartName='/xl/worksheets/sheet1.xml' ContentType='{kind}.worksheet+xml'/>"
            f"<Override PartName='/xl/sharedStrings.xml' ContentType='{kind}.sharedStrings+xml'/></Types>",
        )
        archive.writestr(
            "_rels/.rels",
            f"<Relationships xmlns='{packages}'><Relationship Id='r1' Type='{office_of}/officeDocument' "
            "Target='xl/workbook.xml'/></Relationships>",
        )
        archive.writestr(
            "xl/workbook.xml",
            f"<workbook xmlns='{sheets}' xmlns:r='{office_of}'><sheets><sheet name='s' sheetId='1' r:id='r1'/></sheets>"
            "</workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f"<Relationships xmlns='{packages}'><Relationship Id='r1' Type='{office_of}/worksheet' "
            f"Target='worksheets/sheet1.xml'/><Relationship Id='r2' Type='{office_of}/sharedStrings' "
            "Target='sharedStrings.xml'/></Relationships>",
        )
        archive.writestr(
            "xl/sharedStrings.xml", f"<{strings} xmlns='{sheets}'><si><t>{shared}</t></si></{strings.split()[0]}>"
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f"<?xml version='1.0' encoding='cp037'?><{sheet} xmlns='{sheets}'><dimension ref='A1:XFD1048576'/>"
            f"<sheetData>{rows}</sheetData></{sheet}>",
        )


@pytest.mark.parametrize(
    ("rows", "shared", "reason"),
    [
        ("".join(CELLS.format(at=at) for at in range(1, 101)), "x" * (1 << 20), "characters of text: split it"),
        ("<row><c\n r = 'A1' t='s'><v>0</v></c><c r='xfd1048576' t='s'><v>0</v></c></row>", "x", "far apart"),
        ("<row r='1'><c/></row><row r='1048576'>" + "<c t='s'><v>0</v></c>" * 9_000 + "</row>", "x", "far apart"),
    ],
)
@pytest.mark.parametrize("roots", [("worksheet", "sst"), ("x", "y"), ("worksheet", "sst uniqueCount='99999999999'")])
def test_a_workbook_that_would_fill_the_memory_is_refused(tmp_path, rows, shared, reason, roots):
    """A megabyte of text in four thousand cells would be four gigabytes, as would two cells at opposite corners."""
    book_of(tmp_path / "a.xlsx", rows, shared, roots)
    with pytest.raises(
        BadInput, match="announces more texts" if "Count" in roots[1] and "far" not in reason else reason
    ):
        read_office(tmp_path / "a.xlsx")


def test_a_workbook_that_says_that_it_is_large_is_as_large_as_it_is(tmp_path):
    book_of(tmp_path / "a.xlsx", CELLS.format(at=1) + CELLS.format(at=9_000), "word")
    (grid,) = read_office(tmp_path / "a.xlsx").blocks
    assert (len(grid.header), len(list(grid.rows))) == (40, 1)


# --------------------------------------------------------------------------------------------------------- attacks


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 cut off", "broken archive"),
        (b"no archive", "broken archive"),
        (b"", "broken archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "^encrypted: save it without a password"),
        (b"PK\x05\x06" + bytes(18), "no Office file"),
    ],
)
def test_broken_files_are_one_line(tmp_path, name, data, reason):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match=reason) as raised:
        read_office(tmp_path / name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx"])
def test_a_bomb_is_not_unpacked(tmp_path, name):
    office.bomb(tmp_path / name, megabytes=40)
    with pytest.raises(BadInput, match="unpacks from"):
        read_office(tmp_path / name)


LAUGHS = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 9))
ATTACKS = {
    f"<!DOCTYPE x [<!ENTITY a0 'ha'>{LAUGHS}]><w:document>&a8;</w:document>": "declares a document type",
    "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>": "declares a document type",
    "<!DOCTYPE x SYSTEM 'http://a.example/x.dtd'><x/>": "declares a document type",
    f"<document>{'<a>' * 200_000}{'</a>' * 200_000}</document>": "nests too deeply",
    f"<document>{'<body>' * 200_000}<p><t>x</t></p>{'</body>' * 200_000}</document>": "nests too deeply",
    f"<document><p>{'<r>' * 200_000}<t>x</t>{'</r>' * 200_000}</p></document>": "nests too deeply",
    f"<document>{'<tbl><tr><tc/><tc>' * 900}</document>": "is no XML",
    f"<document xmlns='{'x' * 2_000}'/>": "has a namespace of 2,000 characters",
    "<document><p>": "is no XML",
    "\0\1\2": "is no XML",
}


@pytest.mark.parametrize("content", ATTACKS, ids=lambda content: content[:40])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_attack_on_the_parser_is_one_clear_error(tmp_path, content, encoding):
    office.docx(tmp_path / "a.docx", body="")
    with zipfile.ZipFile(tmp_path / "a.docx") as given, zipfile.ZipFile(tmp_path / "b.docx", "w") as attack:
        for name in given.namelist():
            data = content.encode(encoding) if name == "word/document.xml" else given.read(name)
            attack.writestr(name, data)
    with pytest.raises(BadInput, match=ATTACKS[content]) as raised:
        read_office(tmp_path / "b.docx")
    assert "\n" not in str(raised.value)


def test_too_many_tags_and_too_much_text_are_refused(word, monkeypatch):
    reader = inside(read_office)
    with monkeypatch.context() as patch:
        patch.setattr(inside(reader.Package), "MOST_MARKS", 1_000)
        with pytest.raises(BadInput, match="more than 1,000 tags and attributes"):
            word("<w:p/>" * 1_000)
    monkeypatch.setattr(reader, "MOST_CHARACTERS", 1_000)
    wide = row(cell(par(run("x")), properties='<w:gridSpan w:val="900"/>'), cell())
    with pytest.raises(BadInput, match="more than 1,000 characters"):
        word(f"<w:tbl>{wide}{wide}</w:tbl>")


LONG = 20_000
SLOW = {
    "fields": (par(f"<w:r>{(field('begin') + field('separate')) * LONG}{'<w:t>x</w:t>' * LONG}</w:r>"), ""),
    "instructions": (
        par(field("begin") + f"<w:r><w:instrText>{'x' * 200}</w:instrText></w:r>" * LONG) + par(run("x")),
        "",
    ),
    "styles": (
        "".join(office.paragraph("x", style=f"s{at}") for at in range(LONG)),
        "".join(f'<w:style w:styleId="s{at}"><w:basedOn w:val="s{at + 1}"/></w:style>' for at in range(LONG)),
    ),
    "boxes": (par(boxed(par(run("x"))) * LONG), ""),
    "headings": ("".join(office.paragraph(f"x{at}", style=f"Heading{1 + at % 3}") for at in range(LONG)), ""),
}


@pytest.mark.parametrize("name", SLOW)
def test_what_is_nested_or_repeated_without_end_takes_time_by_its_size(word, name):
    body, styles = SLOW[name]
    began = time.process_time()
    assert word(body, parts={"styles": styles} if styles else {}).blocks
    assert time.process_time() - began < 5


def test_what_a_file_is_its_bytes_say(book, tmp_path):
    book(("Ports", [["port", "fee"], ["Holm", 3]]))
    for name in ("a.docx", "a.ods", "a.xls", "a.txt"):
        (tmp_path / "book.xlsx").rename(tmp_path / name)
        assert grids(read_office(tmp_path / name)) == [(("port", "fee"), [("Holm", "3")])]
        (tmp_path / name).rename(tmp_path / "book.xlsx")


def test_one_slide_that_is_shown_a_thousand_times_is_read_once(tmp_path):
    slides(tmp_path / "a.pptx", ("Ports", "Holm"))
    with zipfile.ZipFile(tmp_path / "a.pptx") as given, zipfile.ZipFile(tmp_path / "b.pptx", "w") as attack:
        for name in given.namelist():
            data = given.read(name).decode("utf-8", "surrogateescape")
            if name == "ppt/presentation.xml":
                data = re.sub(r"(<p:sldId .*?/>)", lambda found: found[1] * 1_000, data)
            attack.writestr(name, data.encode("utf-8", "surrogateescape"))
    assert prose(read_office(tmp_path / "b.pptx")) == ["Holm"]


def test_a_broken_part_costs_itself_alone_and_is_named(word):
    page = word(par(run("Kept.")), parts={"comments": "<?xml version='1.0'?><comments>"})
    assert prose(page) == ["Kept."]
    assert any("word/comments.xml is no XML" in note for note in page.notes)
