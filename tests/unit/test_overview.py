"""What a graph is about: the sentence, and questions that a person can ask and get an answer to."""

import re

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import build_graph, demo_records, import_graph
from orienteer.retriever import overview
from orienteer.settings import Settings

pytestmark = pytest.mark.slow
KINDS = ["hop", "both", "count", "most", "not", "per", "path"]
NODES, EDGES = demo_records()
NAMES = {node.id: node.name for node in NODES}


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    return Graph.from_records(NODES, EDGES, path=tmp_path_factory.mktemp("overview") / "languages")


@pytest.fixture(scope="module")
def about(languages):
    return overview(languages)


def asked(graph, question):
    method = "documents" if graph.arrays.is_made_of_documents else "anchor"
    return Retriever(graph, method, settings=Settings()).ask(question)


def sources(edge_type, name):
    return {NAMES[edge.source] for edge in EDGES if edge.type == edge_type and NAMES[edge.target] == name}


def test_the_sentence_says_what_people_call_things(about):
    types = [node.type for node in NODES]
    assert about.text.startswith(
        f"{len(NODES)} nodes: {types.count('person')} people, {types.count('language')} languages"
    )
    assert "languages support paradigms" in about.text
    assert about.nouns["person"] == "people"
    assert "_" not in about.text


def test_there_is_a_question_of_each_kind_that_is_read_exactly(about, languages):
    assert [example.kind for example in about.examples] == KINDS
    for example in about.examples:
        result = asked(languages, example.question)
        assert result.reading.complete, example
        assert result.answer, example


def test_answers_of_examples_are_those_of_the_rows(about, languages):
    """Two names, and the one edge type by which a plain look at the rows gives the answer."""
    patterns = {
        "hop": r"Which \w+ .+? (?P<a>[A-Z].+)\?",
        "both": r"Which \w+ .+ both (?P<a>.+) and (?P<b>.+)\?",
        "not": r"Which \w+ [a-z ]+ (?P<a>[A-Z].+) but not (?:by |at |in )?(?P<b>.+)\?",
        "count": r"How many \w+ [a-z ]+ (?P<a>[A-Z].+)\?",
    }
    for example in about.examples:
        if (pattern := patterns.get(example.kind)) is None:
            continue
        names = re.fullmatch(pattern, example.question).groupdict()
        a, b = names["a"], names.get("b", "")
        combine = {"both": set.__and__, "not": set.__sub__}.get(example.kind, lambda one, _: one)
        truths = [combine(sources(kind, a), sources(kind, b)) for kind in {edge.type for edge in EDGES}]
        answer = asked(languages, example.question).answer
        told = (
            {str(len(truth)) for truth in truths} if example.kind == "count" else {", ".join(sorted(t)) for t in truths}
        )
        given = answer if example.kind == "count" else ", ".join(sorted(answer.split(", ")))
        assert given in told, example


def test_each_edge_of_the_schema_has_a_question(about, languages):
    questions = dict(zip(languages.schema.edges, about.asks, strict=True))
    said = {(one.source, one.type, one.target): text for one, text in questions.items()}
    assert said["language", "designed_by", "person"] == "How many languages per person?"
    assert said["person", "worked_at", "organization"] == "How many people per organization?"


def test_words_that_are_not_english_are_put_in_no_english_sentence(tmp_path):
    (tmp_path / "kunden.csv").write_text("kunde,ort\nAnna,Köln\nBert,Köln\nCarl,Bonn\nDora,Bonn\n")
    import_graph([tmp_path / "kunden.csv"], tmp_path / "graph")
    about = overview(Graph.open(tmp_path / "graph"))
    assert not re.search(r"\b(have|has|Which|kundens|orts)\b", about.text)
    assert {example.kind for example in about.examples} <= {"path"}


def test_documents_are_files_and_passages_with_questions_that_are_quoted(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "pay.md").write_text(
        "# Pay\n\n## The wage slip\n\nThe wage slip is a letter that lists what somebody earned in a month.\n\n"
        "## When are wages paid?\n\nWages are paid on the last working day of each month.\n"
    )
    (folder / "travel.md").write_text("# Travel\n\n## Trains\n\nStaff travel by train, second class.\n")
    build_graph([folder], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    about = overview(graph)
    assert about.text.startswith("2 files")
    assert "passage" in about.text
    assert "chunk" not in about.text
    quoted = [example.question for example in about.examples if example.kind == "quotation"]
    assert quoted == ["What is the wage slip?", "When are wages paid?"]
    for example in about.examples:
        assert asked(graph, example.question).answer, example


@pytest.mark.data
@pytest.mark.parametrize("name", ["hetionet", "debian_bookworm", "primekg_ibd"])
def test_examples_of_real_graphs_have_answers(real_graph, name):
    graph = Graph.open(real_graph(name).path)
    about = overview(graph)
    assert f"{len(graph.arrays.names):,} nodes" in about.text
    assert about.examples  # how many depends on the time that the machine gives
    for example in about.examples:
        result = asked(graph, example.question)
        assert result.reading.complete, example
        assert result.answer or result.total, example


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["chinook", "code", "erp", "erp2", "erpx", "family", "family2", "gedcom", "league", "org"]
)
def test_examples_of_peoples_folders_have_answers(data_folder, tmp_path, name):
    if not (source := data_folder / "people" / name).is_dir():
        pytest.skip(f"{source} is not here")
    import_graph([source], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    about = overview(graph)
    assert about.examples or name == "org"
    network = graph.to_networkx().to_undirected() if name != "code" else None
    for example in about.examples:
        result = asked(graph, example.question)
        assert result.reading.complete, example
        assert result.answer or result.total, example
        if example.kind == "path" and network is not None:
            import networkx

            ends = [result.hits[0].id, result.hits[result.total - 1].id]
            assert networkx.shortest_path_length(network, *ends) == result.total - 1


@pytest.mark.data
@pytest.mark.parametrize("name", ["hetionet", "debian_bookworm"])
def test_questions_about_types_and_edges_are_lines_that_are_read(real_graph, name):
    graph = Graph.open(real_graph(name).path)
    retriever, schema = Retriever(graph, "anchor", settings=Settings()), graph.schema
    for source, kind, target in list(schema.edges)[:6]:
        ends = ("<-", "->") if kind in schema.symmetric else ("-", "->")
        label = schema.label
        line = f"count {label(source)} per {ends[0]}{label(kind)}{ends[1]} {label(target)}"
        assert retriever.ask("how many", 3, reading=line).reading.complete
    for kind in schema.node_types:
        assert retriever.ask("which", 3, reading=schema.label(kind)).total == schema.node_types[kind]
