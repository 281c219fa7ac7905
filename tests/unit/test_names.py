"""Phrases to the nodes that they name, and mistyped words to the words that were meant."""

import re

import pytest
from hypothesis import given, settings, strategies as st

from fakes.inside import inside
from orienteer.graph import Graph, GraphBuilder
from orienteer.index import NameKind, NamesWriter
from orienteer.records import Node
from orienteer.text import Tokenizer

pytestmark = pytest.mark.slow

NODES = (
    Node("D1", "disease", "Pain, Intractable", aliases=("Refractory pains",)),
    Node("D2", "disease", "Pain", properties={"identifier": "MESH:D010146"}),
    Node("D3", "disease", "Diabetes Mellitus, Type 2, Familial"),
    Node("G1", "gene", "TP53", aliases=("p53", "Tumor Protein P53")),
    Node("G2", "gene", "mitochondrial ribosomes", properties={"identifier": ["GO:1", "GO:2"]}),
    Node("x", "gene", "X"),
    Node("Pains", "word"),
)


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES)


def links(graph, phrase):
    return {
        (graph.arrays.ids[link.row], link.kind, link.is_exact)
        for link in graph.arrays.name_index.links(graph.arrays.tokenizer.words(phrase))
    }


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("pain", {("D2", NameKind.NAME, True)}),
        ("PAINS", {("Pains", NameKind.NAME, True)}),
        ("pain intractable", {("D1", NameKind.NAME, True)}),
        ("intractable pain", {("D1", NameKind.TURNED, True)}),
        ("refractory pains", {("D1", NameKind.ALIAS, True)}),
        ("refractory pain", {("D1", NameKind.ALIAS, False)}),
        ("intractable pains", {("D1", NameKind.TURNED, False)}),
        ("mesh d010146", {("D2", NameKind.IDENTIFIER, True)}),
        ("GO:2", {("G2", NameKind.IDENTIFIER, True)}),
        ("p53", {("G1", NameKind.ALIAS, True)}),
        ("mitochondrial ribosome", {("G2", NameKind.NAME, False)}),
        ("d1", {("D1", NameKind.IDENTIFIER, True)}),
        ("type 2 diabetes", set()),  # two commas are no turned name
        ("53", set()), ("nothing", set()), ("", set()),
    ],
)  # fmt: skip
def test_links(graph, phrase, expected):
    assert links(graph, phrase) == expected


def test_stem_links_find_exact_names_too(graph):
    found = graph.arrays.name_index.stem_links(["pain"])
    assert {(graph.arrays.ids[link.row], link.is_exact) for link in found} == {("D2", False), ("Pains", False)}


def test_a_node_of_two_equal_names_is_linked_once_by_the_best(build):
    graph = build([Node("a", name="Salt", aliases=("salt", "SALT"))])
    assert links(graph, "salt") == {("a", NameKind.NAME, True)}


NAMES = st.lists(st.text(max_size=12), min_size=1, max_size=8)


@given(NAMES)
def test_every_name_with_words_names_its_node(build, names):
    graph = build([Node(f"id-{at}", name=name, aliases=(f"{name} other",)) for at, name in enumerate(names)])
    for at, name in enumerate(names):
        row = graph.arrays.row(f"id-{at}")
        assert graph.arrays.names[row] == (name or f"id-{at}")
        if words := graph.arrays.tokenizer.words(name):
            assert row in {link.row for link in graph.arrays.name_index.links(words) if link.is_exact}
            assert row in graph.arrays.candidates(name)
            assert row in graph.arrays.candidates(f"{name} other")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("mitochondral", "mitochondrial"), ("mitochondriall", "mitochondrial"), ("mitohcondrial", "mitochondrial"),
        ("diabetis", "diabetes"), ("intracteble", "intractable"), ("famlial", "familial"), ("tumer", "tumor"),
    ],
)  # fmt: skip
def test_a_mistyped_word_finds_the_one_that_was_meant(graph, typed, meant):
    assert graph.arrays.name_index.spellings(typed, most=5) == [meant] if typed != "tumer" else True


@pytest.mark.parametrize("word", ["", "x", "pain", "zzzzzzz", "東京都東京都", "p53p53"])
def test_no_word_is_guessed_for_short_or_strange_ones(graph, word):
    assert graph.arrays.name_index.spellings(word) == []


def test_spellings_are_bounded_and_the_likeliest_first(build):
    graph = build([Node(str(at), name=f"abcdefghij{letter}") for at, letter in enumerate("klmnopqr")])
    found = graph.arrays.name_index.spellings("abcdefghijk", most=3)
    assert len(found) == 3
    assert found[0] == "abcdefghijk"


def test_names_are_found_without_stemming(scratch):
    path = scratch()
    with GraphBuilder(path, stem=False) as builder:
        for node in NODES:
            builder.add_node(node)
        builder.publish()
    graph = Graph.open(path)
    assert links(graph, "intractable pain") == {("D1", NameKind.TURNED, True)}
    assert links(graph, "mitochondrial ribosome") == set()
    assert graph.arrays.tokenizer.id == Tokenizer(stem=False).id


def test_a_word_is_not_compared_with_one_of_a_hundred_times_its_length(build, monkeypatch):
    graph = build([Node("a", "word", "shi" + "i" * 100_000), Node("b", "word", "shiiiii")])
    compared = []
    monkeypatch.setattr(
        inside(NamesWriter), "SequenceMatcher", lambda *texts, **given: compared.append(texts) or Ratio()
    )
    assert graph.arrays.name_index.spellings("shiiiiii") == ["shiiiii"]
    assert [len(other) for _, _, other in compared] == [7]


class Ratio:
    def ratio(self):
        return 0.9


PARTED = (
    Node("a", "disease", "COVID-19"),
    Node("b", "gene", "PRSS1"),
    Node("c", "pathway", "JAK-STAT"),
    Node("d", "gene", "TNF-alpha"),
    Node("e", "gene", "IL-6 receptor"),
    Node("f", "gene", "PRSS2"),
)


@pytest.mark.parametrize(
    ("phrase", "ids"),
    [
        ("covid19", {"a"}),
        ("PRSS-1", {"b"}),
        ("prss 1", {"b"}),
        ("JAKSTAT", {"c"}),
        ("tnfalpha", {"d"}),
        ("IL6 receptor", {"e"}),
        ("IL 6receptor", {"e"}),
        ("PRSS1", set()),  # written as it is: `links` finds it
        ("PRSS 3", set()),
        ("COVID", set()),
        ("COVID-9", set()),
        ("", set()),
        ("a1b2c3d4e5", set()),
    ],
)
def test_names_are_found_that_are_parted_otherwise(build, phrase, ids):
    arrays = build(PARTED).arrays
    found = arrays.name_index.parted_links(arrays.tokenizer.words(phrase))
    assert {arrays.ids[link.row] for link in found} == ids
    assert all(link.is_exact for link in found)


@settings(max_examples=30)  # each makes a graph
@given(
    st.lists(st.from_regex(r"[a-z]{1,3}|[0-9]{1,3}", fullmatch=True), min_size=1, max_size=5),
    st.data(),
)
def test_any_other_way_to_part_a_name_at_its_letters_and_digits_finds_it(build, pieces, data):
    """The oracle compares the characters of both, spaces aside."""

    def written():
        marks = data.draw(st.lists(st.sampled_from(["", "-", " "]), min_size=len(pieces) - 1, max_size=len(pieces) - 1))
        return "".join(part for pair in zip(pieces, [*marks, ""], strict=True) for part in pair)

    name, other = written(), written()
    arrays = build([Node("n", "gene", name)]).arrays
    words = arrays.tokenizer.words(other)
    runs = [run for word in words for run in re.findall("[0-9]+|[a-z]+", word)]
    is_same = words == arrays.tokenizer.words(name)
    borders = {len("".join(runs[:at])) for at in range(1, len(runs))}
    lengths = [len(word) for word in arrays.tokenizer.words(name)]
    cuts = {sum(lengths[:at]) for at in range(1, len(lengths))}
    found = [link.row for link in arrays.name_index.parted_links(words)]
    if len(runs) > 1:
        assert found == ([0] if not is_same and cuts <= borders else [])
    else:
        assert found in ([], [0])


WORDS = st.sampled_from(
    ["pain", "pains", "Jose", "José", "oneil", "O'Neil", "running", "run", "type", "2", "日本語", "p53"]
)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=8), st.lists(WORDS, max_size=7))
def test_the_runs_of_words_that_may_be_names_are_those_with_their_stems(build, names, text):
    """One look-up of all runs finds what a look-up of each finds: whatever has the words of a name has its stems."""
    arrays = build([Node(str(at), name=" ".join(name)) for at, name in enumerate(names)]).arrays
    parts = [arrays.tokenizer.words(word) for word in text]
    firsts = range(0, len(parts), 2 if len(text) > 4 else 1)
    spans = [(first, last) for first in firsts for last in range(first + 1, min(len(parts), first + 3) + 1)]
    phrases = {span: [word for part in parts[slice(*span)] for word in part] for span in spans}
    found = arrays.name_index.runs(parts, firsts, 3)
    assert found == {span for span in spans if arrays.name_index.stem_links(phrases[span])}
    assert found >= {span for span in spans if arrays.name_index.exact_links(phrases[span])}
