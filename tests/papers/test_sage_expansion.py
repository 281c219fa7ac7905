"""SAGE's expansion: over edges beside the graph, by rows of tables, among parts of documents; section 2.2.B."""

import json

import numpy as np
import pytest

from fakes.embedder import embedded
from fakes.limits import limits_in
from orienteer.graph import (
    EdgeBatch,
    Graph,
    GraphBuilder,
    LayerAbout,
    SimilarPairs,
    open_similar_layer,
    publish_similar_layer,
)
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.methods import SIMILAR_LAYER, EdgeWeight, LinkingRows, OneHop, Sage, SageConfig, SeedExpander
from orienteer.records import Edge, Node, Question

pytestmark = pytest.mark.slow

WORDS = ["river", "town", "bridge", "tower", "king", "war", "ship", "grain", "stone", "mill"]
QUESTION = "Which river town has a Bridge Tower?"


def made(folder, nodes, edges, greatest):
    """A graph as `build` makes it, embedded."""
    with GraphBuilder(folder / "graph", provenance={"made_by": "build", "greatest_weights": greatest}) as builder:
        for node in nodes:
            builder.add_node(node)
        if edges:
            builder.add_edges(
                EdgeBatch(
                    [edge.source for edge in edges],
                    [edge.type for edge in edges],
                    [edge.target for edge in edges],
                    [edge.extras for edge in edges],
                )
            )
        builder.publish()
    return embedded(Graph.open(folder / "graph"), folder / "cache")


def ask(graph, text=QUESTION, **options):
    limits = limits_in(options)
    return Sage(graph, SageConfig(**options)).retrieve(Question(text=text, **limits), Allowance())


def ids(result):
    return [hit.id for hit in result.hits]


def lie_beside(graph, pairs):
    about = LayerAbout(
        generation=graph.arrays.manifest.generation,
        embedder="words",
        nodes=len(graph),
        candidates=len(pairs),
        threshold=0.0,
        edges=len(pairs),
        mean_degree=2 * len(pairs) / len(graph),
        density=1.0,
    )
    rows = np.array([(graph.arrays.row(one), graph.arrays.row(other)) for one, other in pairs], np.int32)
    publish_similar_layer(
        graph, about, SimilarPairs(rows[:, 0], rows[:, 1], np.array(list(pairs.values()), np.float32))
    )
    return Graph.open(graph.path, embedder=graph.arrays.searcher.open_embedder)


# ---------------------------------------------------------------------------------------------- edges beside a graph


@pytest.fixture(scope="module", params=[0, 1])
def twins(request, tmp_path_factory):
    """One set of nodes and edges twice: edges of similarity in the graph, and beside it."""
    random = np.random.default_rng(request.param)
    nodes = [Node(f"n{at:02}", "chunk", f"Node {at}", " ".join(random.choice(WORDS, 12))) for at in range(60)]
    own = []
    for _ in range(60):
        a, b = random.choice(60, 2, replace=False).tolist()
        own.append(Edge(f"n{a:02}", "mentions", f"n{b:02}", weight=float(random.uniform(0.1, 9))))
    pairs = {}
    for _ in range(120):
        a, b = sorted(random.choice(60, 2, replace=False).tolist())
        pairs[f"n{a:02}", f"n{b:02}"] = float(np.float32(random.uniform(0.2, 0.9)))
    alike = [Edge(a, "similar", b, weight=weight) for (a, b), weight in pairs.items()]
    folder = tmp_path_factory.mktemp("twins")
    greatest = {"mentions": 9.0, "similar": max(pairs.values())}
    within = made(folder / "within", nodes, [*own, *alike], greatest)
    beside = lie_beside(made(folder / "beside", nodes, own, greatest), pairs)
    return within, beside


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"similar": 1.0},
        {"pruning": "hybrid"},
        {"edge_types": ("similar",)},
        {"edge_types": ("similar", "mentions"), "similar": 0.5},
        {"faithful": True},
        {"order": "seeds", "similar": 1.0},
        {"order": "joint", "similar": 1.0},
    ],
)
def test_edges_beside_a_graph_count_like_its_own(twins, options):
    within, beside = twins
    for text in (QUESTION, "stone mill", "king of the ship"):
        assert ids(ask(within, text, **options)) == ids(ask(beside, text, **options))


def test_edge_types_leave_them_out(twins):
    within, beside = twins
    for kinds in (("mentions",),):
        assert ids(ask(within, edge_types=kinds)) == ids(ask(beside, edge_types=kinds))
        assert not OneHop(beside, SageConfig(edge_types=kinds)).has_layer


def test_what_is_walked_is_told(twins):
    """The tools plan over the graph's own edges; what lay beside it stands in the reasons, the notes and the marks."""
    _, beside = twins
    found = ask(beside, similar=1.0, k=20)
    assert any("-similar-" in hit.why for hit in found.hits)
    assert any("beside the graph" in note for note in found.notes)
    (walked,) = found.trajectories
    assert walked.marks == ("similar",)
    assert all(one.is_equal for one in replay_trajectory(walked, beside))
    assert "similar" not in beside.schema.edge_types
    assert not any("similar" in seen.text for step in walked.steps for seen in step.observations)
    alone = ask(beside, edge_types=("similar",))
    assert any("-similar-" in hit.why for hit in alone.hits)
    assert [call.name for step in alone.trajectories[0].steps for call in step.reply.message.tool_calls] == [
        "search_in_graph"
    ]


def test_what_is_reached_says_which_edge_lies_beside(twins):
    _, beside = twins
    walk = OneHop(beside, SageConfig(similar=1.0))
    seeds = np.array([3, 7], np.int32)
    found = walk.from_(seeds, np.ones(2), QUESTION)
    assert found.rows.tolist() == walk.neighbors(seeds).tolist()
    layer = open_similar_layer(beside)
    alike = layer.neighbors_of(seeds)
    for row, through, edge, kind in zip(found.rows, found.through, found.edge, found.kind, strict=True):
        if kind == SIMILAR_LAYER:
            assert edge == SIMILAR_LAYER
            assert (int(through), int(row)) in set(zip(alike.owner.tolist(), alike.neighbor.tolist(), strict=True))
        else:
            assert beside.arrays.adjacency.neighbor[edge] == row
    assert (found.kind == SIMILAR_LAYER).any()
    assert (found.kind != SIMILAR_LAYER).any()
    assert layer.greatest == pytest.approx(alike.weight.max(), abs=1)


# ------------------------------------------------------------------------------------------------------ rows of tables


TABLE = {"first_row": 4, "rows": 3, "document": "t", "order": 0}
ROWS = ("Night Ferry | Ada Holm | Salt Bay", "Low Tide | Noor Vik | Rye", "High Tide | Bo | Ely")
LINES = "\n".join(["Fleet", "Ship | Captain | Port", *ROWS])
MENTIONS = {"a": [4], "b": [5], "c": [4, 6], "d": None}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    nodes = [Node("t", "document", "Fleet"), Node("t#0", "table", "Fleet", LINES, properties=TABLE)]
    nodes += [Node(key, "chunk", f"Name {key}", "a passage about a harbour") for key in "abcd"]
    edges = [Edge("t#0", "part_of", "t")]
    edges += [
        Edge("t#0", "mentions", key, weight=4.0, properties={"names": [key]} | ({"rows": rows} if rows else {}))
        for key, rows in MENTIONS.items()
    ]
    return made(tmp_path_factory.mktemp("fleet"), nodes, edges, {"mentions": 8.0})


def share(graph, question, row):
    """The share of the question that a row holds, each term by its idf."""
    line = ROWS[row - 4]
    weights = {
        term: one.idf
        for term in graph.arrays.tokenizer.query(question)
        if (one := graph.arrays.text_index.posting(term))
    }
    held = set(graph.arrays.tokenizer.terms(line))
    return sum(weight for term, weight in weights.items() if term in held) / sum(weights.values())


def entries_of(graph, node):
    return graph.arrays.adjacency.entries(np.array([graph.arrays.row(node)], np.int32))


QUESTIONS = ["Who is captain of the Low Tide at Rye?", "Which ship does Ada Holm sail?", "tide", "zebra"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_mention_counts_by_how_well_its_row_fits(fleet, question):
    entries = entries_of(fleet, "t#0")
    counted = EdgeWeight(fleet, SageConfig(rows=10.0)).of(entries, question)
    by_node = {fleet.arrays.ids[row]: value for row, value in zip(entries.neighbor, counted, strict=True)}
    has_words = any(fleet.arrays.text_index.posting(term) for term in fleet.arrays.tokenizer.query(question))
    for key, rows in MENTIONS.items():
        fit = max(share(fleet, question, row) for row in rows) if rows and has_words else 0.0
        assert by_node[key] == pytest.approx(0.5 * (1 + 10 * (0.1 + fit) if rows else 1))
    assert by_node["t"] == pytest.approx(0.2)  # no row, no weight


def test_it_counts_the_same_from_the_other_end(fleet):
    question = QUESTIONS[0]
    forth = LinkingRows(fleet).shares(question, entries_of(fleet, "t#0"))
    to_b = entries_of(fleet, "t#0").neighbor.tolist().index(fleet.arrays.row("b"))
    back = LinkingRows(fleet).shares(question, entries_of(fleet, "b"))
    assert back.tolist() == [forth[to_b]] == [pytest.approx(share(fleet, question, 5))]
    assert back[0] > 0.3


def test_without_rows_nothing_is_weighed(fleet):
    entries = entries_of(fleet, "t#0")
    assert EdgeWeight(fleet, SageConfig(rows=0.0)).of(entries, QUESTIONS[0]).max() == pytest.approx(0.5)


def test_rows_of_many_edges_are_those_of_each(fleet):
    places = np.arange(len(fleet.arrays.adjacency.neighbor))
    expected = {
        int(at): tuple(rows)
        for at in places
        if (rows := fleet.arrays.extras(int(at)).get("properties", {}).get("rows"))
    }
    assert expected
    assert fleet.arrays.weights.rows(places) == expected
    assert fleet.arrays.weights.rows(places[::-1]) == {len(places) - 1 - at: rows for at, rows in expected.items()}


@pytest.mark.parametrize("rows", [["1"], "4", [], [1.5], None, {"4": 1}])
def test_rows_that_are_none_are_left_alone(rows):
    carried = Edge("a", "mentions", "b", properties={"rows": rows})
    graph = Graph.from_records([Node("a", "table", text="x\ny"), Node("b")], [carried])
    entries = entries_of(graph, "a")
    assert graph.arrays.weights.rows(entries.at) == {}
    assert EdgeWeight(graph, SageConfig()).of(entries, "x").tolist() == [1]


@pytest.mark.parametrize("known", [{}, {"first_row": 1}, {"first_row": 1, "rows": 99}, {"first_row": "1", "rows": 1}])
def test_a_table_that_does_not_say_its_rows_fits_no_question(known):
    carried = Edge("a", "mentions", "b", properties={"rows": [1]})
    nodes = [Node("a", "table", text="river\nriver", properties=known), Node("b")]
    graph = Graph.from_records(nodes, [carried])
    found = LinkingRows(graph).shares("river", entries_of(graph, "a"))
    assert found.tolist() == [0.0]


def test_the_row_that_fits_brings_its_mention_first(fleet):
    found = ids(ask(fleet, "Fleet: who is captain of the Low Tide at Rye?", k=2))
    assert found == ["t#0", "b"]
    found = ids(ask(fleet, "Fleet: who is captain of the Night Ferry at Salt Bay?", k=2))
    assert found in (["t#0", "a"], ["t#0", "c"])


# ------------------------------------------------------------------------------------------------- parts of documents


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """Documents that are called what the question asks, and their parts."""
    nodes, edges = [], []
    for at in range(6):
        about = {"document": f"d{at}"}
        nodes.append(Node(f"d{at}", "document", f"River Town Bridge {at}", "river town bridge tower"))
        for part in range(3):
            text = " ".join(WORDS[(at + part + step) % 10] for step in range(5))
            nodes.append(Node(f"d{at}#{part}", "chunk", f"Part {at} {part}", text, properties=about | {"order": part}))
            edges.append(Edge(f"d{at}#{part}", "part_of", f"d{at}"))
        edges.append(Edge(f"d{at}#0", "mentions", f"d{(at + 1) % 6}#1", weight=2.0))
    return made(tmp_path_factory.mktemp("papers"), nodes, edges, {"mentions": 2.0})


def test_a_document_is_found_by_its_parts(papers):
    assert papers.arrays.type_at(papers.arrays.row(papers.search(QUESTION, 1)[0].id)) == "document"
    for options in ({}, {"policy": "none"}, {"weight": 0.6}, {"order": "joint"}, {"titles": 0.0}):
        assert all("#" in node for node in ids(ask(papers, k=10, **options)))
        assert len(ids(ask(papers, k=10, **options))) == 10


def test_a_document_is_an_answer_where_it_is_asked_for(papers):
    assert {hit.type for hit in ask(papers, k=6, node_types=("document",)).hits} == {"document"}


# ------------------------------------------------------------------------------------ the ranking without its record


@pytest.mark.parametrize("twins", [0], indirect=True)
@pytest.mark.parametrize("k", [1, 7, 20])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"titles": 0.5},
        {"titles": 0.0},
        {"weight": 0.6},
        {"policy": "none"},
        {"order": "seeds"},
        {"order": "joint"},
        {"faithful": True},
        {"node_types": ("chunk",)},
        {"node_types": ("table",), "titles": 0.5},
    ],
)
def test_the_ranking_alone_is_that_of_the_method(fleet, papers, twins, options, k):
    for graph in (fleet, papers, twins[1]):
        if set(options.get("node_types", ())) <= set(graph.arrays.types.nodes):
            for text in (QUESTION, "Who is captain of the Low Tide? Ask Node 3, or Part 1 2."):
                own = dict(options)
                question = Question(text=text, k=k, **limits_in(own))
                rows = SeedExpander(graph, SageConfig(**own).settled()).of(question).ranking()
                assert [graph.arrays.ids[row] for row in rows] == ids(ask(graph, text, k=k, **options))


def test_seeds_that_the_question_names_are_in_the_trail(papers):
    """The tools' search knows no bonus: the neighbourhood of a seed that it did not find is looked at by itself."""
    text = "river town bridge tower king war, as Part 4 2 and Part 5 0 say?"
    plain, raised = (SeedExpander(papers, SageConfig(titles=titles)).of(Question(text=text)) for titles in (0.0, 1.0))
    tools, seeds = ({papers.arrays.ids[row] for row in one.seeds(2, is_filtered=False)} for one in (plain, raised))
    assert seeds == {"d4#2", "d5#0"} != tools
    found = ask(papers, text, k=4, titles=1.0)
    assert {hit.id for hit in found.hits if hit.why.startswith("seed")} == seeds
    assert any(
        hit.why.startswith("no neighbour left") for hit in ask(papers, text, k=20, edge_types=("mentions",)).hits
    )
    calls = [
        (call.name, json.loads(call.arguments))
        for step in found.trajectories[0].steps
        for call in step.reply.message.tool_calls
    ]
    starts = [arguments["node"] for name, arguments in calls if name == "search_in_neighborhood"]
    assert starts == ["@1", *sorted(seeds - tools, key=starts.index)]
    assert all(one.is_equal for one in replay_trajectory(found.trajectories[0], papers))
