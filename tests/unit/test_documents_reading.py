"""Files of every kind as blocks: what is kept, where it stands, and that nothing takes long or breaks."""

from __future__ import annotations

import codecs
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from orienteer.errors import BadInput
from orienteer.ingest import Grid, Prose, anchor_of, read_html, read_markdown, read_plain, read_text

ROOT = Path(__file__).parents[2]
MARKDOWN = """---
title: "The Guide"
author: x
---
# Top

Intro with [a link](other.md#part "t"), `code * y` and **bold** words.
Second line. <!-- not
seen --> End.

## Deep *one* ##
- item [ref][r]
- [ ] item two
  goes on

| A | B |
|---|:-:|
| 1 \\| x | `a|b` |
| 2 |

```py
# no heading
print(1)
```

Underlined
----------
> quoted ![alt](pic.png) [[Wiki Page#part|shown]]

[r]: http://example.org/r
"""


@pytest.fixture(scope="module")
def guide():
    return read_markdown(MARKDOWN)


def prose(blocks):
    return [block.text for block in blocks if isinstance(block, Prose)]


def test_title_comes_from_the_front_matter_else_from_the_heading_above_all(guide):
    assert guide.title == "The Guide"
    assert read_markdown("# One\n\ntext\n\n## Two\n\nmore").title == "One"
    assert read_markdown("before\n\n# One\n\ntext").title == ""


def test_paragraphs_items_and_code_are_blocks(guide):
    assert prose(guide.blocks)[2:] == ["item ref", "item two goes on", "# no heading\nprint(1)", "quoted alt shown"]
    about, first = prose(guide.blocks)[:2]
    assert about == "author: x"
    assert first.startswith("Intro with a link (t), code * y and bold words. Second line.")
    assert first.endswith("End.")
    assert "not" not in first.split()


def test_headings_are_paths_below_the_title(guide):
    assert [block.place.headings for block in guide.blocks] == [
        (),
        ("Top",),
        ("Top", "Deep one"),
        ("Top", "Deep one"),
        ("Top", "Deep one"),
        ("Top", "Deep one"),
        ("Top", "Underlined"),
    ]
    assert [block.place.headings for block in read_markdown("# One\n\ntext\n\n## Two\n\nmore").blocks] == [(), ("Two",)]


def test_spans_are_places_in_the_source(guide):
    for block in guide.blocks:
        start, end = block.place.span
        words = block.text.split() if isinstance(block, Prose) else [cell for cell in block.header]
        assert words[0].strip("#") in MARKDOWN[start:end]
        assert words[-1] in MARKDOWN[start:end]


def test_a_table_has_its_cells_padded_and_pipes_kept(guide):
    (grid,) = [block for block in guide.blocks if isinstance(block, Grid)]
    assert grid.header == ("A", "B")
    assert list(grid.rows) == [("1 | x", "a|b"), ("2", "")]


def test_links_of_every_kind(guide):
    links = [link for block in guide.blocks for link in block.links]
    assert links == ["other.md#part", "http://example.org/r", "Wiki Page#part"]


def test_anchors_are_those_that_a_site_makes_of_headings(guide):
    assert guide.blocks[2].place.anchors == ("deep-one",)
    assert anchor_of("What's *new* in 2.0?") == "whats-new-in-20"


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
        ("***both*** and _one_", "both and one"),
        ("a \\* b", "a * b"),
        ("[open and (closed", "[open and (closed"),
        ("<b>bold</b><br>next", "bold  next"),
        ("``a ` b``", "a ` b"),
    ],
)
def test_marks_go_and_words_stay(marked, words):
    assert " ".join(prose(read_markdown(marked).blocks)).split() == words.split()


def test_plain_text_is_parted_by_blank_lines():
    text = "one\ntwo\n\n  \nthree\n"
    blocks = read_plain(text)
    assert prose(blocks) == ["one\ntwo", "three"]
    assert [text[slice(*block.place.span)] for block in blocks] == ["one\ntwo", "three"]


@given(st.text(alphabet=st.sampled_from("ab #*_`[]()|-\n<>!\\.:~1"), max_size=300))
def test_any_text_is_markdown(text):
    for block in read_markdown(text).blocks:
        start, end = block.place.span
        assert 0 <= start <= end <= len(text)


@given(st.text(alphabet="abcdefgh \n", max_size=200))
def test_plain_words_are_neither_lost_nor_made_up(text):
    words = [word for block in read_markdown(text).blocks for word in block.text.split()]
    assert words == text.split()
    assert [word for block in read_plain(text) for word in block.text.split()] == text.split()


def said(found):
    """Return the words of a document that a search can find: of its title, its headings, its blocks."""
    places = [heading for block in found.blocks for heading in block.place.headings]
    return set(" ".join([found.title, *places, *prose(found.blocks)]).split())


MANY = st.lists(st.sampled_from(["# {}", "## {}", "### {}", "{}", "", "{}\n---"]), max_size=12)


@given(MANY)
def test_no_heading_of_markdown_is_lost(lines):
    text = "\n".join(line.format(f"word{at}") for at, line in enumerate(lines))
    found = read_markdown(text)
    assert said(found) >= {f"word{at}" for at, line in enumerate(lines) if line}
    for block in found.blocks:
        assert text[slice(*block.place.span)].strip("#- \n").startswith(block.text[:5])


def test_a_heading_with_nothing_beneath_it_is_a_paragraph():
    found = read_markdown("# T\n\n## Is it fast?\n## Is it safe?\n\nYes.\n\n## Last?\n")
    assert found.title == "T"
    assert [(block.place.headings, block.text, block.place.anchors) for block in found.blocks] == [
        ((), "Is it fast?", ("t", "is-it-fast")),
        (("Is it safe?",), "Yes.", ("is-it-safe",)),
        ((), "Last?", ("last",)),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Run this:\n```pip install salt```\nThen open it.", "Run this: pip install salt Then open it."),
        ("In the spring of\n1986. Its keeper was Ada.", "In the spring of 1986. Its keeper was Ada."),
        ("```\n[port]: gull\n```", "[port]: gull"),
        ("40&nbsp;&euro; &mdash; caf&eacute;", "40 € — café"),
        ("H<sub>2</sub>O, 10<sup>3</sup> and 1<sup>st</sup>", "H2O, 10^3 and 1st"),
        ("ssh <host> and <title> stay", "ssh <host> and <title> stay"),
        ("a <!-- without end", "a <!-- without end"),
        ("<script>\nno end", "<script> no end"),
        ("<style>\np {}\n</style>\n\nseen", "seen"),
        ("A fact.[^1]\n\n[^1]: Its source.", "A fact.[1] [1] Its source."),
        ("A fact.^[Its source.]", "A fact. (Its source.)"),
        ("Gull\n: a port", "Gull a port"),
        ("<details><summary>More</summary>\n\n**bold**\n\n</details>", "More bold"),
        ("![a harbour](h.png 'at noon')", "a harbour (at noon)"),
        ("---\n\nA rule, no front matter\n\n---\nend", "A rule, no front matter end"),
        ("- a\n" + "".join(f"{' ' * depth}- a\n" for depth in range(2, 400, 2)) + "end", "a " * 200 + "end"),
    ],
)
def test_words_of_markdown_are_neither_lost_nor_torn(text, words):
    shown = " ".join(prose(read_markdown(text).blocks))
    assert shown.replace("- a", "a").split() == words.split()


class Words(HTMLParser):
    """The words that a page shows, by the standard library's parser."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.handle_data = self.said.append

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.said.append("" if tag in ("em", "strong", "code", "a", "s", "sub") else " ")
        self.said += [f" {value} " for name, value in attributes if name in ("alt", "title") and value]


@pytest.mark.parametrize("file", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda file: file.name)
def test_every_word_of_the_parsers_own_rendering_is_read(file):
    text = file.read_text()
    shown = Words()
    shown.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))
    page = read_markdown(text)
    cells = [
        cell for block in page.blocks if isinstance(block, Grid) for row in (block.header, *block.rows) for cell in row
    ]
    words = set(re.findall(r"\w+", " ".join([*said(page), *cells])))
    assert set(re.findall(r"\w+", "".join(shown.said))) - words == set()


def test_cells_beyond_the_header_and_pipes_in_code_are_kept():
    (grid,) = read_markdown("|a|b|\n|-|-|\n|`x|y`|1|more|words\n").blocks
    assert list(grid.rows) == [("x|y", "1 more words")]
    (grid,) = read_markdown(
        "<table>\n<tr><th>Port</th><th>Depth</th></tr>\n<tr><td>Gull</td><td>9 m</td></table>"
    ).blocks
    assert (grid.header, list(grid.rows)) == (("Port", "Depth"), [("Gull", "9 m")])


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<p>one<div><svg><path></div><p>two", "one two"),
        ("<p>one<p><math><mi>x<p>two", "one x two"),
        ("<select><option>a<p>two", "a two"),
        ("<template><table></template><p>two", "two"),
        ("<title>one<p>two", "one two"),
        ("<h2>one<p>two<p>three", "two three"),
        ("<textarea>one</textarea><xmp><p></xmp>", "one <p>"),
        ("<noscript>one</noscript><p hidden>no<p>two", "one two"),
        ("<select><option>no</select><iframe>no</iframe><script>no</script>one", "one"),
        ("<table><caption>one</caption><tr><td>two<td>three</table>", "one two three"),
        ("<abbr title='World Health'>WHO</abbr> <a href=x title=Logo><img src=y></a>", "WHO (World Health) Logo"),
        ("<math alttext='x^2'><mi>x</mi></math>", "x^2"),
        ("<math><mi>x</mi><annotation>\\frac12</annotation></math>", "\\frac12"),
        ("one<br>two<br><br>three", "one two three"),
        ("a < b and <b x='1", "a < b and <b x='1"),
        ("<dl><dt>one<dd>two</dl><details><summary>three</summary>four</details>", "one two three four"),
    ],
)
def test_words_of_a_page_are_those_that_it_shows(page, words):
    assert " ".join(prose(read_html(page).blocks)).split() == words.split()


def test_a_cell_that_spans_rows_shifts_none():
    (grid,) = read_html(
        "<table><tr><th>port<th>berth<th>depth<tr><td rowspan=2>Holm<td>A<td>3<tr><td>B<td>7<tr><td>Salt<td>A<td>9"
        "<tr><td rowspan=0 colspan=2>both<td>1<tr><td>2</table>"
    ).blocks
    assert list(grid.rows) == [
        *(("Holm", "A", "3"), ("Holm", "B", "7"), ("Salt", "A", "9")),
        *(("both", "both", "1"), ("both", "both", "2")),
    ]


def test_what_leads_elsewhere_is_marked_and_what_says_something_is_not():
    menu = "<ul><li><a href=a>Berths</a><li><a href=b>Fees</a><li><a href=c>Tides</a></ul>"
    around = "<p>Next: <a rel=next href=d>A long way off</a>, which is the page that follows, <a rel=up href=e>up</a>"
    page = read_html(
        f"<nav><h3>Contents</h3><a href=x>Berths</a></nav>{menu}<main><h1>Berths</h1><header><p>By Ada Vik.</header>"
        f"<p>See <a href=y>the fees</a> and <a href=z>the tides</a> before you moor.<footer>A note.</footer></main>"
        f"{around}<footer>Salt Bay</footer>"
    )
    marked = [(block.text, block.place.is_navigation) for block in page.blocks]
    assert marked == [
        *((words, True) for words in ("Berths", "Berths", "Fees", "Tides")),
        *((words, False) for words in ("By Ada Vik.", "See the fees and the tides before you moor.", "A note.")),
        *((words, True) for words in ("Next: A long way off, which is the page that follows, up", "Salt Bay")),
    ]
    assert {block.place.headings for block in page.blocks if not block.place.is_navigation} == {("Berths",)}
    assert not any(block.place.is_navigation for block in read_html("<nav><p>" + "never closed " * 200).blocks)


@pytest.mark.parametrize(
    "part",
    [
        *("<div>a", "<b>a", "<ul><li>", "<li><dd>", "<h1><li>", "<span id=x>", "<q id=a><p></q>", "<form><div></form>"),
        *("<table><tr><td>", "<table><tr><td><td><tr><td>x<td>", "<math>", "<nav><a href=x>", "<svg><title>", "</p>"),
    ],
)
@pytest.mark.slow
def test_deep_nesting_is_bounded_and_keeps_its_words(part):
    started = time.process_time()
    page = read_html(part * 100_000 + "<p>end")
    assert time.process_time() - started < 30  # some seconds; what grows with the square takes many minutes
    assert page.blocks[-1].text.split()[-1] == "end"


def test_pages_behind_one_another_do_not_nest():
    page = read_html("<html><body><div><table><tr><td><pre>one</pre></body></html>\n" * 200)
    assert prose(page.blocks) == ["one"] * 200
    assert page.notes == []
    assert read_html("<div>" * 100 + "<p>one<p>two").notes == [
        "elements within more than 80 others are read as plain words"
    ]


def test_what_a_parser_repeats_is_left_out():
    page = read_html("".join(f"<p><font color=c{at}>w{at}" for at in range(20_000)))  # 65 GB as a tree of the standard
    assert prose(page.blocks) == [f"w{at}" for at in range(20_000)]
    assert len(read_html(f"<p {' '.join(f'a{at}=1' for at in range(200_000))}>x").blocks) == 1


PAGE = """<!DOCTYPE html><html><head><title>T &amp; x</title><style>p {}</style>
<script>var a = "<p>no</p>";</script></head><body><h1>Head</h1><p>One <a href="b.html#z">two</a>.</p>
<h2 id=z>Part</h2><table><caption>C</caption><tr><th>A<th>B<tr><td>1<td>2<tr><td colspan=2>3</table>
<ul><li>x<li>y</ul><pre>a
 b</pre><table><tr><td>laid out</td></tr></table><p title="a > b">last"""


def test_a_page():
    page = read_html(PAGE)
    assert page.title == "T & x"
    assert prose(page.blocks) == ["One two.", "x", "y", "a\n b", "laid out", "last"]
    (grid,) = [block for block in page.blocks if isinstance(block, Grid)]
    assert (grid.caption, grid.header, list(grid.rows)) == ("C", ("A", "B"), [("1", "2"), ("3", "3")])
    assert page.blocks[0].links == ("b.html#z",)
    assert grid.place.headings == ("Head", "Part")
    assert grid.place.anchors == ("z",)


@pytest.mark.parametrize("tag", ["svg viewBox='0 0 1 1'", "script src='x.js'", "iframe src='x'", "title", "h2", "pre"])
def test_a_tag_that_closes_itself_swallows_nothing(tag):
    page = read_html(f"<p>one</p><{tag}/><p>two  words")
    assert [(block.text, block.is_code, block.place.headings) for block in page.blocks] == [
        ("one", False, ()),
        ("two words", False, ()),
    ]


@given(
    st.lists(
        st.sampled_from(
            ["<h1>{}</h1>", "<h2>{}</h2>", "<h2>{}", "<p>{}", "{}", "<svg/>", "<h3></h3>", "<h2><a href=x>{}</a></h2>"]
        ),
        max_size=9,
    )
)
def test_no_word_of_a_page_is_lost(parts):
    page = read_html("".join(part.format(f" word{at} ") for at, part in enumerate(parts)))
    assert said(page) >= {f"word{at}" for at, part in enumerate(parts) if "{" in part}


@pytest.mark.parametrize("below", ["", "words\n", "```\ncode\n```\n", "|a|b|\n|-|-|\n|1|2|\n"])
def test_a_heading_may_be_a_link(below):
    found = read_markdown(f"# One\n\ntext\n\n## [Two](two.md)\n{below}\n## Three\n\nmore\n")
    assert [block.links for block in found.blocks] == [(), ("two.md",), ()]
    page = read_html(f"<h1>One</h1><p>text<h2><a href=two.md>Two</a></h2><p>{below}</p><h2>Three</h2><p>more")
    assert [block.links for block in page.blocks] == [(), ("two.md",), ()]
    assert said(page) >= {"Two"}
    deeper = read_markdown("# [One](one.md)\n\n## [Two](two.md)\n\ntext\n")
    assert [block.links for block in deeper.blocks] == [("one.md", "two.md")]


def test_an_anchor_is_of_what_follows_it():
    page = read_html("<p id=a>one<p id=b>two<h2 id=c>Three</h2><h2 id=d>Four</h2><pre id=e>five</pre>")
    assert [(block.text, block.place.anchors) for block in page.blocks] == [
        ("one", ("a",)),
        ("two", ("b",)),
        ("Three", ("c",)),
        ("five", ("d", "e")),
    ]


def test_a_table_in_a_table_lays_it_out():
    page = read_html("<table><tr><td>a<table><tr><td>b<td>c</table><td>d<tr><td>e<td>f</table>")
    (grid,) = page.blocks
    assert list(grid.rows) == [("a b c", "d"), ("e", "f")]


def test_a_table_without_end_has_a_width():
    page = read_html(f"<table><tr>{'<td>x' * 5_000}<tr><td>y</table>")
    (grid,) = page.blocks
    rows = list(grid.rows)
    assert {len(row) for row in rows} == {len(grid.header)} == {1_000}
    assert " ".join(" ".join(row) for row in rows).split() == ["x"] * 5_000 + ["y"]
    (grid,) = read_markdown(f"{'|a' * 5_000}\n{'|-' * 5_000}\n|b").blocks
    assert len(grid.header) == 1_000
    assert " ".join(grid.header).split() == ["a"] * 5_000


@given(st.text(alphabet=st.sampled_from("ab <>/\"'=!-&;tdrp"), max_size=200))
def test_any_text_is_a_page(text):
    for block in read_html(text).blocks:
        assert 1 <= block.place.line <= 1 + text.count("\n")


@pytest.mark.parametrize(
    "part",
    ["<!--", "<", "<a ", "<a b='", "<!", "</", "<td>", "<table>", "*a ", "`", "[", "# ", " ", "|", "_a _b\n", "|\n|-"],
)
def test_nothing_takes_longer_than_its_length(part):
    started = time.process_time()
    for read in (read_markdown, read_html, read_plain):
        read(part * 4_000)
    assert time.process_time() - started < 2  # 0.1 s on a quiet machine; what grows with the square takes minutes


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("Łódź".encode(), "Łódź", "utf-8"),
        (codecs.BOM_UTF8 + "Łódź".encode(), "Łódź", "utf-8-sig"),
        ("Łódź".encode("utf-16"), "Łódź", "utf-16"),
        (codecs.BOM_UTF16_BE + "Łódź".encode("utf-16-be"), "Łódź", "utf-16"),
        ("Łódź".encode("utf-32"), "Łódź", "utf-32"),
        ("café “x”".encode("cp1252"), "café “x”", "cp1252"),
        (b"a\r\nb\rc\n", "a\nb\nc\n", "utf-8"),
    ],
)
def test_encodings(tmp_path: Path, data, text, encoding):
    (tmp_path / "a.txt").write_bytes(data)
    assert read_text(tmp_path / "a.txt") == (text, encoding)


@pytest.mark.parametrize("data", [b"\x7fELF\x00\x01\x02", bytes(range(1, 32)) * 20, codecs.BOM_UTF16_LE + b"\x00\xd8a"])
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, data):
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(BadInput):
        read_text(tmp_path / "a.txt")
