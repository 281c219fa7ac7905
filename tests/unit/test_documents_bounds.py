"""What comes of a document is bounded by the document, whatever it repeats, spans or nests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from orienteer.errors import BadInput
from orienteer.ingest import (
    FREE_CHARACTERS,
    MOST_BLOCKS,
    MOST_SAID,
    Block,
    BlockPlace,
    Blocks,
    BuildConfig,
    BuildOptions,
    Document,
    DocumentNodeMaker,
    Grid,
    Prose,
    build_graph,
    read_data,
    read_html,
    read_markdown,
    read_plain,
    sectioned_text,
    split_sections,
)

pytestmark = [pytest.mark.corpus("attacks by files"), pytest.mark.slow]

SIZES = (2_000, 20_000, 100_000)
MOST, LEAST = 8, 2_000
"""Characters that a character of a file may come to in blocks, beyond so many."""

Write = Callable[[int], str]


def repeated(part: str, head: str = "") -> Write:
    return lambda size: head + part * (size // len(part))


def numbered(part: str, head: str = "") -> Write:
    return lambda size: head + "".join(part.format(number) for number in range(size // len(part)))


HTML: dict[str, Write] = {
    "spanned tables within tables": lambda size: "<table><tr><td colspan=99>" * min(5, size // 26) + "a",
    "spanned tables without end": repeated("<table><tr><td colspan=99>x"),
    "spanned cells": repeated("<td colspan=99>words", "<table><tr>"),
    "spans of rows and columns": repeated("<tr><td rowspan=9999 colspan=99>x", "<table>"),
    "spanned long cells": lambda size: f"<table><tr><td colspan=99>{'a' * (size // 2)}<tr><td>b<td>c</table>",
    "tables within tables": repeated("<table><td>word "),
    "links in tables within tables": numbered("<table><td><a href=x{}>"),
    "captions within tables": repeated("<table><caption>x"),
    "divisions": repeated("<div>"),
    "lists": repeated("<ul><li>a"),
    "headings": repeated("<h1>a<h2>b<h3>c<p>d"),
    "a title": repeated("<b>x", "<title>"),
    "a wide header, short rows": lambda size: "<table><tr>" + "<th>a" * (size // 10) + "<tr><td>b" * (size // 18),
    "one attribute": lambda size: f"<p id='{'a' * size}'>x",
    "attributes": lambda size: "<p " + " ".join(f"a{one}=1" for one in range(size // 7)) + ">x",
    "images": repeated("<img alt=word>"),
    "entities": repeated("&CounterClockwiseContourIntegral;"),
    "drawings": repeated("<svg><text>x"),
}
MARKDOWN: dict[str, Write] = {
    "a wide header, short rows": lambda size: (
        "|a" * 990 + "|\n" + "|-" * 990 + "|\n" + "|\n" * (size // 2) if size > 4_000 else "x"
    ),
    "lists": lambda size: "".join(" " * depth + "- a\n" for depth in range(int((2 * size) ** 0.5))),
    "quotes": repeated("> > > a\n"),
    "headings": repeated("# a\n\n## b\n\nc\n\n"),
    "references": numbered("[a{0}]: b\n\n[a{0}]\n\n"),
    "one reference, used often": lambda size: f"[a]: http://{'b' * (size // 2)}\n\n" + "[a]\n\n" * (size // 10),
    "code": repeated("```\na\n"),
    "long rows": lambda size: "|a|b|\n|-|-|\n" + "|x" * (size // 2) + "\n",
}
DATA: dict[str, Write] = {
    "keys within keys": lambda size: "".join(f"{' ' * at}k{at}:\n" for at in range(int((2 * size) ** 0.5))),
    "long keys": lambda size: "".join(f"{' ' * at}{'k' * 99}:\n" for at in range(20)) + f"{' ' * 20}a\n" * (size // 22),
    "things": repeated("- a: 1\n"),
    "sections": repeated("[a.b.c]\nx=1\n"),
}
PLAIN: dict[str, Write] = {"paragraphs": repeated("a\n\n"), "one word": repeated("a"), "spaces": repeated(" \n")}
HOSTILE = [
    pytest.param(read, write, id=f"{kind}: {name}")
    for kind, read, writes in (
        ("HTML", lambda text: read_html(text).blocks, HTML),
        ("Markdown", lambda text: read_markdown(text).blocks, MARKDOWN),
        ("text", read_plain, PLAIN),
        ("data", lambda text: read_data(text, ".yaml").blocks, DATA),
        ("plain text", lambda text: sectioned_text(text).blocks, PLAIN | {"headings": numbered("{} Fees\n\na\n\n")}),
    )
    for name, write in writes.items()
]


def said(blocks: Iterable[Block]) -> int:
    """Count the characters of some blocks."""
    return sum(
        len(block.text)
        if isinstance(block, Prose)
        else len(block.caption) + sum(map(len, block.header)) + sum(sum(map(len, row)) for row in block.rows)
        for block in blocks
    )


@pytest.mark.parametrize(("read", "write"), HOSTILE)
def test_a_reader_gives_no_more_than_a_few_times_its_file(read: Callable[[str], list[Block]], write: Write) -> None:
    for size in SIZES:
        text = write(size)
        assert said(read(text)) <= MOST * len(text) + LEAST


@pytest.mark.parametrize(("read", "write"), HOSTILE)
def test_nodes_are_no_more_than_a_few_times_their_document(read: Callable[[str], list[Block]], write: Write) -> None:
    for size in SIZES:
        text = write(size)
        try:
            nodes = DocumentNodeMaker(BuildConfig()).nodes(Document("d", "t", read(text)))
        except BadInput:
            continue  # it was told that it comes to too much
        most = FREE_CHARACTERS + MOST_SAID * (MOST * len(text) + LEAST)
        assert sum(len(node.name) + len(node.text) for node in nodes) <= most


def test_words_of_a_spanned_cell_that_is_long_stand_in_its_first_column_alone() -> None:
    words = "long words " * 100
    page = read_html(f"<table><tr><th>A<th>B<tr><td colspan=2>{words}<tr><td colspan=2>short</table>")
    (grid,) = page.blocks
    assert isinstance(grid, Grid)
    assert list(grid.rows) == [(words.strip(), ""), ("short", "short")]


def test_tables_within_tables_keep_their_words_however_deep() -> None:
    text = "".join(f"<table><tr><td>w{depth} " for depth in range(60)) + "</table>" * 60 + "<p>after"
    blocks = read_html(text).blocks
    words = [block.text for block in blocks if isinstance(block, Prose)]
    assert " ".join(words).split() == [*(f"w{depth}" for depth in range(60)), "after"]


SHORT = "## a\n\n|a|b|\n|-|-|\n|c|d|\n\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("heading.md", f"# {'x' * 100_000}\n\n## b\n\n" + SHORT * 200),
        ("title.html", f"<h1>{'x' * 100_000}</h1>" + "<p>a<table><tr><td>a<td>b<tr><td>c<td>d</table>" * 200),
        ("header.md", f"|{'x' * 9_000}|b|\n|-|-|\n" + "|c|d|\n" * 5_000),
        ("header.csv", f"{'x' * 90_000},b\n" + "1,2\n" * 2_000),
        ("caption.html", f"<table><caption>{'x' * 90_000}</caption><tr><td>a<td>b" + "<tr><td>a<td>b" * 2_000),
        ("field.csv", 'id,text,more\n1,"' + "Some words here. " * 20_000 + f'",{"x" * 300_000}\n'),
    ],
)
def test_what_all_parts_repeat_cannot_be_long(name: str, content: str, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / "other.md").write_text("# Salt Bay\n\nA town.\n")
    report = build_graph([folder], tmp_path / "out", options=BuildOptions())
    assert report.documents == 1
    (left,) = report.unreadable
    assert left.file == str(folder / name)
    assert "its parts come to more than 20 times its text" in left.reason


def test_blocks_have_an_end() -> None:
    blocks = Blocks([Prose("a")] * (MOST_BLOCKS - 1))
    blocks.append(Prose("b"))
    with pytest.raises(BadInput, match="more than 1,000,000 paragraphs"):
        blocks.append(Prose("c"))


def test_lines_have_an_end() -> None:
    with pytest.raises(BadInput, match="more than 10,000,000 lines"):
        read_plain("\n" * 10_000_001)


def test_a_title_of_spaces_is_read_once() -> None:
    spaces = " " * 2_000_000  # each of them was a place where the title might have ended
    assert read_markdown(f"---\ntitle: 'a{spaces}b'  \n---\nwords").title == f"a{spaces}b"


class Told(NamedTuple):
    """A sentence without tokens that counts how often it is asked for them."""

    place: BlockPlace
    asked: list[int]

    @property
    def tokens(self) -> int:
        self.asked[0] += 1
        return 0


def test_sections_without_words_are_counted_once() -> None:
    asked = [0]
    found = [Told(BlockPlace(headings=(str(number),)), asked) for number in range(1_000)]
    assert list(split_sections(found, 100)) == [found]
    assert asked == [1_000]
