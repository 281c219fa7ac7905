"""GRBench's graph.json, corpora of passages and OTT-QA's tables as graphs."""

import json

import pytest

from fakes.inside import inside
from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph, validate_sources
from orienteer.lab.formats import grbench_entries, ottqa_segments
from orienteer.retriever import Retriever
from orienteer.settings import Settings

PAPERS = {
    "paper_nodes": {
        "p1": {
            "features": {"title": "On lenses", "abstract": "We grind.", "year": 2001, "lang": ""},
            "neighbors": {"author": ["a1", "a2"], "reference": [], "cited_by": ["p2"], "venue": ["v1"]},
        },
        "p2": {
            "features": {"title": "On mirrors", "abstract": "We polish."},
            "neighbors": {"author": ["a1"], "reference": ["p1"], "cited_by": [], "venue": ["v1"]},
        },
    },
    "author_nodes": {
        "a1": {"features": {"name": "Ada Holm"}, "neighbors": {"paper": ["p1", "p2"]}},
        "a2": {"features": {"name": "Noor Vik"}, "neighbors": {"paper": ["p1"]}},
    },
    "venue_nodes": {"v1": {"features": {"name": "Optics"}, "neighbors": {"paper": ["p1", "p2"]}}},
}
GENES = {
    "Disease_nodes": {"d1": {"features": {"name": "gout"}, "neighbors": {"Disease-associates-Gene": ["g1", "g2"]}}},
    "Gene_nodes": {
        "g1": {
            "features": {"name": "ABCG2"},
            "neighbors": {
                "Disease-associates-Gene": ["d1"],
                "Gene-interacts-Gene": ["g2"],
                "Gene-regulates-Gene": ["g2"],
            },
        },
        "g2": {
            "features": {"name": "SLC2A9"},
            "neighbors": {"Disease-associates-Gene": ["d1"], "Gene-interacts-Gene": ["g1"], "Gene-regulates-Gene": []},
        },
    },
}


@pytest.fixture
def made(tmp_path):
    """Give a function that imports a source and opens the graph, and returns the report with it."""

    def make(source, **options):
        report = import_graph([source], tmp_path / "graph", options=ImportOptions(force=True, **options))
        return Graph.open(tmp_path / "graph"), report

    return make


def _edges(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


def test_a_relation_with_two_names_is_stored_once(tmp_path, made):
    (tmp_path / "graph.json").write_text(json.dumps(PAPERS))
    graph, report = made(tmp_path / "graph.json")
    assert report.node_types == {"paper": 2, "author": 2, "venue": 1}
    assert _edges(graph) == [
        ("p1", "author", "a1"),
        ("p1", "author", "a2"),
        ("p1", "cited_by", "p2"),
        ("p1", "venue", "v1"),
        ("p2", "author", "a1"),
        ("p2", "venue", "v1"),
    ]
    paper = graph.node("p1")
    assert (paper.name, paper.text, dict(paper.properties)) == ("On lenses", "We grind.", {"year": 2001})
    assert sorted(note.split(":")[0] for note in report.notes) == [
        "'paper' is 'author' the other way round",
        "'paper' is 'venue' the other way round",
        "'reference' is 'cited_by' the other way round",
    ]


CITING = {"p1": [], "p2": ["p1"], "p3": ["p1", "p2"], "p4": ["p1"]}
TITLES = {"p1": "Grinding glass", "p2": "Polishing silver", "p3": "Deep telescopes", "p4": "Sand dunes"}
WROTE = {"Ada Holm": ["p1", "p2", "p3"], "Noor Vik": ["p1", "p3"], "Mina Rask": ["p4"]}
BACK = {paper: [other for other, cited in CITING.items() if paper in cited] for paper in CITING}


def written_papers(order):
    """Return papers in the published form; the one that comes first names the citations by what it has."""
    edges = {
        paper: {
            "author": [f"a {name}" for name, own in WROTE.items() if paper in own],
            "venue": ["v1"],
            "reference": CITING[paper],
            "cited_by": BACK[paper],
        }
        for paper in order
    }
    return {
        "paper_nodes": {one: {"features": {"title": TITLES[one]}, "neighbors": ends} for one, ends in edges.items()},
        "author_nodes": {
            f"a {name}": {"features": {"name": name}, "neighbors": {"paper": own}} for name, own in WROTE.items()
        },
        "venue_nodes": {"v1": {"features": {"name": "Optics"}, "neighbors": {"paper": list(order)}}},
    }


@pytest.mark.parametrize(
    ("order", "stored"), [(("p3", "p1", "p2", "p4"), "reference"), (("p1", "p2", "p3", "p4"), "cited_by")]
)
def test_questions_may_say_either_name_of_a_relation(tmp_path, made, order, stored):
    """After six of dblp's templates, and as people ask; what is asked over two steps is refused, and its word named."""
    (tmp_path / "graph.json").write_text(json.dumps(written_papers(order)))
    graph, _ = made(tmp_path / "graph.json")
    assert stored in {edge.type for edge in graph.iter_edges()}
    anchor = Retriever(graph, "anchor", settings=Settings())
    expected = {
        'How many papers cite the paper "Grinding glass"?': BACK["p1"],
        'How many academic works referenced the paper "Polishing silver"?': BACK["p2"],
        'How many papers does paper "Deep telescopes" cite?': CITING["p3"],
        'Which papers are cited by "Deep telescopes"?': CITING["p3"],
        'Which papers cite "Polishing silver"?': BACK["p2"],
        "Which is the most cited paper?": ["p1"],
        'Where is the paper "Sand dunes" published?': ["v1"],
        'Who are the authors of paper "Deep telescopes?"': ["a Ada Holm", "a Noor Vik"],
        "How many papers did author Ada Holm write?": WROTE["Ada Holm"],
    }
    for question, ids in expected.items():
        found = anchor.search(question)
        assert found.refusal is None, question
        assert sorted(hit.id for hit in found.hits[: found.reading.total]) == sorted(ids), question
    refused = anchor.search('Who collaborates with author Ada Holm to write paper "Deep telescopes"?').refusal
    assert refused.words == ("collaborates",)


def test_edges_at_both_ends_are_stored_once(tmp_path, made):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "graph.json").write_text(json.dumps(GENES))
    graph, report = made(tmp_path / "data")
    assert _edges(graph) == [
        ("d1", "Disease-associates-Gene", "g1"),
        ("d1", "Disease-associates-Gene", "g2"),
        ("g1", "Gene-interacts-Gene", "g2"),
        ("g1", "Gene-regulates-Gene", "g2"),
    ]
    assert report.symmetric == ("Gene-interacts-Gene",)
    assert [(cut.reason, cut.count) for cut in report.merged] == [("mirrored", 3)]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_the_file_is_read_piece_by_piece(tmp_path, monkeypatch, size):
    monkeypatch.setattr(inside(grbench_entries), "CHUNK", size)
    for text in (json.dumps(PAPERS), json.dumps(PAPERS, indent=2)):
        (tmp_path / "graph.json").write_text(text)
        found = [(one.type, one.id, one.features, one.neighbors) for one in grbench_entries(tmp_path / "graph.json")]
        assert found == [
            (group.removesuffix("_nodes"), node_id, value["features"], value["neighbors"])
            for group, nodes in PAPERS.items()
            for node_id, value in nodes.items()
        ]


def test_an_unknown_neighbor_is_reported(tmp_path, made):
    (tmp_path / "graph.json").write_text('{"a_nodes": {"1": {"features": {}, "neighbors": {"x": ["2", "1"]}}}}')
    graph, report = made(tmp_path / "graph.json")
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("dangling", 1)]
    assert _edges(graph) == [("1", "x", "1")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(PAPERS)[:200], "incomplete or invalid JSON"),
        (json.dumps(PAPERS)[:-1], "it is incomplete"),
        (json.dumps(PAPERS) + " {}", "goes on after its last object"),
        (json.dumps(PAPERS) + "\n" * (1 << 21) + "]", "goes on after its last object"),
        ('{"a_nodes": {}, "edges": {}}', "'edges' is not a group of nodes"),
        ('{"a_nodes": {"1": 5}}', "'1' has no features"),
        ('{"a_nodes": {"1": {"neighbors": {"x": "2"}}}}', "not lists of ids"),
        ('{"a_nodes": {}}', "hold no node"),
    ],
)
def test_a_file_that_is_not_whole(tmp_path, text, said):
    (tmp_path / "graph.json").write_text(text)
    with pytest.raises(BadInput, match=said):
        validate_sources([tmp_path / "graph.json"])


# ------------------------------------------------------------------------------------------------------------- corpora


def test_a_list_of_passages_is_a_graph_without_edges(tmp_path, made):
    passages = [{"title": "Ferry", "text": "A boat.", "idx": 0}, {"title": "Salt", "text": "It is white."}]
    (tmp_path / "musique_corpus.json").write_text(json.dumps(passages))
    (tmp_path / "musique.json").write_text("[]")
    graph, report = made(tmp_path)
    assert (report.node_types, report.edges) == ({"chunk": 2}, 0)
    assert [graph.node(one).name for one in ("0", "1")] == ["Ferry", "Salt"]
    assert [hit.id for hit in graph.search("white", 5)] == ["1"]
    (tmp_path / "hotpotqa_corpus.json").write_text("[]")
    with pytest.raises(BadInput, match="several corpora"):
        validate_sources([tmp_path])


def test_mfars_corpus(tmp_path, made):
    (tmp_path / "corpus").write_text('7\t{"title": "Box", "feature": ["Oak"]}\n9\t{"title": "Sleeve"}\n')
    graph, _ = made(tmp_path)
    assert (graph.node("7").name, graph.node("7").text) == ("Box", "Oak")
    (tmp_path / "corpus").write_text("no tab\n")
    with pytest.raises(BadInput, match="line 1"):
        validate_sources([tmp_path])


def test_questions_beside_a_corpus_are_left_out(tmp_path, made):
    (tmp_path / "corpus.jsonl").write_text('{"pid": 3, "title": "Ferry", "text": "A boat."}\n')
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "?", "answer": "x", "type": "bridge"}\n')
    graph, report = made(tmp_path)
    assert report.node_types == {"chunk": 1}
    assert graph.node("3").name == "Ferry"
    assert [one.reason for one in report.ignored] == ["questions, no part of the graph"]


# -------------------------------------------------------------------------------------------------------------- OTT-QA


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, [0]), (4, [4]), (10, [10]), (14, [14]), (15, [10, 5]), (24, [10, 14]), (25, [10, 10, 5])]
)
def test_tables_are_cut_into_segments_of_ten_rows(count, sizes):
    cut = ottqa_segments(count)
    assert [len(part) for part in cut] == sizes
    assert [row for part in cut for row in part] == list(range(count))


def test_ottqas_own_files(tmp_path, made):
    tables, passages = tmp_path / "data" / "traindev_tables_tok", tmp_path / "data" / "traindev_request_tok"
    tables.mkdir(parents=True)
    passages.mkdir()
    rows = [[[f"song {number}", ["/wiki/Salt_(film)"]], ["1998", []]] for number in range(15)]
    table = {"uid": "Songs_0", "title": "Songs", "header": [["Name", []], ["Year", []]], "data": rows,
             "section_title": "List", "section_text": "", "intro": ""}  # fmt: skip
    (tables / "Songs_0.json").write_text(json.dumps(table))
    (passages / "Songs_0.json").write_text(json.dumps({"/wiki/Salt_(film)": "Salt is a film ."}))
    (passages / "Other_0.json").write_text(json.dumps({"/wiki/Salt_(film)": "Salt is a film ."}))
    graph, report = made(tmp_path)
    assert report.node_types == {"chunk": 1, "table": 2}
    assert graph.node("/wiki/Salt_(film)").name == "Salt (film)"
    segment = graph.node("Songs_0#1")
    assert segment.name == "Songs"
    assert segment.text.splitlines() == ["List", "Name | Year", *(f"song {number} | 1998" for number in range(10, 15))]
    assert dict(segment.properties) == {"table": "Songs_0", "first_row": 10, "rows": 5}
    with pytest.raises(BadOption, match="--private has no meaning"):
        validate_sources([tmp_path], options=ImportOptions(private=("intro",)))
    (tables / "Songs_0.json").write_text('{"uid": "Songs_0"}')
    with pytest.raises(BadInput, match="not a table of OTT-QA"):
        validate_sources([tmp_path])


@pytest.mark.data
def test_the_real_tables(data_folder):
    report = validate_sources([data_folder / "ottqa"])
    assert report.node_types == {"chunk": 17_841, "table": 975}
