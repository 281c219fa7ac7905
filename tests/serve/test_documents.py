"""A document as a page shows it: every word of the graph, the forms of its source, and pages of PDFs as pictures."""

import json
import os
import shutil
import struct
import time
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings, strategies as st

import office_files as office
from fakes.http_site import serving
from fakes.inside import inside
from lanes import examples
from orienteer.graph import Graph
from orienteer.ingest import Converter, build_graph, graph_at

pytest.importorskip("fastapi", reason="needs the extra serve")
from orienteer.serve import PagePictures

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = """---
author: Ada
---
# Guide

Wages **are paid** by `bank`, see [the bank](https://bank.example/a?b=1).

- one
  1. first of one
  2. second of one
- two *in italics*

> Somebody said so.

```python
def paid(when):

    return when
```

| Name | Wage |
|---|--:|
| **Ada** | 10 |
| Bob | 20 |

## Rules

<script>alert("no")</script>

Rules are rules <b>always</b>.
"""


@pytest.fixture
def opened(tmp_path):
    """Return a function that builds a graph of files in a folder and serves it."""

    def made(folder, **more):
        build_graph([folder], tmp_path / "graph")
        return serving({"notes": tmp_path / "graph"}, **more)

    return made


def pages_of(client, path):
    """Return all documents of a served graph."""
    graph = Graph.open(path)
    whole = [name for name in graph.node_ids() if graph.node(name).type == "document"]
    return [client.get(f"/api/file?id={quote(name)}&k=200").json for name in whole]


def shown(part):
    """Return what the blocks of a part show, without spaces; of a table its cells, which are the lines of the text."""
    text, said = part["text"], []
    for block in part["blocks"]:
        lines = text[block["begin"] : block["end"]]
        if block["rows"]:
            assert [" | ".join(text[slice(*cell)] for cell in row) for row in block["rows"]] == lines.split("\n")
        said.append(lines)
    return "".join("".join(said).split())


def the(page, kind):
    """Return the blocks of a kind with their parts."""
    return [(part["text"], block) for part in page["parts"] for block in part["blocks"] if block["kind"] == kind]


def styles(text, block):
    return {(span["style"], text[span["begin"] : span["end"]], span["address"]) for span in block["spans"]}


# ------------------------------------------------------------------------------------------------------------- forms


def test_a_text_in_markdown_has_its_forms(opened, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "guide.md").write_text(GUIDE)
    with opened(tmp_path / "notes") as client:
        page = client.get("/api/file?id=guide.md").json
    [(text, paid)] = [one for one in the(page, "paragraph") if "Wages" in one[0][one[1]["begin"] : one[1]["end"]]]
    links = ("link", "the bank", "https://bank.example/a?b=1")
    assert styles(text, paid) == {("strong", "are paid", ""), ("code", "bank", ""), links}
    items = [(text[at["begin"] : at["end"]], at["level"], at["number"]) for text, at in the(page, "item")]
    assert items == [("one", 1, None), ("first of one", 2, 1), ("second of one", 2, 2), ("two in italics", 1, None)]
    assert [text[at["begin"] : at["end"]] for text, at in the(page, "quote")] == ["Somebody said so."]
    assert [text[at["begin"] : at["end"]] for text, at in the(page, "code")] == ["def paid(when):", "    return when"]
    [(text, table)] = the(page, "table")
    rows = [[text[slice(*cell)] for cell in row] for row in table["rows"]]
    assert rows == [["Name", "Wage"], ["Ada", "10"], ["Bob", "20"]]
    assert styles(text, table) == {("strong", "Ada", "")}
    assert "alert" not in json.dumps(page)
    assert all(shown(part) == "".join(part["text"].split()) for part in page["parts"])


def test_headings_are_an_outline(opened, tmp_path):
    (tmp_path / "notes").mkdir()
    long = "Many words stand here, so that this section is a passage of its own. " * 30
    text = f"# Book\n\n## Pay\n\n{long}\n\n### Days\n\n{long}\n\n## Travel\n\n{long}\n"
    (tmp_path / "notes" / "book.md").write_text(text)
    with opened(tmp_path / "notes") as client:
        page = client.get("/api/file?id=book.md&k=200").json
        later = client.get("/api/file?id=book.md&offset=1&k=1").json
    assert [(entry["text"], entry["level"]) for entry in page["outline"]] == [("Pay", 1), ("Days", 2), ("Travel", 1)]
    for entry in page["outline"]:
        assert entry["text"] in page["parts"][entry["offset"]]["headings"]
    assert page["headings"] == 3
    assert later["outline"] == []  # only a page that is opened has it
    assert [part["id"] for part in later["parts"]] == [page["parts"][1]["id"]]


def test_a_web_page_has_its_forms(opened, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "page.html").write_text(
        "<html><body><h1>Pay</h1><p>Wages are <strong>paid</strong> by <a href='/bank'>the bank</a>.</p>"
        "<ol start=4><li>fourth<li>fifth</ol><script>alert(1)</script><pre>x = 1\ny = 2</pre></body></html>"
    )
    with opened(tmp_path / "notes") as client:
        page = client.get("/api/file?id=page.html").json
    [(text, paid)] = the(page, "paragraph")
    assert styles(text, paid) == {("strong", "paid", ""), ("link", "the bank", "/bank")}
    assert [(text[at["begin"] : at["end"]], at["number"]) for text, at in the(page, "item")] == [
        ("fourth", 4),
        ("fifth", 5),
    ]
    assert len(the(page, "code")) == 2


def test_a_source_that_has_changed_gives_its_words_alone(opened, tmp_path):
    (tmp_path / "notes").mkdir()
    file = tmp_path / "notes" / "guide.md"
    file.write_text(GUIDE)
    with opened(tmp_path / "notes") as client:
        before = client.get("/api/file?id=guide.md").json
        at = file.stat()
        file.write_text(GUIDE.replace("Wages", "Money"))  # as long, and of the same time
        os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns + 1))
        after = client.get("/api/file?id=guide.md").json
        file.unlink()
        gone = client.get("/api/file?id=guide.md").json
    assert before["notes"] == []
    told = "shown as plain text: guide.md is gone, or has changed since it was read"
    assert after["notes"] == gone["notes"] == [told]
    assert after["parts"] == gone["parts"]
    assert [part["text"] for part in after["parts"]] == [part["text"] for part in before["parts"]]
    assert {block["kind"] for part in after["parts"] for block in part["blocks"]} == {"line", "table"}
    assert all(shown(part) == "".join(part["text"].split()) for part in after["parts"])


def test_forms_are_those_of_the_bytes_that_were_checked(opened, tmp_path, monkeypatch):
    (tmp_path / "notes").mkdir()
    file = tmp_path / "notes" / "guide.md"
    file.write_text(GUIDE)
    read = Path.read_bytes

    def then_changed(path):
        content = read(path)
        if path.name == file.name:
            path.write_text("plain words")
        return content

    with opened(tmp_path / "notes") as client:
        monkeypatch.setattr(Path, "read_bytes", then_changed)
        blocks = [block for part in client.get("/api/file?id=guide.md").json["parts"] for block in part["blocks"]]
    assert file.read_text() == "plain words"
    assert {"code", "item", "quote"} <= {block["kind"] for block in blocks}


def test_a_source_that_is_too_large_says_that_its_forms_are_left_out(opened, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "long.md").write_text("# Long\n\n" + "Words that fill a line of a long text.\n\n" * 30_000)
    (tmp_path / "notes" / "plain.txt").write_text("Plain texts have no forms to be missed.\n")
    with opened(tmp_path / "notes") as client:
        assert client.get("/api/file?id=long.md&k=1").json["notes"] == [
            "shown as plain text: long.md is larger than 1 MB"
        ]
        assert client.get("/api/file?id=plain.txt").json["notes"] == []


def _folders(tmp_path):
    """Return folders of documents of every kind: ours, and those that were kept because something broke on them."""
    yield DOCS
    for name in ("docs", "suites/docs"):
        folder = Path(__file__).parents[3] / "shared" / "inputs" / name
        if folder.is_dir():
            yield folder
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    office.pdf(mixed / "manual.pdf", "Filters are changed.\nSeals are kept.", "Prices", title="Manual")
    (mixed / "mail.eml").write_text("From: a@b.c\nSubject: Pay\n\n* one\n* two\n\n    indented\n# no heading\n")
    (mixed / "notes.txt").write_text("NOTES\n\n1. one\n2. two\n\nA | B\n**bold** _it_ <b>tag</b>\n")
    (mixed / "table.html").write_text("<table><tr><th>A<th>B<tr><td>x | y<td>z</table><p>End &amp; more</p>")
    yield mixed


def test_no_word_is_lost(tmp_path):
    for number, folder in enumerate(_folders(tmp_path)):
        target = tmp_path / f"graph{number}"
        build_graph([folder], target)
        with serving({"notes": target}) as client:
            pages = pages_of(client, target)
            assert pages
            for part in (part for page in pages for part in page["parts"]):
                assert shown(part) == "".join(part["text"].split()), part["id"]


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from(["- ", "1. ", "> ", "# ", "**", "`", "```\n", "\n", "\n\n", "a b", "|", "<b>", "é😀 "]))
)
def test_forms_never_change_words(pieces):
    from orienteer.ingest import fitted_forms, forms_of_markup, markdown_as_html, read_markdown

    text = "".join(pieces)
    lines = [line for block in read_markdown(text).blocks if hasattr(block, "text") for line in block.text.split("\n")]
    for line, fit in zip(lines, fitted_forms(lines, forms_of_markup(markdown_as_html(text))), strict=True):
        words = "".join(line.split())
        assert fit.form.kind == "line" or fit.form.words[fit.at : fit.at + len(words)] == words
        assert all(0 <= run.begin <= run.end <= len(fit.form.words) for run in fit.form.runs)


@pytest.mark.timeout(60)
def test_a_hostile_text_takes_no_long_time():
    from orienteer.ingest import fitted_forms, forms_of_markup

    for text in ("<b>" * 200_000 + "x", "<ul><li>" * 50_000, "<p>x" * 100_000, "<pre>" + "\n" * 200_000):
        began = time.process_time()
        forms = forms_of_markup(text)
        list(fitted_forms(["x"] * 20_000, forms))
        assert time.process_time() - began < 10


# ------------------------------------------------------------------------------------------------------------ pictures


@pytest.fixture
def manual(tmp_path):
    """A folder with a PDF of two pages."""
    folder = tmp_path / "notes"
    folder.mkdir()
    lines = ["Filters are changed", "every six months", "by the team."]
    page = "".join(office.text_at(72, 600 - 14 * at, line) for at, line in enumerate(lines))
    office.drawn_pdf(folder / "manual.pdf", office.text_at(72, 700, "Seals are checked."), page, title="Manual")
    return folder


def pixels(png):
    """Return the width and the rows of a picture, three bytes for each pixel: read by the standard's words."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack("!II", png[16:24])
    at, packed = 8, b""
    while at < len(png):
        size, kind = struct.unpack("!I4s", png[at : at + 8])
        assert zlib.crc32(png[at + 4 : at + 8 + size]) == struct.unpack("!I", png[at + 8 + size : at + 12 + size])[0]
        packed += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    rows = zlib.decompress(packed)
    assert len(rows) == height * (1 + 3 * width)
    return width, [rows[at * (1 + 3 * width) + 1 : (at + 1) * (1 + 3 * width)] for at in range(height)]


def place_of(client, words):
    """Return the address of the picture of the passage with some words, these marked."""
    page = client.get("/api/file?id=manual.pdf").json
    part = next(part for part in page["parts"] if words in part["text"])
    begin = part["text"].index(words)
    return f"/api/page?id={quote(part['id'])}&begin={begin}&end={begin + len(words)}"


@pytest.mark.process
def test_a_page_is_drawn_with_the_place_of_the_sentence(opened, manual):
    pytest.importorskip("pypdfium2", reason="needs the extra docs")
    with opened(manual) as client:
        page = client.get("/api/file?id=manual.pdf").json
        assert page["has_pictures"] is True
        assert page["notes"] == []
        reply = client.get(place_of(client, "every six months"))
        assert (reply.status, reply.headers["content-type"], reply.headers["x-pages"]) == (200, "image/png", "2")
        width, rows = pixels(reply.body)
        [box] = [[int(side) for side in box.split(",")] for box in reply.headers["x-boxes"].split(";")]
        scale = len(rows) / 792  # the line was written at (72, 586) of 612 x 792 points
        left, top, right, bottom = (side / scale for side in box)
        assert left == pytest.approx(72, abs=2)
        assert top < 792 - 586 < bottom + 3 < 792 - 586 + 6
        dark = [sum(row[3 * x] < 128 for x in range(box[0], box[2])) for row in rows[box[1] : box[3]]]
        assert sum(dark) > 100
        beside = rows[int(300 * scale)]
        assert set(beside) == {255}
        other = client.get(place_of(client, "every six months") + "&page=1")
        assert other.status == 200
        assert other.headers["x-boxes"] == ""
        wrapped = client.get(place_of(client, "Filters are changed every six months by the team."))
        assert len(wrapped.headers["x-boxes"].split(";")) == 3  # a box a line
        assert "2 pages" in client.get("/api/page?id=manual.pdf&page=9").error["message"]


@pytest.mark.process
def test_no_other_file_is_drawn(opened, manual, tmp_path):
    pytest.importorskip("pypdfium2", reason="needs the extra docs")
    shutil.copy(manual / "manual.pdf", tmp_path / "secret.pdf")
    (manual / "note.md").write_text("# Note\n\nNothing but words.\n")
    with opened(manual) as client:
        for name in ("../secret.pdf", str(tmp_path / "secret.pdf"), "secret.pdf", "..%2fsecret.pdf", "manual.pdf/../x"):
            assert client.get(f"/api/page?id={quote(name)}").status == 404
        assert client.get("/api/page?id=note.md").status == 400
        assert client.get("/api/page?id=manual.pdf&page=-1").status == 422
        stat = (manual / "manual.pdf").stat()
        office.drawn_pdf(manual / "manual.pdf", office.text_at(72, 700, "Another text."), title="Manual")
        reply = client.get("/api/page?id=manual.pdf")
        assert reply.status == 400
        assert "changed since it was read" in reply.error["message"]
        page = client.get("/api/file?id=manual.pdf").json
        assert page["has_pictures"] is False
        assert "manual.pdf" in page["notes"][0]
        (manual / "manual.pdf").write_bytes(bytes(stat.st_size))  # of the same size and time, and yet another file
        os.utime(manual / "manual.pdf", ns=(stat.st_atime_ns, stat.st_mtime_ns))
        reply = client.get("/api/page?id=manual.pdf")
        assert reply.status == 400
        assert "has changed since it was read" in reply.error["message"]


@pytest.mark.process
def test_a_picture_needs_the_key(opened, manual):
    pytest.importorskip("pypdfium2", reason="needs the extra docs")
    key = "k" * 40
    with opened(manual, keys=(key,)) as client:
        assert client.get("/api/page?id=manual.pdf").status == 401
        reply = client.send("GET", "/api/page?id=manual.pdf", headers={"authorization": f"Bearer {key}"})
        assert reply.body.startswith(b"\x89PNG")
        assert "img-src 'self' data:;" in reply.headers["content-security-policy"]


@pytest.mark.process
@pytest.mark.timeout(120)
def test_a_hostile_page_ends_within_its_limits(opened, tmp_path, monkeypatch):
    pytest.importorskip("pypdfium2", reason="needs the extra docs")
    monkeypatch.setattr(inside(PagePictures), "PICTURE_SECONDS", 1.0)
    monkeypatch.setattr(inside(Converter), "PAGE_SECONDS", 2.0)  # of its reading
    folder = tmp_path / "notes"
    folder.mkdir()
    forms = {}
    for number in range(12):  # each draws the next ten times: 10 ** 12 squares
        inner = f"/F{number + 1} Do " * 10 if number < 11 else "0 0 m 9 9 l 9 0 l h f "
        within = f"/Resources << /XObject << /F{number + 1} {50 + number + 1} 0 R >> >>" if number < 11 else ""
        forms[50 + number] = (
            f"<< /Type /XObject /Subtype /Form /BBox [0 0 600 700] {within} /Length {len(inner)} >>\n"
            f"stream\n{inner}\nendstream"
        )
    office.drawn_pdf(
        folder / "manual.pdf",
        office.text_at(72, 700, "Seals are checked."),
        office.text_at(72, 700, "A bomb is on this page.") + "/F0 Do",
        resources="/XObject << /F0 50 0 R >>",
        objects=forms,
    )
    with opened(folder) as client:
        began = time.monotonic()
        reply = client.send("GET", "/api/page?id=manual.pdf&page=2", timeout=100)
        assert time.monotonic() - began < 60
        assert reply.status == 400
        assert "page 2 cannot be drawn: takes more than 1 s" in reply.error["message"]
        assert client.get("/api/page?id=manual.pdf&page=1").status == 200  # and the next one is drawn


def test_a_graph_of_tables_has_its_documents_too(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "prices.csv").write_text("id,name,price\n1,Filter,12\n2,Seal,3\n3,Pump,90\n")
    (folder / "guide.md").write_text("# Guide\n\nThe **filter** is changed every six months.\n")
    found = graph_at(folder, cache=tmp_path / "cache")
    graph = Graph.open(found.path)
    with serving({"shop": graph.path}) as client:
        page = client.get("/api/file?id=guide.md").json
    [(text, block)] = the(page, "paragraph")
    assert ("strong", "filter", "") in styles(text, block)
