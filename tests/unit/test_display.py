"""A result in a notebook."""

import json
import sys
import unicodedata
from html.parser import HTMLParser
from types import ModuleType

import pytest

from orienteer.display import clean, escape_json
from orienteer.errors import UsageError
from orienteer.records import Ranked, Result, Usage

RESULT = Result(
    question="<b>which?</b>",
    method="ark",
    hits=(
        Ranked(id="a&b", type="t", name="<script>alert(1)</script>", score=2.0, votes=1, why="x < y"),
        Ranked(id="c", type="t", name="C", score=1.0, text="text"),
    ),
    answer="1 < 2",
    notes=('"quoted"',),
)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))

    def handle_data(self, text):
        self.texts.append(text)


def test_html_holds_everything_and_runs_nothing():
    reader = Reader()
    reader.feed(RESULT._repr_html_())
    assert set(reader.tags) == {"div", "p", "b", "small", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert reader.tags.count("tr") == 3
    for text in (
        "<b>which?</b>",
        "<script>alert(1)</script>",
        "1 vote; x < y",
        "a&b",
        "1 < 2",
        '"quoted"',
        "ark, 0 ms",
    ):
        assert text in reader.texts


def test_html_leaves_colours_and_formulas_to_nobody_but_the_page():
    reader = Reader()
    reader.feed(RESULT._repr_html_())
    assert set(reader.attributes[0]["class"].split()) == {"mathjax_ignore", "tex2jax_ignore"}
    assert "color" not in RESULT._repr_html_()
    cells = [
        attributes["style"]
        for tag, attributes in zip(reader.tags, reader.attributes, strict=True)
        if tag in ("td", "th")
    ]
    assert len(cells) == 18
    assert all(style.startswith("text-align:left") for style in cells)


def test_html_keeps_the_lines_of_an_answer_and_drops_what_turns_text_around():
    html = RESULT.model_copy(update={"answer": "one\ntwo", "question": "abc\u202edcba"})._repr_html_()
    assert "pre-wrap" in html
    assert ">one\ntwo<" in html
    assert "<b>abcdcba</b>" in html


def test_html_of_nothing_says_so_and_what_ended_it():
    result = Result(question="x", method="ark", stopped_by="error", notes=("3 of 3 agents failed: no key",))
    reader = Reader()
    reader.feed(result._repr_html_())
    assert "table" not in reader.tags
    assert reader.texts == ["x", "no hits", "ark, 0 ms, ended by error", "3 of 3 agents failed: no key"]


def test_what_was_spent_is_one_line():
    usage = Usage(calls=1, prompt_tokens=1200, completion_tokens=34, seconds=2.04, usd=0.01)
    assert RESULT.model_copy(update={"usage": usage}).spent == "ark, 2.0 s, 1 call, 1,234 tokens, 0.0100 USD"
    assert RESULT.model_copy(update={"usage": usage + Usage(usd=None)}).spent == "ark, 2.0 s, 1 call, 1,234 tokens"


def test_a_frame_has_a_row_a_hit():
    pandas = pytest.importorskip("pandas")
    frame = RESULT.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["id"]) == ["a&b", "c"]
    assert list(frame["rank"]) == [1, 2]


def test_a_result_is_a_table_in_a_notebook_and_a_frame_with_pandas(monkeypatch):
    class Frame:
        def __init__(self, rows, columns):
            self.rows, self.columns = rows, columns

    pandas = ModuleType("pandas")
    pandas.DataFrame = Frame
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    frame = RESULT.to_frame()
    assert frame.columns == ["rank", "id", "type", "name", "score", "votes", "why", "text"]
    assert [set(row) for row in frame.rows] == [set(frame.columns)] * 2
    assert [(row["rank"], row["id"], row["votes"]) for row in frame.rows] == [(1, "a&b", 1), (2, "c", None)]
    assert Result(question="x", method="bm25").to_frame().rows == []
    assert RESULT._repr_html_() == RESULT._repr_html_()


def test_without_pandas_a_frame_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas") as caught:
        RESULT.to_frame()
    assert caught.value.__suppress_context__  # one traceback, not two


def test_what_pandas_itself_lacks_is_not_called_pandas(monkeypatch, tmp_path):
    (tmp_path / "pandas.py").write_text("import a_module_that_pandas_needs")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_pandas_needs"):
        RESULT.to_frame()


EVERYTHING = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x3000)]))
BIDIRECTIONAL = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}  # of the Unicode standard, annex 9


def steers(character):
    kind = unicodedata.category(character)
    return kind in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(character) in BIDIRECTIONAL


def test_clean_text_steers_no_terminal_and_keeps_lines_and_scripts():
    assert {character for character in clean(EVERYTHING) if steers(character)} == {"\n"}
    assert clean("abc\u202edcba\u202c\x9b31m") == "abcdcba 31m"
    for plain in ("Łódź\nδ", "שלום\u200f", "🦊", "x\u200dy"):
        assert clean(plain) == plain


def test_escaped_json_steers_no_terminal_and_means_the_same():
    text = json.dumps({"text": EVERYTHING}, ensure_ascii=False, indent=2)
    escaped = escape_json(text)
    assert {character for character in escaped if steers(character)} == {"\n"}
    assert json.loads(escaped) == {"text": EVERYTHING}
    assert escape_json('"\x9b\u202e"') == '"\\u009b\\u202e"'
    assert escape_json('"Łódź 林 🦊"') == '"Łódź 林 🦊"'
