"""`orienteer build --extract` and a real HTTP server: calls counted, nothing paid twice, every edge from a chunk."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from fakes.openai_server import Answer, FakeServer
from orienteer.graph import Graph

FILES = 24
CONCURRENCY = 8
"""Calls that a model has under way."""
TEXT = "The ferry number {0} of Ada Holm crosses the sound to 北京 for $1,363.00 and meets boat{0}."
ENTITIES = [
    {"name": "Ada Holm", "type": "person", "description": "Owns ferries."},
    {"name": "北京", "type": "place", "description": "A port."},
    {"name": "$1,363.00", "type": "price", "description": ""},
]
SAID = {
    "triples": {"triples": [{"subject": "Ada Holm", "predicate": "sails to", "object": "北京"}]},
    "entities": {
        "relations": [
            {
                "source": "Ada Holm",
                "target": "北京",
                "description": "She sails there.",
                "keywords": ["sea"],
                "strength": 7,
            }
        ]
    },
    "hyper": {
        "facts": [
            {
                "statement": "Ada Holm sails to 北京 for $1,363.00.",
                "score": 9,
                "members": [
                    {"name": "Ada Holm", "role": "who", "importance": 90},
                    {"name": "北京", "role": "where to", "importance": 70},
                    {"name": "$1,363.00", "role": "price", "importance": 40},
                ],
            }
        ]
    },
}
OF_CHUNKS = ("mentions", "titled", "states", "part_of", "next", "shares_names", "similar", "links_to")


def reply(form, **more):
    return json.dumps({"entities": ENTITIES, **SAID[form], **more}, ensure_ascii=False)


@pytest.fixture
def docs(home):
    folder = home / "docs"
    folder.mkdir()
    for at in range(FILES):
        (folder / f"{at:02}.txt").write_text(TEXT.format(at), encoding="utf-8")
    return folder


def build(cli, server, *more, form="triples", target="graph", docs="docs"):
    return cli(
        *("build", docs, "-o", target, "--embedder", "none", "--extract", form, "--model", "m"),
        *("--base-url", server.url, "--json", *more),
    )


def edges_of(graph):
    return list(graph.iter_edges())


@pytest.mark.parametrize("form", ["triples", "entities", "hyper"])
def test_one_call_a_chunk_and_every_edge_leads_to_a_chunk(cli, docs, form):
    with FakeServer(lambda body, times: Answer(content=reply(form))) as server:
        ran = build(cli, server, form=form)
    assert ran.code == 0, ran.err
    assert len(server.requests) == ran.json["usage"]["calls"] == FILES
    assert ran.json["extracted"] == {
        "form": form,
        "model": "m",
        "entities": 3,
        "facts": 1,
        "failed": [],
        "rejected": [],
    }
    (schema,) = {json.dumps(body["response_format"], sort_keys=True) for body in server.bodies}
    assert next(iter(SAID[form])) in schema
    graph = Graph.open("graph")
    chunks = {node_id for node_id in graph.node_ids() if graph.arrays.type_at(graph.arrays.row(node_id)) == "chunk"}
    assert len(chunks) == FILES
    facts = {edge.target: edge.source for edge in edges_of(graph) if edge.type == "states"}
    for edge in edges_of(graph):
        if edge.type in OF_CHUNKS:
            assert edge.source in chunks
        elif edge.type == "member":
            assert facts[edge.source] in chunks
        else:
            assert set(edge.properties["sources"]) == chunks
    assert graph.node("price:$1,363.00").type == "price"
    wanted = {"triples": {"sails_to"}, "entities": {"related_to"}, "hyper": set()}[form]
    assert {edge.type for edge in edges_of(graph)} - {*OF_CHUNKS, "member"} == wanted
    if form == "triples":
        assert graph.schema.label("sails_to") == "sails to"


def test_a_gleaning_is_a_second_call_that_adds_what_was_missing(cli, docs):
    more = {"entities": [{"name": "boat", "type": "ship", "description": "Met."}], "triples": []}
    more["triples"].append({"subject": "boat", "predicate": "meets", "object": "Ada Holm"})

    def answer(body, times):
        return Answer(content=reply("triples") if len(body["messages"]) == 2 else json.dumps(more))

    with FakeServer(answer) as server:
        ran = build(cli, server, "--set", "gleanings=1", "--set", "entity_types=person,place,price,ship")
        assert ran.json["usage"]["calls"] == len(server.requests) == 2 * FILES
        assert ran.json["extracted"]["rejected"] == []
        again = build(cli, server, "--force", "--set", "gleanings=1", "--set", "entity_types=person,place,price,ship")
    assert again.json["usage"]["calls"] == 0
    graph = Graph.open("graph")
    assert ("ship:boat", "meets", "person:ada holm") in {
        (edge.source, edge.type, edge.target) for edge in edges_of(graph)
    }


def test_types_of_ones_own_are_in_the_prompt_and_the_schema_and_others_are_left_out(cli, docs):
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:
        ran = build(cli, server, "--set", "entity_types=Person, sea port")
    body = server.bodies[0]
    assert "person, sea_port" in body["messages"][0]["content"]
    assert json.dumps(["person", "sea_port"]) in json.dumps(body["response_format"])
    assert len(server.requests) == 2 * FILES, "a repair was asked for, for the reply has other types"
    reasons = {row["reason"]: row["count"] for row in ran.json["extracted"]["rejected"]}
    assert reasons == {
        "an entity of none of the types asked for": 2 * FILES,
        "a member that is no listed entity of the types asked for": FILES,
    }
    assert not {"place", "price"} & Graph.open("graph").schema.node_types.keys()
    assert any("none of the types asked for (such as 0" in note for note in ran.json["notes"])


def test_a_reply_that_is_no_json_is_repaired_once_then_told_and_the_others_stay(cli, docs):
    def answer(body, times):
        text = body["messages"][1]["content"]
        if "boat3." in text:
            return Answer(content="I found Ada Holm.")
        if "boat4." in text and len(body["messages"]) == 2:
            return Answer(content="{")
        if "boat5." in text:
            return Answer(content=reply("triples", triples=[{"subject": "Ada Holm"}, *SAID["triples"]["triples"]]))
        return Answer(content=reply("triples"))

    with FakeServer(answer) as server:
        ran = build(cli, server)
        assert ran.code == 0, ran.err
        assert len(server.requests) == FILES + 3
        assert ran.json["extracted"]["failed"] == ["03.txt#0"]
        assert any("03.txt#0" in note for note in ran.json["notes"])
        (rejected,) = ran.json["extracted"]["rejected"]
        assert (rejected["reason"], rejected["count"]) == ("no sound record of triples", 1)
        assert rejected["examples"][0].startswith("05.txt#0: ")
        graph = Graph.open("graph")
        (edge,) = [item for item in edges_of(graph) if item.type == "sails_to"]
        assert edge.weight == FILES - 1
        assert "03.txt#0" in graph, "the chunk stays, with nothing extracted"
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:
        again = build(cli, server, "--force")
    assert again.json["usage"]["calls"] == 1, "a reply of no use is not kept: a longer one may be allowed by now"
    assert again.json["extracted"]["failed"] == []


def test_two_types_of_one_name_stay_apart(cli, docs):
    def answer(body, times):
        kind = "ship" if "boat7." in body["messages"][1]["content"] else "person"
        entities = [{"name": "Ada Holm", "type": kind, "description": f"A {kind}."}, *ENTITIES[1:]]
        return Answer(content=reply("triples", entities=entities))

    with FakeServer(answer) as server:
        build(cli, server)
    graph = Graph.open("graph")
    assert (graph.node("ship:ada holm").text, graph.node("person:ada holm").text) == ("A ship.", "A person.")
    sails = {edge.source: edge.properties["sources"] for edge in edges_of(graph) if edge.type == "sails_to"}
    assert sails["ship:ada holm"] == ["07.txt#0"]
    assert len(sails["person:ada holm"]) == FILES - 1


def test_an_update_pays_for_new_chunks_and_drops_what_only_old_ones_said(cli, docs):
    def answer(body, times):
        text = body["messages"][1]["content"]
        entity = {"name": text.split()[-1].strip("."), "type": "boat", "description": ""}
        return Answer(content=reply("triples", entities=[*ENTITIES, entity]))

    with FakeServer(answer) as server:
        build(cli, server)
        assert "boat:boat2" in Graph.open("graph")
        (docs / "02.txt").unlink()
        (docs / "99.txt").write_text(TEXT.format(99), encoding="utf-8")
        dry = cli(
            *("build", "-o", "graph", "--update", "--dry-run", "--embedder", "none", "--model", "m"),
            *("--base-url", server.url, "--json"),
        )
        assert (dry.json["extraction"]["calls"], dry.json["extraction"]["cached"]) == (1, FILES - 1)
        ran = cli(
            *("build", "-o", "graph", "--update", "--embedder", "none", "--model", "m"),
            *("--base-url", server.url, "--json"),
        )
        assert ran.code == 0, ran.err
        assert ran.json["usage"]["calls"] == 1
        assert len(server.requests) == FILES + 1
        other = cli("build", "-o", "graph", "--update", "--extract", "hyper", "--model", "m", "--base-url", server.url)
        assert (other.code, "extract = triples" in other.err) == (2, True)
    graph = Graph.open("graph")
    assert "boat:boat2" not in graph
    assert "boat:boat99" in graph
    (edge,) = [item for item in edges_of(graph) if item.type == "sails_to"]
    assert "02.txt#0" not in edge.properties["sources"]


def test_a_dry_run_says_what_it_takes_and_asks_nothing(cli, docs):
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:
        ran = build(cli, server, "--dry-run", "--set", "gleanings=1")
        assert server.requests == []
    assert ran.json["extraction"]["calls"] == 2 * FILES
    assert ran.json["extraction"]["prompt_tokens"] > 2 * FILES * 100
    assert ran.json["metadata"] is None
    assert not Path("graph").exists()


def test_metadata_is_written_beside_what_is_extracted_only_where_that_is_asked(cli, docs):
    described = {"title": "Ferry", "topic": "A ferry.", "entities": [], "events": []}

    def answer(body, times):
        is_metadata = "topic" in json.dumps(body["response_format"])
        return Answer(content=json.dumps(described) if is_metadata else reply("triples"))

    with FakeServer(answer) as server:
        build(cli, server)
        assert "topic" not in Graph.open("graph").node("00.txt#0").properties
        ran = build(cli, server, "--metadata", target="both")
        assert ran.json["usage"]["calls"] == FILES
        assert Graph.open("both").node("00.txt#0").properties["topic"] == "A ferry."
    assert cli("build", "docs", "-o", "x", "--metadata").code == 2


def test_a_dead_server_ends_the_build_and_keeps_what_was_paid(cli, docs):
    lock, answered = threading.Lock(), []

    def answer(body, times):
        with lock:
            if len(answered) >= 10:
                return Answer(status=401, message="no more")
            answered.append(body)
        return Answer(content=reply("triples"))

    with FakeServer(answer) as server:
        ran = build(cli, server)
        assert ran.code != 0
        assert "API key" in ran.err
        line = f"m: {FILES} calls (0 replies are there already)"
        assert line in ran.err, "what it takes is told before the first call"
    assert not Path("graph").exists()
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:
        assert build(cli, server).json["usage"]["calls"] == FILES - 10


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_it_goes_on_and_pays_for_nothing_twice(process, cli, docs):
    counts: Counter[str] = Counter()
    lock, is_full, go = threading.Lock(), threading.Event(), threading.Event()
    waiting = []

    def answer(body, times):
        with lock:
            is_held = len(counts) >= 9 and not go.is_set()
            if is_held:
                waiting.append(body)
                if len(waiting) == CONCURRENCY:
                    is_full.set()
            else:
                counts[body["messages"][1]["content"]] += 1
        if is_held:
            go.wait(30)  # whoever asked is dead by then
        return Answer(content=reply("triples"))

    with FakeServer(answer) as server:
        arguments = ["build", docs, "-o", "graph", "--embedder", "none", "--extract", "triples", "--model", "m"]
        running = process(*arguments, "--base-url", server.url)
        assert is_full.wait(60)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        go.set()
        paid = len(counts)
        ran = build(cli, server)
    assert ran.code == 0, ran.err
    assert ran.json["usage"]["calls"] == FILES - paid
    assert max(counts.values()) == 1


def test_methods_of_before_rank_what_was_read_and_nothing_else(cli, docs):
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:
        build(cli, server)
        cli("build", "docs", "-o", "plain", "--embedder", "none")
    for method in ("bm25", "sage"):
        extracted, plain = (
            cli("ask", graph, "Which boat meets ferry 3 of Ada Holm?", "--method", method, "--json")
            for graph in ("graph", "plain")
        )
        assert extracted.code == 0, extracted.err
        assert {hit["type"] for hit in extracted.json["hits"]} == {"chunk"}, method
        ranked = [
            [(hit["id"], hit["score"]) for hit in ran.json["hits"] if hit["type"] == "chunk"]
            for ran in (extracted, plain)
        ]
        assert ranked[0] == ranked[1], method
    weights, plain = (Graph.open(name).arrays.manifest.provenance["greatest_weights"] for name in ("graph", "plain"))
    assert weights == plain, "mentions of entities are on a scale of their own"
    for command in ("info", "schema", "doctor"):
        assert cli(command, "graph").code == 0


def test_chunks_of_400_tokens_overlap_by_50_unless_told_otherwise(cli, home):
    folder = home / "long"
    folder.mkdir()
    sentences = [f"Sentence number {at} tells of ferry {at} and of nothing else in particular." for at in range(120)]
    text = " ".join(sentences)
    (folder / "a.txt").write_text(text, encoding="utf-8")
    ran = cli("build", "long", "-o", "graph", "--embedder", "none", "--extract", "hyper", "--json")
    assert ran.json["chunking"] == "tokens"
    graph = Graph.open("graph")
    chunks = sorted(
        (graph.node(node_id) for node_id in graph.node_ids() if "#" in node_id),
        key=lambda node: node.properties["order"],
    )
    assert max(node.properties["tokens"] for node in chunks) <= 400
    for chunk, other in zip(chunks, chunks[1:], strict=False):
        shared = [sentence for sentence in sentences if sentence in chunk.text and sentence in other.text]
        assert other.text.startswith(shared[0])
        assert chunk.text.endswith(shared[-1])
        assert len(shared) == 3, "three of 15 tokens"
    assert {sentence for node in chunks for sentence in sentences if sentence in node.text} == set(sentences)
    cli("build", "long", "-o", "other", "--embedder", "none", "--extract", "hyper", "--set", "overlap=0")
    other = Graph.open("other")
    texts = [other.node(node_id).text for node_id in other.node_ids() if "#" in node_id]
    assert sum(map(len, texts)) < sum(len(node.text) for node in chunks)
    refused = cli("build", "long", "-o", "third", "--embedder", "none", "--set", "overlap=200")
    assert (refused.code, "overlap is 200" in refused.err) == (2, True)


def test_an_update_may_repeat_the_options_of_its_graph_and_no_others(cli, docs):
    build = ("build", "docs", "-o", "graph", "--embedder", "none")
    assert cli(*build, "--extract", "hyper", "--set", "phrases=false").code == 0
    assert cli(*build, "--update", "--set", "phrases=false", "--json").json["extracted"]["form"] == "hyper"
    for wrong, setting in ((("phrases=true",), "phrases = False"), (("tokens=256", "overlap=0"), "overlap = 50")):
        ran = cli(*build, "--update", *(part for option in wrong for part in ("--set", option)))
        assert ran.code == 2
        assert setting in ran.err


def test_a_chunk_that_is_too_long_for_the_server_is_left_out_and_told(cli, docs):
    def answer(body, times):
        if "boat5." in body["messages"][1]["content"]:
            return Answer(status=400, message="This model's maximum context length is 100 tokens.")
        return Answer(content=reply("triples"))

    with FakeServer(answer) as server:
        ran = build(cli, server)
    assert ran.code == 0, ran.err
    (rejected,) = ran.json["extracted"]["rejected"]
    assert (rejected["reason"], rejected["count"]) == ("a chunk that the model's server refused", 1)
    assert rejected["examples"][0].startswith("05.txt#0: ")
    assert "maximum context length" in ran.err
    graph = Graph.open("graph")
    (edge,) = [item for item in edges_of(graph) if item.type == "sails_to"]
    assert "05.txt#0" not in edge.properties["sources"]
    assert edge.weight == FILES - 1


def test_the_model_that_answers_does_not_extract(cli, docs, monkeypatch):
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:
        monkeypatch.setenv("ORIENTEER_MODEL", "m")
        monkeypatch.setenv("ORIENTEER_BASE_URL", server.url)
        ran = cli("build", "docs", "-o", "graph", "--embedder", "none", "--extract", "triples", "--json")
        assert ran.code == 0, ran.err
        assert (ran.json["extracted"]["model"], server.requests) == (None, [])


def test_what_a_reply_hangs_on_is_asked_anew_and_nothing_else(cli, docs):
    with FakeServer(lambda body, times: Answer(content=reply("triples"))) as server:

        def calls(*more, **options):
            ran = build(cli, server, "--force", *more, **options)
            assert ran.code == 0, ran.err
            return ran.json["usage"]["calls"]

        assert [calls(), calls(), calls(target="other")] == [FILES, 0, 0]
        assert calls("--model", "n") == FILES
        assert calls("--set", "entity_types=person,place,price") == FILES
        (docs / "03.txt").write_text(TEXT.format(77), encoding="utf-8")
        assert [calls(), calls("--set", "gleanings=1")] == [1, FILES]
