"""Extraction without a model, on passages small enough to read: names, phrases, sentences, definitions, ties."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fakes.embedder import WordEmbedder
from orienteer.errors import BadOption
from orienteer.graph import Graph
from orienteer.ingest import (
    BuildConfig,
    BuildOptions,
    CoOccurrences,
    NamePlaces,
    build_graph,
    collocations_of,
    distinct_names,
    synonym_edges,
)

PAGES = {
    "ada.md": "# Ada Holm\n\nAda Holm is a captain from Bergen. She met Noor Vik in Oslo.\n",
    "noor.md": "# Noor Vik\n\nNoor Vik was an actor. Ada Holm taught Noor Vik to sail. Oslo and Bergen are far apart.",
    "bergen.md": "# Bergen (city)\n\nBergen is a city of rain. It has a harbour.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for name, text in PAGES.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def extracted(folder, target, form, *, embedder=None, cache=None, **options):
    config = BuildConfig.extracting(**options)
    report = build_graph(
        [folder], target, options=BuildOptions(extract=form, config=config), embedder=embedder, cache=cache
    )
    return report, Graph.open(target)


def nodes_of(graph, kind):
    return {graph.node(one).name: graph.node(one) for one in graph.node_ids() if graph.node(one).type == kind}


def edges_of(graph, kind):
    return {
        (graph.node(one.source).name, graph.node(one.target).name): one
        for one in graph.iter_edges()
        if one.type == kind
    }


def test_names_are_entities_with_the_sentences_that_say_what_they_are(folder, tmp_path):
    report, graph = extracted(folder, tmp_path / "graph", "hyper")
    names = nodes_of(graph, "name")
    assert names.keys() == {"Ada Holm", "Noor Vik", "Bergen (city)", "Oslo"}
    assert names["Ada Holm"].text == "Ada Holm is a captain from Bergen."
    assert names["Noor Vik"].text == "Noor Vik was an actor."
    assert names["Bergen (city)"].text == "Bergen is a city of rain."
    assert names["Bergen (city)"].aliases == ("Bergen",), "a title with and without its bracket is one"
    assert names["Oslo"].text == ""
    assert report.extracted is not None
    assert (report.extracted.entities, report.extracted.model) == (4, None)
    titled = edges_of(graph, "titled")
    assert titled.keys() == {("Ada Holm", "Ada Holm"), ("Noor Vik", "Noor Vik"), ("Bergen (city)", "Bergen (city)")}


def facts_of(graph):
    return [graph.node(one) for one in graph.node_ids() if graph.node(one).type == "fact"]


def test_hyper_makes_a_fact_of_each_sentence_with_two_names(folder, tmp_path):
    _, graph = extracted(folder, tmp_path / "graph", "hyper")
    facts = {node.text: node for node in facts_of(graph)}
    assert facts.keys() == {
        "Ada Holm is a captain from Bergen.",
        "Ada Holm: She met Noor Vik in Oslo.",
        "Ada Holm taught Noor Vik to sail.",
        "Noor Vik: Oslo and Bergen are far apart.",
    }, "a sentence that does not name what its passage is titled is about that"
    met = facts["Ada Holm: She met Noor Vik in Oslo."]
    roles = {edge.target: edge.properties.get("role") for edge in graph.iter_edges() if edge.source == met.id}
    assert roles == {"name:ada holm": "topic", "name:noor vik": None, "name:oslo": None}
    taught = facts["Ada Holm taught Noor Vik to sail."]
    members = {one.target for one in graph.iter_edges() if one.type == "member" and one.source == taught.id}
    assert members == {"name:ada holm", "name:noor vik"}
    assert {one.source for one in graph.iter_edges() if one.type == "states" and one.target == taught.id} == {
        "noor.md#0"
    }
    assert "co_occurs" not in graph.schema.edge_types


def test_triples_have_the_words_between_two_names(folder, tmp_path):
    _, graph = extracted(folder, tmp_path / "graph", "triples")
    assert {node.text for node in facts_of(graph)} == {
        "Ada Holm is a captain from Bergen",
        "Ada Holm: She met Noor Vik",
        "Noor Vik in Oslo",
        "Ada Holm taught Noor Vik",
        "Oslo and Bergen",
    }
    ties = {frozenset(ends): edge for ends, edge in edges_of(graph, "co_occurs").items()}
    assert ties[frozenset({"Ada Holm", "Noor Vik"})].text == "taught"
    assert ties[frozenset({"Ada Holm", "Noor Vik"})].weight == 1.25, "a sentence of one chunk, and another chunk"
    assert ties[frozenset({"Ada Holm", "Noor Vik"})].properties["sources"] == ["ada.md#0", "noor.md#0"]
    assert ties[frozenset({"Ada Holm", "Oslo"})].weight == 0.5
    assert "co_occurs" in graph.schema.symmetric


def test_entities_have_the_whole_sentence(folder, tmp_path):
    _, graph = extracted(folder, tmp_path / "graph", "entities")
    assert {node.text for node in facts_of(graph)} == {
        "Ada Holm is a captain from Bergen.",
        "Ada Holm: She met Noor Vik in Oslo.",
        "She met Noor Vik in Oslo.",
        "Ada Holm taught Noor Vik to sail.",
        "Noor Vik: Oslo and Bergen are far apart.",
        "Oslo and Bergen are far apart.",
    }
    assert "co_occurs" in graph.schema.edge_types


def test_ties_are_kept_that_are_among_the_strongest_of_either_name():
    co_occurrences = CoOccurrences(most=1)
    for part in range(3):
        co_occurrences.add(part, [0, 1], [])
    co_occurrences.add(3, [0, 2, 3], [])
    co_occurrences.add(4, [2, 3], [])
    first, second = co_occurrences.edges(str, [f"c{part}" for part in range(5)])
    assert [(edge.source, edge.target) for edge in (first, second)] == [("0", "1"), ("2", "3")]
    assert (first.weight, first.properties) == (0.75, {"sources": ["c0", "c1", "c2"]})


def test_ties_are_those_of_a_count_by_hand():
    random = np.random.default_rng(0)
    chunks = [sorted(set(random.integers(0, 12, 6).tolist())) for _ in range(40)]
    co_occurrences = CoOccurrences(most=1000)
    for part, names in enumerate(chunks):
        co_occurrences.add(part, names, [])
    found = {(edge.source, edge.target): edge.weight for edge in co_occurrences.edges(str, [""] * 40)}
    wanted = {
        (str(one), str(other)): 0.25 * sum(one in names and other in names for names in chunks)
        for one in range(12)
        for other in range(one + 1, 12)
    }
    assert found == {pair: weight for pair, weight in wanted.items() if weight}


def test_the_longest_name_is_found_and_no_word_is_part_of_two():
    places = NamePlaces({"university of oxford": 0, "oxford": 1, "heart valve": 2, "valve": 3}, lower=frozenset({2}))
    text = "The University of Oxford is in Oxford; its heart valve, Heart Valve and valve."
    found = places.within(text, frozenset({0, 1, 3}))
    assert [text[span.begin : span.end] for span in found.spans] == [
        "University of Oxford",
        "Oxford",
        "heart valve",
        "Heart Valve",
    ]
    assert distinct_names(found.spans) == [0, 1, 2]
    assert places.within(text, frozenset()).spans == found.spans[2:]


def test_words_that_keep_together_are_phrases():
    near = [f"the heart valve replacement number {word} went well" for word in ("one", "two", "three", "four")]
    apart = [f"plain {word} words without any such thing at all {word}" for word in "abcdefghijklmnopqrstuvwxyz"]
    assert {"heart valve", "valve replacement", "heart valve replacement"} <= collocations_of(
        [*near, *apart], share=0.5
    )
    assert collocations_of([], share=0.5) == frozenset()
    assert collocations_of(["北京", "1969"], share=0.5) == frozenset()


@pytest.mark.slow
def test_phrases_are_entities_of_a_type_of_their_own(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for place in range(6):
        more = "A heart valve replacement in Oslo helps" if place < 4 else "Nothing of the kind helps"
        (root / f"{place}.txt").write_text(f"{more} patient {'abcdef'[place] * 4} today.", encoding="utf-8")
    _, graph = extracted(root, tmp_path / "graph", "hyper")
    assert "heart valve replacement" in nodes_of(graph, "phrase")
    _, graph = extracted(root, tmp_path / "other", "hyper", phrases=False)
    assert "phrase" not in graph.schema.node_types


def test_synonyms_are_near_and_have_the_same_numbers():
    class Fixed(WordEmbedder):
        def embed(self, texts, *, kind):
            angles = {"Ada Holm": 0.0, "Ada Holms": 0.1, "Flight 1968": 1.5, "Flight 1969": 1.5, "ab": 0.0}
            return np.array([[np.cos(angles[text]), np.sin(angles[text])] for text in texts], np.float32)

    names = ["Ada Holm", "Flight 1968", "Flight 1969", "Ada Holms", "ab"]
    (edge,) = synonym_edges({f"id{at}": name for at, name in enumerate(names)}, Fixed(dimension=2), print)
    assert (edge.source, edge.target) == ("id0", "id3")
    assert edge.weight == pytest.approx(np.cos(0.1), abs=1e-4)
    assert list(synonym_edges({}, Fixed(dimension=2), print)) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"entity_types": ("person",)}, "need a model that extracts"),
        ({"gleanings": 1}, "need a model that extracts"),
        ({"synonyms": True}, "by an embedder"),
        ({"vectors": ("chunk",)}, "an embedder gives"),
    ],
)
def test_options_that_would_say_nothing_are_refused(folder, tmp_path, options, words):
    with pytest.raises(BadOption, match=words):
        extracted(folder, tmp_path / "graph", "hyper", **options)
    with pytest.raises(BadOption, match=words):
        build_graph([folder], tmp_path / "graph", options=BuildOptions(config=BuildConfig(**options)))


@pytest.mark.parametrize("wrong", [{"gleanings": 2}, {"overlap": 129}, {"overlap": -1}, {"co_occurring": 0}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(BadOption, match=next(iter(wrong))):
        BuildConfig(**wrong)


def test_overlap_is_of_chunks_cut_by_tokens(folder, tmp_path):
    options = BuildOptions(chunks="semantic", config=BuildConfig(overlap=10))
    with pytest.raises(BadOption, match="cut by tokens"):
        build_graph([folder], tmp_path / "g", options=options, embedder=WordEmbedder(dimension=8), cache=tmp_path / "c")
    extractor = BuildOptions(chunks="semantic", extract="hyper")
    embedder = WordEmbedder(dimension=8)
    report = build_graph([folder], tmp_path / "g", options=extractor, embedder=embedder, cache=tmp_path / "c")
    assert report.chunking == "semantic"


@pytest.mark.slow
def test_an_update_without_a_form_goes_on_with_that_of_its_graph(folder, tmp_path):
    extracted(folder, tmp_path / "graph", "hyper")
    (folder / "bergen.md").unlink()
    report = build_graph([], tmp_path / "graph", options=BuildOptions(update=True))
    graph = Graph.open(tmp_path / "graph")
    assert (report.unchanged, report.removed) == (2, 1)
    assert report.extracted is not None
    assert report.extracted.form == "hyper"
    assert "Bergen is a city of rain." not in {node.text for node in nodes_of(graph, "name").values()}
    assert {"Ada Holm", "Noor Vik", "Oslo"} <= nodes_of(graph, "name").keys()
    fresh, other = extracted(folder, tmp_path / "fresh", "hyper")
    assert {one: other.node(one) for one in other.node_ids()} == {one: graph.node(one) for one in graph.node_ids()}


@pytest.mark.slow
def test_an_update_with_an_embedder_takes_the_options_of_its_graph_in_full(folder, tmp_path):
    embedder, cache = WordEmbedder(dimension=8), tmp_path / "cache"
    extracted(folder, tmp_path / "graph", "hyper", embedder=embedder, cache=cache, phrases=False)
    (folder / "bergen.md").unlink()
    options = BuildOptions(update=True, config=BuildConfig.extracting(phrases=False))
    report = build_graph([], tmp_path / "graph", options=options, embedder=embedder, cache=cache)
    assert (report.removed, report.chunking) == (1, "tokens")
    wrong = BuildOptions(update=True, config=BuildConfig())
    with pytest.raises(BadOption, match="overlap = 50"):
        build_graph([], tmp_path / "graph", options=wrong, embedder=embedder, cache=cache)


def test_vectors_are_of_the_types_that_are_named(folder, tmp_path):
    embedder = WordEmbedder(dimension=16)
    report, graph = extracted(
        folder, tmp_path / "graph", "hyper", embedder=embedder, cache=tmp_path / "cache", vectors=("chunk", "nothing")
    )
    about = graph.arrays.searcher.vectors.about if graph.arrays.searcher.has_vectors else None
    assert about is not None
    assert about.nodes == graph.schema.node_types["chunk"]
    assert any("no node has the type nothing" in note for note in report.notes)
