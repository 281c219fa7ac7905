"""The data of SAGE and of GraphSearch, in the forms in which they are published, as a person reads them."""

from __future__ import annotations

import json

import pytest

from fakes.embedder import WordEmbedder
from orienteer import Graph, read_questions
from orienteer.ingest import BuildConfig, BuildOptions, build_graph

BOAT = "The Salt is a ferry. It is old and red. Its captain is Ada Holm."
CATS = "Cats are animals. Cats sleep all day. Cats eat fish."
LINKS = {"Boats_0": "/wiki/Salt_(ferry)", "Songs_0": "/wiki/Ash_(song)", "Hills_0": "/wiki/Tor"}
TEXTS = {
    "/wiki/Salt_(ferry)": f"{BOAT} {CATS}",
    "/wiki/Ash_(song)": "Ash is a song by Noor Vik.",
    "/wiki/Tor": "Tor is a hill.",
}
SPLITS = {"train": ["Songs_0"], "dev": ["Boats_0", "Hills_0"], "test": ["Lakes_0"]}


@pytest.fixture
def ottqa(home):
    """Give OTT-QA's folder as its repository has it: tables and passages of train and dev, tables of test elsewhere."""
    folder = home / "OTTQA"
    parts = folder / "data" / "traindev_tables_tok", folder / "data" / "traindev_request_tok"
    for part in (*parts, folder / "released_data"):
        part.mkdir(parents=True)
    for table, link in LINKS.items():
        rows = [[[f"{table} row {number}", [link]], ["1998", []]] for number in range(12)]
        whole = {"uid": table, "title": table, "header": [["Name", []], ["Year", []]], "data": rows}
        (parts[0] / f"{table}.json").write_text(json.dumps(whole))
        (parts[1] / f"{table}.json").write_text(json.dumps({link: TEXTS[link]}))
    (folder / "released_data" / "train_dev_test_table_ids.json").write_text(json.dumps(SPLITS))
    nodes = [["Ada Holm", [3, 0], "/wiki/Salt_(ferry)", "passage"]]
    traced = {"question_id": "o1", "question": "Who sails the Salt?", "table_id": "Boats_0", "answer-text": "Ada Holm",
              "answer-node": nodes}  # fmt: skip
    (folder / "released_data" / "dev.traced.json").write_text(json.dumps([traced]))
    return folder


DEV = {"/wiki/Salt_(ferry)", "/wiki/Tor", "Boats_0#0", "Hills_0#0"}


def test_import_reads_the_split_of_ottqa_that_is_named(cli, ottqa):
    assert cli("import", ottqa, "-o", "all").code == 0
    assert cli("import", ottqa, "-o", "dev", "--split", "dev").code == 0
    assert set(Graph.open("dev").node_ids()) == DEV
    assert set(Graph.open("all").node_ids()) == DEV | {"/wiki/Ash_(song)", "Songs_0#0"}
    assert cli("import", ottqa, "-o", "dev", "--split", "dev", "--update").code == 0
    other = cli("import", ottqa, "-o", "dev", "--update")
    assert other.code == 2
    assert "split was 'dev'" in other.err
    assert cli("validate", ottqa, "--split", "train", "--json").json["node_types"] == {"chunk": 1, "table": 1}


def test_an_update_of_a_build_goes_on_with_its_split(cli, ottqa):
    assert cli("build", ottqa, "-o", "dev", "--split", "dev", "--embedder", "none").code == 0
    documents = {node for node in Graph.open("dev").node_ids() if "#" not in node}
    assert {"/wiki/Salt_(ferry)", "/wiki/Tor", "Boats_0", "Hills_0"} == documents
    assert "split: dev" in cli("info", "dev").out
    (ottqa / "data" / "traindev_tables_tok" / "Songs_0.json").touch()
    assert cli("info", "dev", "--json").json["stale"] is False
    tables = ottqa / "released_data" / "train_dev_test_table_ids.json"
    tables.write_text(json.dumps({**SPLITS, "dev": ["Boats_0"]}))
    assert cli("info", "dev", "--json").json["stale"] is True
    assert cli("build", "-o", "dev", "--update").code == 0
    assert {node for node in Graph.open("dev").node_ids() if "#" not in node} == {"/wiki/Salt_(ferry)", "Boats_0"}
    tables.write_text(json.dumps({"train": ["Songs_0"]}))
    assert cli("info", "dev", "--json").json["stale"] is True
    ran = cli("build", "-o", "dev", "--update")
    assert (ran.code, "no split 'dev'. There are: train" in ran.err) == (2, True)


@pytest.mark.parametrize("command", [("import",), ("build", "--embedder", "none")])
def test_a_split_that_cannot_be_read_is_refused_in_one_line(cli, ottqa, command):
    def refused(source, split):
        ran = cli(*command, source, "-o", "graph", "--split", split)
        assert ran.code == 2
        (line,) = [line for line in ran.err.splitlines() if line.startswith("error")]
        return line

    assert "no split 'validation'. There are: dev, test, train" in refused(ottqa, "validation")
    assert "1 of the 1 tables of 'test' have no file there (first: Lakes_0)" in refused(ottqa, "test")
    (ottqa / "released_data" / "train_dev_test_table_ids.json").unlink()
    assert "has no released_data/train_dev_test_table_ids.json" in refused(ottqa, "dev")
    plain = ottqa.parent / "plain"
    plain.mkdir()
    (plain / "nodes.csv").write_text("id,name,text\n1,Ada,She sails\n")
    (plain / "edges.csv").write_text("source,target\n1,1\n")
    assert "--split has no meaning" in refused(plain, "dev")
    (plain / "hotpotqa_corpus.json").write_text(json.dumps([{"title": "Salt", "text": "A ferry."}]))
    assert "--split has no meaning" in refused(plain / "hotpotqa_corpus.json", "dev")


def test_a_split_is_of_a_source_and_not_of_tables_that_are_named(cli, ottqa):
    (ottqa.parent / "n.csv").write_text("id,name\n1,Ada\n")
    ran = cli("import", "-o", "graph", "--nodes", "n.csv", "--split", "dev")
    assert (ran.code, "--split has no meaning" in ran.err) == (2, True)
    ran = cli("build", ottqa, "-o", "graph", "--split", "dev", "--include", "*.json")
    assert (ran.code, "leave out --include" in ran.err) == (2, True)


def test_a_faithful_build_cuts_passages_and_gold_is_every_part(ottqa, home):
    whole = build_graph([ottqa], home / "whole", options=BuildOptions(split="dev"), embedder=WordEmbedder())
    options = BuildOptions(split="dev", config=BuildConfig(faithful=True))
    cut = build_graph([ottqa], home / "cut", options=options, embedder=WordEmbedder())
    assert (whole.chunks, cut.chunks) == (2, 3)
    graph = Graph.open(home / "cut")
    assert [graph.node(f"/wiki/Salt_(ferry)#{at}").text for at in (0, 1)] == [BOAT, CATS]
    assert graph.node("/wiki/Tor").type == "chunk"

    def gold(graph):
        return set(read_questions(ottqa, split="dev", graph=graph).examples[0].gold.nodes)

    assert gold(None) == gold(Graph.open(home / "whole")) == {"/wiki/Salt_(ferry)", "Boats_0#0"}
    assert gold(graph) == {"/wiki/Salt_(ferry)#0", "/wiki/Salt_(ferry)#1", "Boats_0#0"}


# ------------------------------------------------------------------------------------------------------ GraphSearch

PASSAGES = ["Salt: The Salt is a ferry. It is red.", "", "Ada Holm: Ada Holm sails the Salt.", "Tor: Tor is a hill."]
CONTEXT = [["Salt", ["The Salt is a ferry.", " It is red."]], ["Ada Holm", ["Ada Holm sails the Salt."]]]


@pytest.fixture
def release(home):
    """Give GraphSearch's folder: `datasets/questions/NAME.json` and `datasets/contexts/NAME.txt`, a passage a line."""
    folder = home / "GraphSearch"
    for part in ("questions", "contexts"):
        (folder / "datasets" / part).mkdir(parents=True)
    facts = [["Salt", 0], ["Ada Holm", 0]]
    hotpot = {"_id": "h1", "question": "Who sails the red ferry?", "answer": "Ada Holm", "supporting_facts": facts,
              "context": CONTEXT}  # fmt: skip
    legal = {"question": "What is Tor?", "golden_answers": ["a hill"], "context": ["Tor is a hill."]}
    farming = {**legal, "golden_answers": ["a hill", "Tor"]}
    paragraphs = [{"title": "Tor", "paragraph_text": "Tor is a hill.", "is_supporting": True}]
    hops = {"id": "2hop__1_2", "question": "What is the hill?", "answer": "Tor", "paragraphs": paragraphs}
    rows = {"hotpotqa": hotpot, "legal": legal, "agriculture": farming, "musique": hops}
    for name, row in rows.items():
        (folder / "datasets" / "questions" / f"{name}.json").write_text(json.dumps([row]))
        (folder / "datasets" / "contexts" / f"{name}.txt").write_text("\n".join(PASSAGES))
    return folder


def test_a_line_of_a_text_is_a_passage_where_that_is_said(cli, release):
    corpus = release / "datasets" / "contexts" / "hotpotqa.txt"
    assert cli("build", corpus, "-o", "graph", "--embedder", "none", "--set", "lines=true").code == 0
    graph = Graph.open("graph")
    nodes = {node: graph.node(node) for node in graph.node_ids()}
    assert {node: passage.text for node, passage in nodes.items()} == {
        f"hotpotqa.txt#{number}": text for number, text in enumerate(PASSAGES, 1) if text
    }
    assert {passage.type for passage in nodes.values()} == {"chunk"}
    (hit, *_) = cli("search", "graph", "hill", "--json").json["hits"]
    assert (hit["node"]["id"] if "node" in hit else hit["id"]) == "hotpotqa.txt#4"
    corpus.write_text("\n".join([*PASSAGES, "Ash: Ash is a song."]))
    assert cli("build", "-o", "graph", "--update").code == 0
    assert Graph.open("graph").node("hotpotqa.txt#5").text == "Ash: Ash is a song."


@pytest.mark.parametrize("below", ["", "datasets", "datasets/questions"])
def test_the_release_reads_as_a_folder_and_a_name(cli, release, below):
    corpus = release / "datasets" / "contexts" / "hotpotqa.txt"
    cli("build", corpus, "-o", "graph", "--embedder", "none", "--set", "lines=true")
    graph = Graph.open("graph")
    hotpot = read_questions(release / below, split="hotpotqa", graph=graph)
    assert (hotpot.name, set(hotpot.examples[0].gold.nodes)) == ("hotpotqa", {"hotpotqa.txt#1", "hotpotqa.txt#3"})
    legal = read_questions(release / below, split="legal", graph=graph)
    assert (legal.name, set(legal.examples[0].gold.nodes)) == ("hypergraphrag", {"hotpotqa.txt#4"})
    assert read_questions(release / below, split="agriculture").examples[0].gold.answers == ("a hill", "Tor")
    hops = read_questions(release / below, split="musique", graph=graph).examples[0]
    assert (hops.fields["type"], set(hops.gold.nodes)) == ("2hop", {"hotpotqa.txt#4"})
    ran = cli("eval", "run", "graph", release / below, "--method", "bm25", "--split", "hotpotqa", "-o", "run")
    assert ran.code == 0
    for split in ([], ["--split", "nature"]):
        ran = cli("eval", "run", "graph", release / below, "--method", "bm25", *split, "-o", "other")
        assert (ran.code, "--split (agriculture, hotpotqa, legal, musique)" in ran.err) == (2, True)


def test_questions_of_a_text_that_the_graph_lacks_have_no_gold_and_a_list_of_answers_needs_no_passages(cli, release):
    corpus = release / "datasets" / "contexts" / "legal.txt"
    corpus.write_text("Salt: The Salt is a ferry. It is red.")
    cli("build", corpus, "-o", "graph", "--embedder", "none", "--set", "lines=true")
    found = read_questions(release, split="hotpotqa", graph=Graph.open("graph"))
    assert found.examples[0].gold.nodes == {}
    assert "1 of 1 questions" in found.notes[0]
    file = release / "plain.json"
    file.write_text(json.dumps([{"question": "What is the Salt?", "answer": "a ferry"},
                                {"question": "Who?", "golden_answers": ["Ada", "Ada Holm"]}]))  # fmt: skip
    assert [example.gold.answers for example in read_questions(file).examples] == [("a ferry",), ("Ada", "Ada Holm")]
