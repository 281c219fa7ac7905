"""A model that reads chunks and does what no model should: nothing breaks, and what is left out is told."""

from __future__ import annotations

import json

import pytest

from orienteer.errors import BadOption, ModelRefused
from orienteer.graph import Graph, is_graph
from orienteer.ingest import REPLIES_FILE, BuildConfig, BuildOptions, build_graph
from orienteer.llm import ScriptedModel
from orienteer.retriever import Retriever

pytestmark = pytest.mark.slow

TEXT = "The ferry of Ada Holm crosses the sound to Bergen at night, and meets boat {}."
GATHERERS = ("naive", "light", "path", "hyper", "hippo", "mini", "msgraph-local", "bm25", "sage", "anchor")


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for at in range(3):
        (root / f"{at}.txt").write_text(TEXT.format(at), encoding="utf-8")
    return root


def said(*entities, triples=()):
    return json.dumps({"entities": list(entities), "triples": list(triples)})


def entity(name, kind="person", description=""):
    return {"name": name, "type": kind, "description": description}


def stated(subject, predicate, target):
    return {"subject": subject, "predicate": predicate, "object": target}


def extracted(folder, policy, **options):
    target = folder.parent / "graph"
    report = build_graph(
        [folder],
        target,
        options=BuildOptions(extract="triples", force=True, config=BuildConfig.extracting(**options)),
        model=ScriptedModel(lambda messages, *_: policy(messages)),
        cache=folder.parent / "cache",
    )
    assert report.extracted is not None
    return report.extracted, Graph.open(target)


def refusing(boat, status, reply):
    """Return what refuses to read of one boat."""

    def policy(messages):
        if f"boat {boat}" in messages[1].content:
            raise ModelRefused("the server refused the request: it is too long", status=status)
        return reply

    return policy


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_chunk_that_the_server_refuses_is_left_out_with_its_reason_and_the_others_stay(folder, status):
    found, graph = extracted(folder, refusing(1, status, said(entity("Ada Holm"))))
    (rejected,) = found.rejected
    assert (rejected.reason, rejected.count) == ("a chunk that the model's server refused", 1)
    assert rejected.examples == ("1.txt#0: the server refused the request: it is too long",)
    assert {edge.source for edge in graph.iter_edges() if edge.target == "person:ada holm"} == {"0.txt#0", "2.txt#0"}
    assert "1.txt#0" in graph


@pytest.mark.parametrize("status", [401, 403, 404, 429, None])
def test_a_refusal_that_is_of_no_chunk_ends_the_build(folder, status):
    with pytest.raises(ModelRefused):
        extracted(folder, refusing(1, status, said(entity("Ada Holm"))))


def test_a_server_that_refuses_every_chunk_ends_the_build(folder):
    with pytest.raises(ModelRefused, match="too long"):
        extracted(folder, refusing("", 400, ""))
    assert not is_graph(folder.parent / "graph")


def test_a_second_call_that_is_refused_leaves_what_the_first_one_said(folder):
    def policy(messages):
        if len(messages) > 2:
            raise ModelRefused("it is too long", status=400)
        return said(entity("Ada Holm"))

    found, graph = extracted(folder, policy, gleanings=1)
    assert "person:ada holm" in graph
    assert [(one.reason, one.count) for one in found.rejected] == [("a second call that the model's server refused", 3)]


def test_what_no_text_should_say_is_left_out_and_breaks_nothing(folder):
    reply = said(
        entity(""),
        entity("person"),
        entity("chunk", "chunk"),
        entity("0.txt#0", "document"),
        entity("X" * 100_000, "Y" * 1000),
        entity("not in the text"),
        entity("two\nlines\x00", "t\x00"),
        triples=[
            stated("", "", ""),
            stated("person", "is", "person"),
            stated("unlisted", "p" * 500, "person"),
            stated("person", "part of", "not in the text"),
            stated("person", "knows", "X" * 100_000),
        ],
    )
    found, graph = extracted(folder, lambda messages: reply)
    reasons = {one.reason: one.count for one in found.rejected}
    assert reasons == {
        "an entity without a name": 3,
        "a name that is a text": 3,
        "a statement about one entity": 3,
        "a statement without words": 3,
        "a member whose name is a text": 3,
    }
    assert graph.node("person:person").name == "person"
    assert graph.schema.node_types.keys() == {
        *("document", "chunk", "person", "chunk_entity", "document_entity", "t", "name", "fact")
    }
    edges = {(one.source, one.type, one.target): one for one in graph.iter_edges()}
    long = edges["name:unlisted", "related_to", "person:person"]
    assert (long.text, long.weight) == ("p" * 500, 3.0), "one edge of three chunks that say the same"
    assert ("person:person", "part_of_relation", "person:not in the text") in edges
    assert max(map(len, graph.node_ids())) < 400
    for method in GATHERERS:
        assert Retriever(graph, method).search("Which boat meets the ferry of Ada Holm?").hits, method


def test_thousands_of_records_of_one_chunk_are_taken(folder):
    names = [f"Ada{at}" for at in range(1_000)]
    triples = [stated(one, "knows", other) for one, other in zip(names, names[1:], strict=False)]
    reply = said(*map(entity, names), triples=triples)
    found, graph = extracted(folder, lambda messages: reply)
    assert (found.entities, found.facts, found.rejected) == (1_000, 999, ())
    assert Retriever(graph, "hippo").search("Who is Ada7?").hits


def test_a_graph_in_which_nothing_was_found_is_built_and_searched(folder):
    found, graph = extracted(folder, lambda messages: said())
    assert (found.entities, found.facts) == (0, 0)
    assert graph.schema.node_types.keys() == {"document", "chunk"}
    for method in GATHERERS:
        hits = Retriever(graph, method).search("Which boat meets the ferry of Ada Holm?").hits
        assert {hit.type for hit in hits} <= {"chunk", "document"}, method
        assert hits, method


def test_statistics_that_find_nothing_make_a_graph_of_chunks(tmp_path):
    (tmp_path / "x_contexts.json").write_text(json.dumps(["nothing in particular is said here by anyone at all."]))
    for form in ("triples", "entities", "hyper"):
        report = build_graph([tmp_path], tmp_path / form, options=BuildOptions(extract=form))
        graph = Graph.open(tmp_path / form)
        assert (report.extracted.entities, report.extracted.facts) == (0, 0)
        assert graph.schema.node_types == {"document": 1, "chunk": 1}
        for method in GATHERERS:
            assert Retriever(graph, method).search("nothing in particular").hits, method


def test_names_of_a_list_are_tied_to_few(tmp_path):
    names = [f"Abc{''.join(chr(97 + at // 26**place % 26) for place in range(3))} Holm" for at in range(2_000)]
    rows = [{"title": f"List {at}", "text": f"{', '.join(names)}."} for at in range(2)]
    (tmp_path / "q_corpus.json").write_text(json.dumps(rows))
    build_graph([tmp_path], tmp_path / "graph", options=BuildOptions(extract="triples"))
    graph = Graph.open(tmp_path / "graph")
    assert graph.schema.node_types["name"] >= 2_000
    degrees = dict.fromkeys(graph.node_ids(), 0)
    for edge in graph.iter_edges():
        if edge.type == "co_occurs":
            degrees[edge.source] += 1
            degrees[edge.target] += 1
    assert 0 < max(degrees.values()) <= 60


def test_a_cache_that_cannot_be_written_is_told(folder):
    cache = folder.parent / "cache"
    cache.mkdir()
    (cache / "replies").write_text("a file where a folder should be")
    with pytest.raises(BadOption, match="cache.*ORIENTEER_CACHE"):
        extracted(folder, lambda messages: said())
    (cache / "replies").unlink()
    (cache / "replies" / REPLIES_FILE).mkdir(parents=True)
    with pytest.raises(BadOption, match="cache.*ORIENTEER_CACHE"):
        extracted(folder, lambda messages: said())


def test_what_a_cache_holds_beside_replies_is_passed_over(folder):
    file = folder.parent / "cache" / "replies" / REPLIES_FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no JSON\n{}\n[]\n\x00\xff\nand no end of the line")
    asked = []
    for _ in range(2):
        extracted(folder, lambda messages: asked.append(messages) or said(entity("Ada Holm")))
        assert len(asked) == 3
