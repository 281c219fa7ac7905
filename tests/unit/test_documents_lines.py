"""Texts whose lines mean something: values beneath their keys, logs by days, plain text beneath its headings."""

from __future__ import annotations

import json
import time

import pytest
import yaml
from hypothesis import given, strategies as st

from orienteer.ingest import is_log as tells_a_log, read_data, read_log, read_plain, sectioned_text

KEYS = st.text("abcdefgh", min_size=2, max_size=6)
LEAVES = st.one_of(st.integers(0, 9_999), st.text("klmnop ", min_size=1, max_size=9).filter(str.strip), st.booleans())
NESTED = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=4), max_leaves=12)


def leaves(value, path=()):
    """Yield each value of nested mappings with the keys above it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def shown(text: str, suffix: str) -> list[str]:
    return [block.text for block in read_data(text, suffix).blocks]


@given(st.dictionaries(KEYS, NESTED, min_size=1, max_size=5), st.sampled_from([1, 2, 4]))
def test_each_value_stands_beneath_its_keys(value, width):
    for suffix, text in (
        (".yaml", yaml.safe_dump(value, indent=max(2, width), sort_keys=False)),
        (".json", json.dumps(value, indent=width)),
    ):
        said = [line.replace("'", "") for line in shown(text, suffix)]
        wanted = [f"{' > '.join(path)}: {json.dumps(leaf)}".replace('"', "") for path, leaf in leaves(value)]
        assert list(map(str.strip, said)) == list(map(str.strip, wanted))


@pytest.mark.parametrize(
    ("suffix", "text", "lines"),
    [
        (".toml", "# who\n[server.tls]\nport = 1 # x\nnames = [\n  'a',\n]\n[[mirror]]\nurl = 'u'\n",
         ["# who", "server > tls > port = 1 # x", "server > tls > names: 'a'", "mirror > 1 > url = 'u'"]),
        (".toml", '[[a]]\nname = "x"\nk = 1\n[[a]]\nk = 2\n[b]\nk = 3\n',
         ["a > 1 > name = x", "a > x > k = 1", "a > 2 > k = 2", "b > k = 3"]),
        (".ini", "[a b]\nk=v\n; why\nflag\n", ["a b > k = v", "; why", "a b: flag"]),
        (".properties", "a.b.c=1\nx: 2\n", ["a.b.c = 1", "x: 2"]),
        (".yaml", "units:\n- name: Crew\n  head: Ada\n- name: Office\n  head: Noor\n",
         ["units > 1 > name: Crew", "units > Crew > head: Ada",
          "units > 2 > name: Office", "units > Office > head: Noor"]),
        (".yaml", "a: |\n  one two\n  three\nb: [x, y]\nc:\n", ["a: one two", "a: three", "b: [x, y]", "c: "]),
        (".yaml", "/p/{id}:\n  get: http://x.org\n", ["/p/{id} > get: http://x.org"]),
        (".json", '[\n  {\n    "id": "u1",\n    "name": "Ada",\n    "age": 3\n  },\n  {\n    "age": 4\n  }\n]',
         ["1 > id: u1", "u1 > name: Ada", "Ada > age: 3", "2 > age: 4"]),
        (".json", json.dumps({"k": "x" * 3_000, "m": {"n": [{"name": "Ada", "age": 3}]}}),
         [f"k: {'x' * 3_000}", "m > n > 1 > name: Ada", "m > n > Ada > age: 3"]),
    ],
)  # fmt: skip
def test_lines_carry_their_path(suffix, text, lines):
    assert shown(text, suffix) == lines


def test_letters_that_json_escapes_are_read():
    value = {"Gr\u00fc\u00dfe": 'M\u00fcller\nKai "2" C:\\new \U0001f6a2', "lone": "a\ud800b\x00c"}
    for indent in (None, 1):
        assert shown(json.dumps([value], indent=indent), ".json") in (
            ['1 > Gr\u00fc\u00dfe: M\u00fcller Kai "2" C:\\new \U0001f6a2', "1 > lone: a b c"],
            ['[{"Gr\u00fc\u00dfe": "M\u00fcller Kai "2" C:\\new \U0001f6a2", "lone": "a b c"}]'],
        )
    assert shown(r'path = "C:\new"', ".ini") == [r"path = C:\new"]


@pytest.mark.parametrize("text", ['{"a": 1,', "[" * 100_000, '{"a": {"b": 1}} trailing words'])
def test_what_is_no_whole_json_is_read_by_its_lines_and_told(text):
    page = read_data(text, ".json")
    assert page.notes[0].startswith("no whole JSON")
    assert "".join(block.text for block in page.blocks).strip("[{,") or set(text) == {"["}


def test_keys_that_are_long_and_deep_are_left_out_and_told():
    keys = "".join(f"{' ' * at}{'k' * 90}{at}:\n" for at in range(20))
    page = read_data(keys + f"{' ' * 20}a: 1\n" * 20_000, ".yaml")
    assert page.notes == ["its keys are long and deep: from some line on they do not stand before each line"]
    assert page.blocks[0].text.endswith(" > a: 1")
    assert page.blocks[-1].text == "a: 1"


LOGS = {
    "iso": ("2026-03-0{day} 10:00:0{at} INFO {at}", "2026-03-0{day}"),
    "syslog": ("Mar  {day} 10:00:0{at} host app: {at}", "Mar  {day}"),
    "bracketed": ("[2026/03/0{day} 10:00:0{at}] {at}", "2026/03/0{day}"),
    "web": ('10.0.0.1 - ada [0{day}/Mar/2026:10:00:0{at} +0000] "GET /{at}"', "0{day}/Mar/2026"),
    "clock": ("10:0{day}:0{at} words {at}", None),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_day_of_a_log_is_a_section(name):
    form, day = LOGS[name]
    lines = [form.format(day=each, at=at) + "\n  of a trace" * (at == 2) for each in (1, 2) for at in range(4)]
    text = "\n".join(lines)
    assert tells_a_log(text)
    found = [(block.place.headings, block.text) for block in read_log(text).blocks]
    if day is None:
        assert found == [(("run 1",), text)]
        assert [block.place.headings for block in read_log(f"{text}\n{text}").blocks] == [("run 1",), ("run 2",)]
    else:
        assert found == [((day.format(day=each),), "\n".join(lines[each * 4 - 4 : each * 4])) for each in (1, 2)]


@pytest.mark.parametrize("text", ["Fees are due on 2026-03-01.\n" * 9, "1 ERROR disk full\n" * 9, ""])
def test_what_has_no_times_is_no_log(text):
    assert not tells_a_log(text)


RULES = """The harbour

Contents

{contents}

1 Berths

A berth is a place. It has a number.

2 Fees

2.1 Mooring fees

They are paid in May.

1. Bring the book.

2. Bring the money.

2.2 Storm fees

None.

LIGHTS AT NIGHT

Lights off.

Winter rules
------------
Ice is broken by hand.

3 Ends
"""


@pytest.mark.parametrize("contents", ["\n".join(f"{at} Part {at} ...... {at * 3}" for at in range(1, 9)),
                                      "\n\n".join(f"{at} Part {at} of the rules" for at in range(1, 9))])  # fmt: skip
def test_plain_text_has_its_headings(contents):
    text = RULES.format(contents=contents)
    page = sectioned_text(text)
    assert page.title == "The harbour"
    said = [(block.place.headings, block.text) for block in page.blocks if not block.place.is_navigation]
    assert said == [
        ((), "The harbour"),
        ((), "Contents"),
        (("1 Berths",), "A berth is a place. It has a number."),
        (("2 Fees", "2.1 Mooring fees"), "They are paid in May."),
        (("2 Fees", "2.1 Mooring fees"), "1. Bring the book."),
        (("2 Fees", "2.1 Mooring fees"), "2. Bring the money."),
        (("2 Fees", "2.2 Storm fees"), "None."),
        (("2 Fees", "2.2 Storm fees", "LIGHTS AT NIGHT"), "Lights off."),
        (("2 Fees", "2.2 Storm fees", "LIGHTS AT NIGHT", "Winter rules"), "Ice is broken by hand."),
        ((), "3 Ends"),
    ]
    assert sum(block.place.is_navigation for block in page.blocks) in (1, 8)
    ice = next(block for block in page.blocks if block.text.startswith("Ice"))
    assert text[ice.place.span.start : ice.place.span.end] == ice.text


@given(st.lists(st.sampled_from(
    ["1 Berths", "1.1 Rows", "2 Fees", "FEES OF MAY", "IV. Ends", "Words of prose, many of them.", "A\n===",
     "B\n---\nC d.", "1. a", "2. b", "CHAPTER I", "x 1\ny 2"]
), max_size=14))  # fmt: skip
def test_no_word_of_plain_text_is_lost(parts):
    text = "\n\n".join(parts)
    page = sectioned_text(text)
    said = {page.title, *(word for block in page.blocks for word in (block.text, *block.place.headings))}
    words = " ".join(said).replace("=", " ").replace("-", " ").split()
    assert set(text.replace("=", " ").replace("-", " ").split()) <= set(words)
    plain = [block.text for block in read_plain(text)]
    assert len(page.blocks) <= len(plain)


@pytest.mark.slow
def test_long_texts_take_no_time():
    started = time.process_time()
    for text in ("a " * 500_000 + ":", "k: " * 200_000, "\n".join(f"{' ' * (at % 60)}k{at}:" for at in range(50_000))):
        read_data(text, ".yaml")
    read_log("10:00:00 " + "a " * 1_000_000)
    sectioned_text("\n\n".join(f"{at}.{at % 9} Fees" for at in range(50_000)))
    sectioned_text("=" * 1_000_000 + "\n\n" + "A B " * 200_000)
    assert time.process_time() - started < 10
