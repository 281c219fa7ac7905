"""A data set's own triples: which passages they are tied to, and what a graph and an evaluation say of having them."""

import json

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph, GraphBuilder
from orienteer.ingest import (
    BuildConfig,
    BuildOptions,
    ExtractedEntity,
    GoldTriple,
    Merger,
    PassageEvidence,
    build_graph,
    gold_of,
    read_gold_triples,
    recognize_gold,
    triple_statement,
)
from orienteer.lab.evaluation import Example, Gold, QuestionSet, notes_on_selection
from orienteer.records import Node, Question

PASSAGES = [
    Node("0", "chunk", "Salt Bay", "A town. Ada Holm was born there."),
    Node("1", "chunk", "ada  holm", "A captain of the Night Ferry."),
    Node("2", "chunk", "Night Ferry", "A film by Noor Vik."),
    Node("3", "chunk", "Salt Bay", "Another town, of Noor Vik."),
    Node("4", "chunk", "Low Tide", "A film."),
]
EVIDENCE = [
    ["Ada Holm", "born in", "Salt Bay"],
    ["Night Ferry", "director", "Noor Vik"],
    ["Noor  Vik", "country", "Salt Bay"],
    ["Nobody", "wrote", "Nothing"],
]


@pytest.fixture
def table(tmp_path):
    """Give a function that writes questions as HippoRAG's list."""

    def writing(*rows):
        file = tmp_path / "2wikimultihopqa.json"
        file.write_text(json.dumps(rows))
        return file

    return writing


def test_a_triple_is_tied_to_the_passage_that_its_subject_titles(table):
    found = read_gold_triples(table({"gold_pids": [0, 1], "evidences": EVIDENCE[:1]}), PASSAGES)
    assert found.triples == (GoldTriple("Ada Holm", "born in", "Salt Bay", ("1",), True),)


def test_else_to_those_that_name_its_ends(table):
    # Of the gold passages 0 and 3, only 3 names both Noor Vik and Salt Bay (its title); of 0, 4 none names Noor Vik.
    found = read_gold_triples(table({"gold_pids": ["0", "3"], "evidences": [EVIDENCE[2]]}), PASSAGES)
    assert found.triples == (GoldTriple("Noor Vik", "country", "Salt Bay", ("3",), False),)
    weaker = read_gold_triples(table({"gold_pids": [0, 4], "evidences": [EVIDENCE[2]]}), PASSAGES)
    assert [one.passages for one in weaker.triples] == [("0",)]


def test_what_no_gold_passage_names_is_lost_and_counted(table):
    found = read_gold_triples(table({"gold_pids": [0], "evidences": [EVIDENCE[3], EVIDENCE[0]]}), PASSAGES)
    assert ([one.subject for one in found.triples], found.lost) == (["Ada Holm"], 1)
    assert read_gold_triples(table({"gold_pids": [99], "evidences": EVIDENCE}), PASSAGES).lost == 4


def test_two_questions_with_one_triple_state_it_once_by_the_plainer_passage(table):
    rows = [{"gold_pids": [0], "evidences": EVIDENCE[:1]}, {"gold_pids": [1], "evidences": EVIDENCE[:1]}]
    for order in (rows, rows[::-1]):
        assert [one.passages for one in read_gold_triples(table(*order), PASSAGES).triples] == [("1",)]


def test_hipporags_list_names_gold_passages_by_title(table):
    row = {"supporting_facts": [["Night Ferry", 0], ["Night Ferry", 1]], "evidences": EVIDENCE[1:2]}
    assert [one.passages for one in read_gold_triples(table(row), PASSAGES).triples] == [("2",)]


def test_tables_write_triples_with_tabs(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"question": "?", "answer": "!", "gold_pids": [2], "evidences": ["\t".join(EVIDENCE[1])]}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "questions.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([{"pid": "0", "title": "a"}]), tmp_path / "corpus.parquet")
    file = recognize_gold(tmp_path)
    assert file == recognize_gold(tmp_path / "corpus.parquet") == tmp_path / "questions.parquet"
    assert [one.passages for one in read_gold_triples(file, PASSAGES).triples] == [("2",)]


def test_a_folder_without_evidences_has_no_gold(tmp_path):
    (tmp_path / "questions.jsonl").write_text('{"question": "?", "answer": "!"}\n')
    assert recognize_gold(tmp_path) is None
    with pytest.raises(BadOption, match="leave gold out"):
        gold_of([tmp_path], PASSAGES)


def test_gold_is_of_one_source(table):
    file = table({"gold_pids": [0], "evidences": EVIDENCE[:1]})
    assert len(gold_of([file.parent], PASSAGES).triples) == 1
    with pytest.raises(BadOption):
        gold_of([file.parent, file.parent], PASSAGES)


@pytest.mark.parametrize("evidence", [["a", "b"], [["a", "b"]], ["a\tb"], [["a", "", "c"]], [3]])
def test_evidence_of_another_shape_is_an_error(table, evidence):
    file = table({"gold_pids": [0], "evidences": []}, {"gold_pids": [0], "evidences": evidence})
    with pytest.raises(BadInput, match="question 2"):
        read_gold_triples(file, PASSAGES)


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[1]"])
def test_a_broken_file_is_an_error(table, text):
    file = table()
    file.write_text(text)
    with pytest.raises(BadInput):
        read_gold_triples(file, PASSAGES)


def test_triples_become_records_of_their_passages(table):
    rows = {"gold_pids": [0, 1, 3], "evidences": [*EVIDENCE[:1], EVIDENCE[2]]}
    said = read_gold_triples(table(rows), PASSAGES).by_passage()
    assert said["1"] == PassageEvidence(
        (ExtractedEntity("Ada Holm", is_title=True),), (triple_statement("Ada Holm", "born in", "Salt Bay"),)
    )
    assert said["3"] == PassageEvidence((), (triple_statement("Noor Vik", "country", "Salt Bay"),))
    merger = Merger()
    read_gold_triples(table(rows), PASSAGES).into(merger)
    nodes = {node.id for node in merger.nodes(lambda _: False)}
    assert {"name:ada holm", "name:salt bay", "name:noor vik"} <= nodes
    edges = {(one.source, one.type, one.target) for one in merger.edges(5)}
    assert edges >= {
        ("name:ada holm", "born_in", "name:salt bay"),
        ("name:noor vik", "country", "name:salt bay"),
        ("1", "titled", "name:ada holm"),
        ("3", "mentions", "name:salt bay"),
    }


def test_the_evidences_of_2wikimultihopqa(data_folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = data_folder / "2wikimultihopqa"
    if not folder.is_dir():
        pytest.skip("2wikimultihopqa is not here")
    rows = parquet.read_table(folder / "corpus.parquet").to_pylist()
    passages = [Node(str(row["pid"]), "chunk", row["title"], row["text"]) for row in rows]
    found = read_gold_triples(recognize_gold(folder), passages)
    assert (len(found.triples), found.lost) == (299, 0)
    assert sum(one.titles for one in found.triples) == 261  # measured; the others name their subject in the text
    asked = parquet.read_table(folder / "questions.parquet").to_pylist()
    gold_passages = {str(one) for row in asked for one in row["gold_pids"]}
    assert {passage for one in found.triples for passage in one.passages} <= gold_passages


def test_an_evaluation_says_that_the_graph_holds_its_gold(tmp_path):
    with GraphBuilder(tmp_path / "graph", provenance={"gold": {"dataset": "2wikimultihopqa", "triples": 299}}) as made:
        made.add_node(PASSAGES[0])
        made.publish()
    graph = Graph.open(tmp_path / "graph")
    asked = (Example(question=Question(id="1", text="?"), gold=Gold(nodes={"0": 1.0})),)
    (note,) = notes_on_selection(QuestionSet("2wikimultihopqa", asked, "sha"), asked, graph)
    assert "the graph holds 299 gold triples of 2wikimultihopqa" in note
    assert notes_on_selection(QuestionSet("hotpotqa", asked, "sha"), asked, graph) == ()


def corpus_of(folder):
    folder.mkdir()
    rows = [{"title": node.name, "text": node.text} for node in PASSAGES]
    (folder / "2wikimultihopqa_corpus.json").write_text(json.dumps(rows))
    asked = [{"_id": "a", "question": "?", "answer": "!", "supporting_facts": [["ada  holm", 0]], "context": []}]
    (folder / "2wikimultihopqa.json").write_text(json.dumps([{**asked[0], "evidences": EVIDENCE[:1]}]))
    return folder


@pytest.mark.slow
def test_a_build_takes_gold_only_when_asked(tmp_path):
    folder = corpus_of(tmp_path / "data")
    plain = build_graph([folder], tmp_path / "plain", options=BuildOptions(extract="triples"))
    assert "born_in" not in plain.edge_types
    assert "gold" not in Graph.open(tmp_path / "plain").arrays.manifest.provenance
    options = BuildOptions(extract="triples", config=BuildConfig.extracting(gold=True))
    told = build_graph([folder], tmp_path / "gold", options=options)
    assert told.edge_types["born_in"] == 1
    assert any("1 gold triples of 2wikimultihopqa are in the graph" in note for note in told.notes)
    graph = Graph.open(tmp_path / "gold")
    assert graph.arrays.manifest.provenance["gold"]["dataset"] == "2wikimultihopqa"
    (edge,) = [one for one in graph.iter_edges() if one.type == "born_in"]
    assert (edge.source, edge.target, edge.text) == ("name:ada holm", "name:salt bay", "born in")
    assert edge.properties == {"sources": ["1"]}


def test_gold_without_extraction_is_refused(tmp_path):
    with pytest.raises(BadOption, match="--extract triples"):
        build_graph([tmp_path], tmp_path / "graph", options=BuildOptions(config=BuildConfig(gold=True)))
