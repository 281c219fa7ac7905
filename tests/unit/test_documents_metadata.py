"""What a model writes about chunks: asked once a chunk, checked, repaired once, kept, estimated, never paid twice."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from fakes.embedder import WordEmbedder
from orienteer.errors import BadOption, ModelError
from orienteer.graph import Graph
from orienteer.ingest import (
    CHUNK_SCHEMA,
    REPLIES_FILE,
    TABLE_SCHEMA,
    BuildOptions,
    MetadataForm,
    NodeReader,
    ReplyCache,
    build_graph,
    estimate_build,
)
from orienteer.llm import ChatRequest, ScriptedModel, schema_faults
from orienteer.records import Message, Node, Price, Usage

CHUNK = {
    "title": "Ada's Ferry",
    "topic": "Ada Holm sails a ferry.",
    "entities": [{"name": "Ada  Holm", "details": "A captain."}, {"name": "Ada Holm", "details": ""}],
    "events": [{"name": "Departure", "date": "1990-05", "details": "She left."}],
}
TABLE = {
    "title": "Winners",
    "description": "Who won when.",
    "summary": "Nobody won twice.",
    "columns": [{"name": "Who", "description": "The winner", "format": "text"}],
    "entities": [
        {"name": "Noor  Vik", "type": "person", "category": "named", "details": "Won in 1990."},
        {"name": "victory", "type": "event", "category": "non-named", "details": ""},
    ],
}
TEXT = "Ada Holm sails her ferry over the sound each night, {} as long as anyone remembers."


class Scripted:
    """Answers each request with an object of its schema, and counts requests."""

    def __init__(self, answer=None):
        self.asked = []
        self._lock = threading.Lock()
        self._answer = answer
        self.model = ScriptedModel(self._say, usage=Usage(calls=1, prompt_tokens=100, completion_tokens=20))

    def _say(self, messages, tools, sampling):
        with self._lock:
            self.asked.append(messages)
        if self._answer is not None:
            return self._answer(messages)
        return json.dumps(TABLE if "columns" in messages[0].content else CHUNK)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for at in range(6):
        (root / f"{at}.txt").write_text(TEXT.format(at), encoding="utf-8")
    (root / "t.csv").write_text("Who,Year\nNoor Vik,1990\nAda Holm,1991\nZoe Quill,1992\n", encoding="utf-8")
    return root


def built(folder, target, model, **options):
    return build_graph([folder], target, options=BuildOptions(**options), model=model, cache=folder.parent / "cache")


def test_the_examples_fit_the_schemas():
    assert schema_faults(CHUNK, CHUNK_SCHEMA) == ()
    assert schema_faults(TABLE, TABLE_SCHEMA) == ()


def test_metadata_stands_among_the_properties(folder, tmp_path):
    scripted = Scripted()
    report = built(folder, tmp_path / "graph", scripted.model)
    graph = Graph.open(tmp_path / "graph")
    chunk, table = graph.node("0.txt#0").properties, graph.node("t.csv#0").properties
    assert (chunk["topic"], chunk["title"]) == (CHUNK["topic"], CHUNK["title"])
    assert chunk["entities"] == ["Ada Holm"]
    assert chunk["details"] == {"Ada Holm": "A captain."}
    assert chunk["events"] == CHUNK["events"]
    assert chunk["described_by"] == "scripted"
    assert table["topic"] == "Who won when."
    assert table["column_descriptions"] == ["Who: The winner (text)"]
    assert table["summary"] == "Nobody won twice."
    assert table["entities"] == ["Noor Vik", "victory"]
    assert table["details"] == {"Noor Vik": "Won in 1990."}
    assert table["entity_types"] == {"Noor Vik": "person", "victory": "event"}
    assert table["entity_categories"] == {"Noor Vik": "named", "victory": "non-named"}
    assert "entity_types" not in chunk
    assert len(scripted.asked) == 7
    assert (report.usage.calls, report.usage.tokens) == (7, 840)


@pytest.mark.slow
def test_nothing_is_paid_for_twice(folder, tmp_path):
    scripted = Scripted()
    built(folder, tmp_path / "graph", scripted.model)
    again = built(folder, tmp_path / "other", scripted.model)
    assert again.usage.calls == 0
    (folder / "0.txt").write_text(TEXT.format("anew"), encoding="utf-8")
    (folder / "1.txt").unlink()
    report = built(folder, tmp_path / "graph", scripted.model, update=True)
    assert report.usage.calls == 1
    assert len(scripted.asked) == 8
    graph = Graph.open(tmp_path / "graph")
    assert graph.node("2.txt#0").properties["topic"] == CHUNK["topic"]


@pytest.mark.slow
def test_what_was_taken_over_is_not_asked_about_even_without_its_replies(folder, tmp_path):
    scripted = Scripted()
    built(folder, tmp_path / "graph", scripted.model)
    (tmp_path / "cache" / "replies" / REPLIES_FILE).unlink()
    assert built(folder, tmp_path / "graph", scripted.model, update=True).usage.calls == 0


def test_a_dead_model_leaves_the_graph_and_keeps_what_was_paid(folder, tmp_path):
    calls = []
    lock = threading.Lock()

    def answer(messages):
        with lock:
            calls.append(1)
            is_dead = len(calls) > 3
        if is_dead:
            raise ModelError("the server is gone")
        return json.dumps(TABLE if "columns" in messages[0].content else CHUNK)

    with pytest.raises(ModelError):
        built(folder, tmp_path / "graph", Scripted(answer).model)
    assert not (tmp_path / "graph").exists()
    healthy = Scripted()
    report = built(folder, tmp_path / "graph", healthy.model)
    assert report.usage.calls == len(healthy.asked) == 7 - 3


def test_an_unsound_reply_is_repaired_once_then_left_out_and_noted(folder, tmp_path):
    def answer(messages):
        is_bad = "over the sound each night, 0" in messages[1].content
        is_repair = len(messages) > 2
        if is_bad:
            return "no object at all"
        if not is_repair and "night, 1" in messages[1].content:
            return json.dumps({"title": "lacks the rest"})
        return json.dumps(TABLE if "columns" in messages[0].content else CHUNK)

    scripted = Scripted(answer)
    report = built(folder, tmp_path / "graph", scripted.model)
    graph = Graph.open(tmp_path / "graph")
    assert "topic" not in graph.node("0.txt#0").properties
    assert graph.node("1.txt#0").properties["topic"] == CHUNK["topic"]
    assert any(note.startswith("1 chunk without metadata") and "0.txt#0" in note for note in report.notes)
    assert report.usage.calls == len(scripted.asked) == 9  # two were asked a second time, none a third


def test_an_estimate_asks_nothing_and_writes_nothing(folder, tmp_path):
    scripted = Scripted()
    found = estimate_build([folder], model=scripted.model, cache=tmp_path / "cache")
    assert scripted.asked == []
    assert (found.documents, found.chunks, found.tables) == (7, 6, 1)
    assert (found.metadata.calls, found.metadata.cached, found.metadata.usd) == (7, 0, None)
    assert "its price is not known" in found.render()
    built(folder, tmp_path / "graph", scripted.model)
    again = estimate_build([folder], model=scripted.model, cache=tmp_path / "cache")
    assert (again.metadata.calls, again.metadata.cached) == (0, 7)
    update = estimate_build(
        [], target=tmp_path / "graph", options=BuildOptions(update=True), model=scripted.model, cache=tmp_path / "cache"
    )
    assert (update.metadata.calls, update.unchanged) == (0, 7)


def test_the_estimate_of_tokens_and_money_is_near_what_is_sent(tmp_path):
    nodes = [Node(f"n{at}", "chunk", f"Name {at}", TEXT.format(at) * 5) for at in range(10)]
    model = Scripted().model
    reader = NodeReader(MetadataForm(), model, ReplyCache(tmp_path))
    found = reader.estimate(nodes, Price(prompt=1.0, completion=2.0))
    sent = sum(len(message.content) for node in nodes for message in MetadataForm().begun(node, model).opening)
    sent += len(nodes) * len(json.dumps(CHUNK_SCHEMA))
    assert found.prompt_tokens == pytest.approx(sent / 4.5, rel=0.3)  # English has four to five characters a token
    expected = (found.prompt_tokens + 2 * found.completion_tokens) / 1e6
    assert found.usd == pytest.approx(expected, abs=1e-4)


def test_replies_outlive_their_process_and_are_shared(tmp_path):
    first, second = ReplyCache(tmp_path), ReplyCache(tmp_path)
    asked = {name: ChatRequest.of("m", [Message(role="user", content=name)], schema=CHUNK_SCHEMA) for name in "abc"}
    first.put(asked["a"], "α")
    assert second.get(asked["a"]) == "α"
    second.put(asked["b"], "β")
    assert first.get(asked["b"]) == "β"
    assert first.get(asked["c"]) is None
    assert ReplyCache(tmp_path).get(asked["b"]) == "β"
    assert ReplyCache(tmp_path).get(ChatRequest.of("m", asked["a"].messages, schema=TABLE_SCHEMA)) is None


def test_summaries_are_measured_against_topics_and_descriptions_against_one_another_but_join_nothing(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    topics = {f"passage {at}": f"{word} sails" for at, word in enumerate(("ada", "noor", "zoe"))}
    summaries = {f"heat {at}": f"{word} sails first" for at, word in enumerate(("ada", "kai"))}
    for at, word in enumerate(topics):
        (folder / f"p{at}.txt").write_text(f"This is {word}, and it says enough to be asked about by anyone.")
    for at, word in enumerate(summaries):
        (folder / f"t{at}.csv").write_text(f"Who,What,Where\na,{word},b\nc,{word},d\ne,{word},f\n")

    def answer(messages):
        said = messages[1].content
        if "columns" not in messages[0].content:
            return json.dumps({**CHUNK, "topic": next(topics[word] for word in topics if word in said)})
        word = next(word for word in summaries if word in said)
        return json.dumps({**TABLE, "description": f"results of {word}", "summary": summaries[word]})

    embedder = WordEmbedder(dimension=512)
    report = build_graph(
        [folder], tmp_path / "graph", model=Scripted(answer).model, embedder=embedder, cache=tmp_path / "cache"
    )

    def mean(first, second):
        one, other = (embedder.embed(texts, kind="document") for texts in (first, second))
        return pytest.approx(float((one @ other.T).mean()), abs=1e-3)

    means = report.similarity["means"]
    assert means["table-chunk"]["summary"] == mean([*summaries.values()], [*topics.values()])
    assert means["table-table"]["description"] == mean(["results of heat 0"], ["results of heat 1"])
    assert {"summary", "title"} <= report.similarity["correlations"]["table-chunk"].keys()
    assert not {"summary", "description"} & {
        name for thresholds in report.similarity["thresholds"].values() for name in thresholds
    }


def test_documents_and_short_texts_are_not_asked_about():
    form = MetadataForm()
    assert form.schema_of(Node("d", "document", "D", "Many words that would do very well for a chunk.")) is None
    assert form.schema_of(Node("c", "chunk", "C", "Too short.")) is None


@pytest.mark.slow
def test_a_title_that_the_model_wrote_titles_an_untitled_file(folder, tmp_path):
    (folder / "9.txt").write_text("They all remember the night when Ada's Ferry came in late.", encoding="utf-8")

    def answer(messages):
        title = "Other" if "all remember" in messages[1].content else CHUNK["title"]
        return json.dumps(TABLE if "columns" in messages[0].content else {**CHUNK, "title": title})

    built(folder, tmp_path / "graph", Scripted(answer).model)
    targets = {edge.target for edge in Graph.open(tmp_path / "graph").iter_edges() if edge.type == "mentions"}
    assert "0.txt#0" in targets


def test_a_model_needs_a_cache_and_an_update_the_same_model(folder, tmp_path):
    with pytest.raises(BadOption, match="cache"):
        build_graph([folder], tmp_path / "graph", model=Scripted().model)
    built(folder, tmp_path / "graph", Scripted().model)
    with pytest.raises(BadOption, match="model"):
        build_graph([folder], tmp_path / "graph", options=BuildOptions(update=True))
