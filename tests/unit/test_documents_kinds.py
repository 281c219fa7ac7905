"""Files of many kinds as documents: what is read, under which title and headings, and what is left out."""

from __future__ import annotations

import contextlib
import email
import email.policy
import gzip
import json
import time
import zipfile
from email.message import EmailMessage
from functools import partial
from pathlib import Path

import pytest

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import (
    BuildConfig,
    BuildOptions,
    DocumentReader,
    NotRead,
    build_graph,
    decoded_text,
    kind_within,
    list_documents,
    mailbox_mails,
    read_book,
    read_mail,
    read_notebook,
    read_prose_lines,
    reads_as_prose,
)

zipped = partial(gzip.compress, mtime=0)  # the time would be in the ids of the tests

PROGRAM = '''"""Wraps paragraphs.

More of it.
"""
import re

SIZE = 3


@cached
class Wrapper:
    """Wraps."""

    def wrap(self, text):
        return text

    async def fill(self):
        def inner():
            pass


def main():
    print("hi")


if __name__ == "__main__":
    main()
'''


def read(path: Path):
    (file,) = list_documents([path]).files
    (document,) = DocumentReader(BuildConfig(), None).documents(file)  # type: ignore[arg-type]  # nothing is converted
    return document


def outline(blocks):
    return [(block.place.headings, block.text) for block in blocks]


# ------------------------------------------------------------------------------------------------------ lines


def test_a_program_is_parted_by_its_definitions():
    page = read_prose_lines(PROGRAM)
    headings = {block.text.strip(): block.place.headings for block in page.blocks}
    assert headings["SIZE = 3"] == ()
    assert headings["@cached"] == headings["class Wrapper:"] == ("class Wrapper",)
    assert headings["return text"] == ("class Wrapper", "def wrap")
    assert headings["pass"] == ("class Wrapper", "def fill")
    assert headings['print("hi")'] == ("def main",)
    assert headings['if __name__ == "__main__":'] == ()
    for block in page.blocks:
        start, end = block.place.span
        assert PROGRAM[start:end] == block.text
        assert block.is_code
    assert "\n".join(block.text for block in page.blocks).split() == PROGRAM.split()


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("static int\nf(int a)\n{\n  return 1;\n}\nint g(void) {\n}\n", [("g",)]),
        (
            "pub fn run(a: u8) -> u8 {\n}\nimpl Foo {\n    fn x() {}\n}\n",
            [("fn run",), ("impl Foo",), ("impl Foo", "fn x")],
        ),
        ("func (s *Server) Serve() {\n}\n", [("func Serve",)]),
        ("export default class A {\n}\nfunction b() {\n}\n", [("class A",), ("function b",)]),
        ("while (x) {\n}\nreturn f(x)\n", []),
    ],
)
def test_definitions_of_many_languages(text, headings):
    found = dict.fromkeys(block.place.headings for block in read_prose_lines(text).blocks)
    assert [path for path in found if path] == headings


@pytest.mark.parametrize("text", ['[{"a": 1}, 2]\n', "[1, 2]\n", '["a"]\n', "[[1], [2]]\n"])
def test_values_are_no_sections(text):
    assert [block.place.headings for block in read_prose_lines(text).blocks] == [()]


@pytest.mark.parametrize(("mark", "name"), [("\t", "a.tsv"), (",", "a.csv"), (";", "b.csv"), ("\t", "c.csv")])
def test_a_table_in_utf_16_is_read(tmp_path: Path, mark, name):
    (tmp_path / name).write_text(f'name{mark}city\nAda{mark}"Salt Bay"\nNoor\n', encoding="utf-16")
    (grid,) = read(tmp_path / name).blocks
    assert (grid.header, list(grid.rows)) == (("name", "city"), [("Ada", "Salt Bay"), ("Noor", "")])


def test_prose_is_told_from_values():
    assert reads_as_prose("This folder holds the letters that Ada wrote.\n\nRead them in the order of their dates.\n")
    assert not reads_as_prose("a: 1\nb: 2\npath: /etc/passwd\n")
    assert not reads_as_prose("all:\n\techo hi\n\nclean:\n\trm -f x\n")
    assert not reads_as_prose("")


@pytest.mark.slow
def test_no_line_takes_long():
    started = time.process_time()
    for text in ("a " * 50_000 + "(", "f(" * 50_000, "\n".join(["a b " * 90 + "("] * 2_000), "@\n" * 100_000):
        read_prose_lines(text)
    assert time.process_time() - started < 10


# ------------------------------------------------------------------------------------------------------ by content


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("README", b"This folder holds the letters that Ada wrote.\n", "This folder holds the letters that Ada wrote."),
        ("app.log", b"1 ERROR disk full\n2 INFO fine\n", "1 ERROR disk full"),
        ("old.log.gz", zipped(b"1 ERROR disk full\n"), "1 ERROR disk full"),
        ("policy.txt.gz", zipped(b"Payroll is kept, for seven years.\n"), "Payroll is kept, for seven years."),
        ("guide.md.gz", zipped(b"# Guide\n\nWords.\n"), "Words."),
        ("changelog.Debian.gz", zipped(b"x (1.0) unstable\n"), "x (1.0) unstable"),
        ("app.toml", b"[server]\nport = 1\n", "server > port = 1"),
        ("wide.conf", "[server]\nport = 1\n".encode("utf-16"), "server > port = 1"),
        ("bare.conf", "[server]\nport = 1\n".encode("utf-16-le"), "server > port = 1"),
        ("colours.log", b"\x1b[31mred\x1b[0m words\n", "\x1b[31mred\x1b[0m words"),
    ],
)
def test_text_is_read_whatever_its_name(tmp_path: Path, name, content, shown):
    (tmp_path / name).write_bytes(content)
    assert outline(read(tmp_path / name).blocks)[0][1] == shown


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("picture", b"\x89PNG\r\n\x1a\n\0\0", "pictures"),
        ("program", b"\x7fELF\x02\x01\0", "programs"),
        ("archive", b"PK\x03\x04\0\0", "archives"),
        ("letter.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", "other programs|of programs"),
        ("letter", b"{\\rtf1 words}", "of programs"),
        ("scan.djvu", b"AT&TFORM\0\0\0", "of programs"),
        ("letter.odt", b"PK\3\4" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.text", "of programs"),
        ("notes.txt", b"\x89PNG\r\n\x1a\n\0\0", "pictures"),
        ("old.md", zipped(b"# Pier"), "packed with gzip: give them the suffix .gz"),
        ("base.csv", b"SQLite format 3\0\0\0", "databases"),
        ("noise", bytes(range(256)), "no text"),
        ("x.data.gz", zipped(b"\0\1\2"), "no text"),
        ("nothing", b"", "empty"),
    ],
)
def test_what_is_no_text_is_told_by_what_it_is(tmp_path: Path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NotRead, match=reason):
        kind_within(tmp_path / name, "unknown")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("a.png", "pictures"), ("b.tar.gz", "archives"), ("c.pdf.gz", "packed with gzip"), ("d.mp3", "sound")],
)
def test_names_that_say_that_there_is_no_text(tmp_path: Path, name, reason):
    (tmp_path / name).write_bytes(b"x")
    found = list_documents([tmp_path])
    assert not found.files
    assert found.skipped[0].reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe der Übergänge", "cp1252"),
        ("It’s a “test” – of marks", "cp1252"),
        ("Съешь ещё этих мягких французских булок", "cp1251"),
        ("Съешь ещё этих мягких французских булок", "koi8_r"),
        ("フェリーは朝九時に出発します。", "cp932"),
        ("渡轮早上九点出发，船长是李先生。", "gb18030"),
        ("Το πλοίο φεύγει το πρωί στις εννέα", "cp1253"),
        ("Zażółć gęślą jaźń. Święta w Łodzi są piękne.", "cp1250"),
    ],
)
def test_encodings_are_told_apart(text, encoding):
    assert decoded_text(text.encode(encoding)) == (text, encoding)


MAIL_WORDS = b"From: ada@x.org\nTo: n@x.org\nDate: Mon, 2 Jan 2023 10:00:00 +0000\nSubject: Crane\n\nWords.\n"
PAGE_WORDS = b"<!-- made --><!DOCTYPE html>\n<html><title>Pier</title><p>Words."


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("page.txt", PAGE_WORDS, "html"),
        ("page.pdf", PAGE_WORDS, "html"),
        ("page", b"<?xml version='1.0'?>\n<html><p>Words.", "html"),
        ("report.doc", PAGE_WORDS, "html"),
        ("sheet.csv", PAGE_WORDS, "html"),
        ("1700000000.M1P2.host:2,S", MAIL_WORDS, "mail"),
        ("saved.txt", MAIL_WORDS.replace(b"\n", b"\r\n"), "mail"),
        ("half.eml", b"Subject: Crane\n\nWords.", "mail"),
        ("archive", b"From ada@example.org Mon Jan  2 10:00:00 2023\n" + MAIL_WORDS, "mailbox"),
        ("old.ipynb", b'{"cells": [{"cell_type": "markdown", "source": "Words."}]}', "notebook"),
        ("book", json.dumps({"cells": [{"cell_type": "markdown"}]}).encode(), "notebook"),
        ("settings", b'{"port": 1}', "data"),
        ("pier.service", b"# of the pier\n\n[Unit]\nAfter = sea\n", "data"),
        ("ticks", b"[x] done\n[ ] not done\n", "unknown"),
        ("notes.txt", b"From: the pier\n\nWords of a walk.", "text"),
        ("from.txt", b"From 1990 to 2004 we sailed.\nIt was cold.", "text"),
        ("control", b"Package: pier\nVersion: 1\n\nWords.", "unknown"),
        ("show.py", PAGE_WORDS, "unknown"),
        ("mail.md", MAIL_WORDS, "markdown"),
        ("part.html", b"Words.", "html"),
        ("talk.txt", b"%PDF-1.4\n", "pdf"),
        ("scan.pdf", b"\r\n\r\n%PDF-1.7\n", "pdf"),
        ("about.txt", b"A file that begins with %PDF- is a PDF.", "text"),
        ("rows.csv", b"PAR1\0\0", "table"),
        ("cut.txt", b"\xef\xbb\xbf<html>" + "é".encode() * 9_000, "html"),
        ("cut.txt", "<html>𝄞".encode("utf-16") + "𝄞".encode("utf-16-le") * 9_000, "html"),
        ("bmw.txt", b"BMW and MZ made engines.", "text"),
    ],
)
def test_the_first_bytes_say_what_a_file_is(tmp_path: Path, name, content, kind):
    (tmp_path / name).write_bytes(content)
    (file,) = list_documents([tmp_path / name]).files
    assert kind_within(file.path, file.kind) == kind


@pytest.mark.parametrize(
    ("inside", "kind"),
    [("word/document.xml", "office"), ("ppt/slides/slide1.xml", "office"), ("xl/workbook.xml", "office"), ("a", None)],
)
def test_archives_are_told_by_what_they_hold(tmp_path: Path, inside, kind):
    path = tmp_path / "file.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "x" * 200_000)
        archive.writestr(inside, "word/ ppt/ xl/")
    with contextlib.nullcontext() if kind else pytest.raises(NotRead, match="archives"):
        assert kind_within(path, "unknown") == kind
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
    assert kind_within(tmp_path / "book.zip", "unknown") == "book"


def test_a_name_that_is_wrong_is_told(tmp_path: Path):
    (tmp_path / "page.pdf").write_bytes(PAGE_WORDS)
    (file,) = list_documents([tmp_path]).files
    reader = DocumentReader(BuildConfig(), None)  # type: ignore[arg-type]  # nothing is converted
    (document,) = reader.documents(file)
    assert (document.title, outline(document.blocks)) == ("Pier", [((), "Words.")])
    assert reader.notes == ["page.pdf: no pdf, as its name says: read as a web page"]


@pytest.mark.slow
def test_no_file_takes_long_to_tell_or_to_part(tmp_path: Path):
    started = time.process_time()
    digits = b"From " + b"1" * 1_000_000 + b"\n"
    for content in (b"<!---->" * 2_000 + b"x", b"<!--" * 2_000, b"From: a\nTo: b\n" * 50_000, digits * 5):
        (tmp_path / "file").write_bytes(content)
        with contextlib.suppress(BadInput):
            kind_within(tmp_path / "file", "unknown")
    assert not list(mailbox_mails(digits))
    assert len(list(mailbox_mails(b"From a 2023\nFrom: a\n\n" * 100_000))) == 100_000
    mail = read_mail(MAIL_WORDS + b"\nSome words.\n" * 100_000)
    assert mail.blocks[-1].place.line == 200_006
    assert time.process_time() - started < 20


# ------------------------------------------------------------------------------------------------------ titles


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.html", "<title>untitled</title><h1>Ferries¶</h1><p>x", "Ferries"),
        ("a.html", "<title>bashref</title><h3>What is a shell?</h3><p>x", "What is a shell?"),
        ("a.html", "<title>FAQ¶</title><p>x", "FAQ"),
        (
            "a.html",
            "<title>Ferries &mdash; Sound 3.1 documentation</title><h1>Ferries<a href='#f'>#</a></h1><p>x",
            "Ferries",
        ),
        ("a.html", "<title>How ferries work</title><h1>The Sound Site</h1><p>x", "How ferries work"),
        ("a.html", "<h1>Ferries</h1><p>x<h1>Towns</h1><p>y", "Ferries"),
        ("a.html", "<p>x", "a"),
        ("a.md", "![badge](x.png)\n\n# Ferries\n\ntext\n\n# Towns\n\ntext", "Ferries"),
        ("a.md", "# Introduction\n\ntext\n\n# Towns\n\ntext", "a"),
        ("a.txt", "Ferries of the Sound\n\nThey sail at nine.\n", "Ferries of the Sound"),
        ("a.rst", "=======\nFerries\n=======\n\nThey sail at nine.\n", "Ferries"),
        ("a.txt", "They sail at nine.\n\nAnd at ten.\n", "a"),
        ("a.txt", "Only this", "a"),
        (
            "README",
            "Ferries of the Sound\n\nThey sail at nine every day, and at ten on most of them.\n",
            "Ferries of the Sound",
        ),
        ("a.py", '"""Sails."""\n\ndef sail():\n    pass\n', "a.py"),
        ("a.ini", "[server]\nport = 1\n", "a.ini"),
        ("a_b.log", "1 ERROR\n", "a_b.log"),
        ("a.eml", "Subject: Ferry\n\nWords.", "Ferry"),
        ("a.eml", "From: ada\n\nWords.", "a"),
    ],
)
def test_a_title_is_the_documents_own(tmp_path: Path, name, text, title):
    (tmp_path / name).write_text(text, encoding="utf-8")
    document = read(tmp_path / name)
    assert document.title == title
    assert document.has_title == (title not in ("a", name))


def test_no_heading_is_said_twice_or_lost(tmp_path: Path):
    (tmp_path / "a.html").write_text("<title>How ferries work</title><h1>The Sound Site</h1><p>x<h2>B</h2><p>y")
    assert outline(read(tmp_path / "a.html").blocks) == [(("The Sound Site",), "x"), (("The Sound Site", "B"), "y")]
    (tmp_path / "b.md").write_text("x\n\n# One\n\ny\n\n## A\n\nz\n\n# Two\n\nw")
    assert outline(read(tmp_path / "b.md").blocks) == [((), "x"), ((), "y"), (("A",), "z"), (("Two",), "w")]


# ------------------------------------------------------------------------------------------------------ mail

MAIL = b"""From: Ada Holm <ada@example.org>
To: =?utf-8?q?No=C3=ABl?= <n@example.org>
Date: Mon, 2 Jan 2023 10:00:00 +0000
Subject: =?iso-8859-1?q?Caf=E9?= hours
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=B

--B
Content-Type: multipart/alternative; boundary=C

--C
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The caf=E9 opens at nine.
--C
Content-Type: text/html

<p>Not this.</p>
--C--
--B
Content-Type: application/pdf; name=bill.pdf
Content-Disposition: attachment; filename=bill.pdf
Content-Transfer-Encoding: base64

AAAA
--B
Content-Type: text/csv; name=rows.csv
Content-Disposition: attachment; filename=rows.csv

a,b
--B
Content-Type: message/rfc822

From: c@example.org
Subject: Before

Inner words.
--B--
"""


def test_a_mail_has_its_heads_text_and_attachments():
    mail = read_mail(MAIL)
    assert mail.title == "Café hours"
    assert mail.heads == {
        "from": "Ada Holm <ada@example.org>",
        "to": "Noël <n@example.org>",
        "date": "2023-01-02T10:00:00+00:00",
        "subject": "Café hours",
        "attachments": ["bill.pdf", "rows.csv"],
    }
    assert outline(mail.blocks) == [
        ((), "From: Ada Holm <ada@example.org>"),
        ((), "To: Noël <n@example.org>"),
        ((), "Date: Mon, 2 Jan 2023 10:00:00 +0000"),
        ((), "Subject: Café hours"),
        ((), "Attached: bill.pdf, rows.csv"),
        ((), "The café opens at nine."),
        (("rows.csv",), "a,b"),
        (("Before",), "From: c@example.org"),
        (("Before",), "Subject: Before"),
        (("Before",), "Inner words."),
    ]
    assert mail.notes == ["attachment 'bill.pdf' not read"]


def mailbox_of(*mails: tuple[str, str, str]) -> str:
    """Return a mailbox of mails: identifier, what it answers, text."""
    return "\n".join(
        f"From x@example.org Mon Jan  2 10:00:00 2023\nFrom: x@example.org\nDate: Mon, 2 Jan 2023 1{at}:00:00 +0100\n"
        + f"Message-ID: <{own}>\nSubject: About {own}\n"
        + (f"In-Reply-To: <{answered}>\n" if answered else "")
        + f"\n{text}\n"
        for at, (own, answered, text) in enumerate(mails)
    )


def test_a_mailbox_has_a_document_a_mail_and_edges_along_its_threads(tmp_path: Path):
    folder = tmp_path / "mails"
    (folder / "cur").mkdir(parents=True)
    box = (("a@x", "", "The crane broke.\n>From the north wind."), ("b@x", "a@x", "Mended.\n\n> The crane broke."))
    (folder / "box").write_text(mailbox_of(*box))
    (folder / "cur" / "17.M1.host:2,S").write_text(mailbox_of(("c@x", "b@x", "Thanks.")).partition("\n")[2])
    build_graph([folder], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    third = "cur/17.M1.host:2,S"
    assert {node for node in graph.node_ids() if graph.node(node).type == "document"} == {"box#a@x", "box#b@x", third}
    chunk = graph.node("box#b@x#0")
    assert chunk.properties["date"] == "2023-01-02T11:00:00+01:00"
    assert (chunk.properties["from"], chunk.properties["subject"]) == ("x@example.org", "About b@x")
    assert chunk.text.endswith("Mended.\n> The crane broke.")
    lines = (folder / "box").read_text().split("\n")
    ranges = [list(map(int, part.split("-"))) for part in chunk.properties["lines"].split(",")]
    numbers = [number for ends in ranges for number in range(ends[0], ends[-1] + 1)]
    for text, line in zip(chunk.text.split("\n"), numbers, strict=True):
        assert lines[line - 1] == text
    assert "\nFrom the north wind." in graph.node("box#a@x#0").text
    links = {(edge.source, edge.target) for edge in graph.iter_edges() if edge.type == "links_to"}
    assert links == {("box#b@x#0", "box#a@x#0"), (f"{third}#0", "box#b@x#0")}
    (folder / "box").write_text(mailbox_of(("z@x", "", "Before."), *box[1:]))  # the first one goes, another comes
    build_graph([folder], tmp_path / "graph", options=BuildOptions(update=True))
    graph = Graph.open(tmp_path / "graph")
    links = {(edge.source, edge.target) for edge in graph.iter_edges() if edge.type == "links_to"}
    assert links == {(f"{third}#0", "box#b@x#0")}


def test_mails_without_identifiers_or_with_one_twice_are_numbered(tmp_path: Path):
    (tmp_path / "box.mbox").write_text(mailbox_of(("a@x", "", "One."), ("a@x", "", "Two."), ("", "", "Three.")))
    (file,) = list_documents([tmp_path]).files
    found = list(DocumentReader(BuildConfig(), None).documents(file))  # type: ignore[arg-type]  # nothing is converted
    assert [document.id for document in found] == ["box.mbox#a@x", "box.mbox#2", "box.mbox#3"]


def test_what_is_attached_is_read_as_any_file(tmp_path: Path):
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.org", "A book"
    message.set_content("Here it is.")
    book = epub(tmp_path / "x.epub", {"a.html": "<h1>One</h1><p>Early words."})
    message.add_attachment(book, maintype="application", subtype="epub+zip", filename="sound.epub")
    message.add_attachment(b"\0\1\2", maintype="application", subtype="octet-stream", filename="data.bin")
    (tmp_path / "mails").mkdir()
    (tmp_path / "mails" / "a.eml").write_bytes(bytes(message))
    document = read(tmp_path / "mails" / "a.eml")
    assert (("sound.epub", "One"), "Early words.") in outline(document.blocks)
    assert document.notes == ["attachment 'data.bin' not read: no text"]


CPYTHON = Path(email.__file__).parents[1] / "test" / "test_email" / "data"


@pytest.mark.skipif(not CPYTHON.is_dir(), reason="this Python comes without its tests")
@pytest.mark.parametrize("path", sorted(CPYTHON.glob("msg_*.txt")), ids=lambda path: path.stem)
def test_no_word_of_pythons_own_mails_is_lost(path):
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    if "msg_19" in path.name:  # no mail: it has no heads
        assert kind_within(path, "mail") == "unknown"
        return
    mail = read_mail(path.read_bytes())
    said = {word for _, text in outline(mail.blocks) for word in text.split()}
    alternatives = {
        id(part) for each in message.walk() if "alternative" in each.get_content_type() for part in each.walk()
    }
    for part in message.walk():  # of alternatives, which say the same, the plainest is read
        if id(part) in alternatives:
            continue
        if part.get_content_type() == "text/plain" and part.get_content_charset("ascii") != "unknown-8bit":
            with contextlib.suppress(LookupError):
                assert set(part.get_content().split()) <= said


@pytest.mark.parametrize("content", [b"just words\n", b"\n\n", b"{}"])
def test_what_is_no_mail_is_refused(content):
    with pytest.raises(BadInput, match="no e-mail"):
        read_mail(content)


@pytest.mark.slow
def test_a_mail_of_many_parts_takes_no_time():
    head = b"Subject: x\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(5_000)
    )
    started = time.process_time()
    with pytest.raises(BadInput, match="too many parts"):
        read_mail(head + b"x\n" * 100_000)
    deep = b"Subject: x\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(2_000)
    )
    with contextlib.suppress(BadInput, RecursionError):  # which `memory_told` tells
        read_mail(deep)
    read_mail(b"Subject: " + b"=?utf-8?q?" * 100_000 + b"\nFrom: " + b"(" * 1_000_000 + b"\n\nx")
    assert time.process_time() - started < 10


# ------------------------------------------------------------------------------------------------------ notebooks


def notebook(*cells, **more):
    return json.dumps({"cells": list(cells), "nbformat": 4, **more})


def test_a_notebook_has_its_cells():
    page = read_notebook(
        notebook(
            {"cell_type": "markdown", "source": ["# Beers\n", "\n", "How they sell."]},
            {
                "cell_type": "code",
                "source": "# no heading\nx = '```'",
                "outputs": [
                    {"output_type": "stream", "text": ["12\n"]},
                    {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
                    {"output_type": "error", "ename": "KeyError", "evalue": "'abv'", "traceback": ["long"]},
                ],
            },
            {"cell_type": "markdown", "source": "## Dear ones\n\nWords."},
            {"cell_type": "raw"},
        )
    )
    assert page.title == "Beers"
    assert outline(page.blocks) == [
        ((), "How they sell."),
        ((), "# no heading\nx = '```'"),
        ((), "12"),
        ((), "<Figure>"),
        ((), "KeyError: 'abv'"),
        (("Dear ones",), "Words."),
    ]
    assert not any(block.place.span for block in page.blocks)


def test_an_old_notebook_and_long_outputs():
    cell = {"cell_type": "code", "input": ["x"], "outputs": [{"output_type": "stream", "text": "y" * 9_000}]}
    sheets = json.dumps({"worksheets": [{"cells": [{"cell_type": "heading", "level": 1, "source": "Old"}, cell]}]})
    page = read_notebook(sheets)
    assert page.title == "Old"
    assert [len(block.text) for block in page.blocks] == [1, 2_000]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cells": 1}', "[" * 10_000])
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(BadInput, match="notebook"):
        read_notebook(text)


# ------------------------------------------------------------------------------------------------------ books


def epub(path: Path, pages: dict[str, str], *, title="The Sound", contents=None) -> bytes:
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(pages)
    )
    order = "".join(f'<itemref idref="i{n}"/>' for n in reversed(range(len(pages))))
    opf = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><opf:package><opf:metadata>'
        f"<dc:title>{title}&e;</dc:title></opf:metadata><manifest>{items}</manifest><spine>{order}</spine></opf:package>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="OPS/book.opf"/></container>')
        archive.writestr("OPS/book.opf", contents or opf)
        for name, text in pages.items():
            archive.writestr(f"OPS/{name}", text)
    return path.read_bytes()


def test_a_book_has_its_chapters_in_order(tmp_path: Path):
    second = "<html><head><title>The Sound&e;</title></head><body><h1>Two</h1><p>Later.</p></body></html>"
    first = (
        "<html><head><title>One</title></head><body><h1>One</h1><p>Early <a href='b.html'>x</a>.</p><h2>A</h2><p>B</p>"
    )
    page = read_book(epub(tmp_path / "x.epub", {"b%20c.html": "", "b c.html": second, "a.html": first}))
    assert page.title == "The Sound&e;"
    assert outline(page.blocks) == [(("One",), "Early x."), (("One", "A"), "B"), (("Two",), "Later.")]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive"])
def test_a_broken_book_is_refused(content):
    with pytest.raises(BadInput, match="broken"):
        read_book(content)


@pytest.mark.slow
def test_a_book_that_is_a_bomb_is_not_unpacked(tmp_path: Path):
    content = epub(tmp_path / "x.epub", {"a.html": "<p>" + "a" * (40 << 20)})
    with pytest.raises(BadInput, match="bomb"):
        read_book(content)
    with zipfile.ZipFile(tmp_path / "y.epub", "w") as archive:
        archive.writestr("x", "y")
    with pytest.raises(BadInput, match="no book"):
        read_book((tmp_path / "y.epub").read_bytes())
