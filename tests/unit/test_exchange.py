"""Graphs of networkx and data frames, there and back; what Python programs hold, and what is none of it."""

import datetime
import json
import logging
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import networkx
import numpy
import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet

import clinic
import films
from orienteer import Graph
from orienteer.errors import BadInput, BadOption, UnknownNode
from orienteer.ingest import import_graph
from orienteer.records import Edge, Node
from orienteer.retriever import Retriever
from orienteer.serve import main


def content(graph):
    nodes = [graph.node(node_id) for node_id in graph.node_ids()]
    return nodes, sorted(map(repr, graph.iter_edges())), graph.schema


@pytest.fixture(scope="module", params=["small", "clinic", "films", "languages"])
def world(request, build, small, tmp_path_factory):
    if request.param == "languages":
        folder = tmp_path_factory.mktemp("languages")
        import_graph([files("orienteer.ingest") / "demo"], folder / "graph")
        return Graph.open(folder / "graph")
    worlds = {"clinic": clinic, "films": films}
    made = small if request.param == "small" else build(worlds[request.param].NODES, worlds[request.param].EDGES)
    return Graph.open(made.path)


@pytest.mark.slow
def test_a_network_gives_every_graph_back(world):
    network = world.to_networkx()
    assert isinstance(network, networkx.MultiDiGraph)
    assert sorted(network) == list(world.node_ids())
    assert sorted((a, data["type"], b) for a, b, data in network.edges(data=True)) == sorted(
        (edge.source, edge.type, edge.target) for edge in world.iter_edges()
    )
    assert content(Graph.from_networkx(network)) == content(world)


@pytest.mark.slow
def test_frames_give_every_graph_back(world):
    nodes, edges = world.to_frames()
    assert isinstance(nodes, pandas.DataFrame)
    assert list(nodes["id"]) == list(world.node_ids())
    assert len(edges) == sum(1 for _ in world.iter_edges())
    again = Graph.from_frames(nodes, edges)
    assert _loosely(again) == _loosely(world)
    assert again.schema.symmetric == world.schema.symmetric


def _loosely(graph):
    """Numbers of one column are numbers of one kind in a frame: 8 and 8.5 are 8.0 and 8.5."""
    return [graph.node(node_id) for node_id in graph.node_ids()], sorted(
        (edge.source, edge.type, edge.target, edge.text, edge.weight, sorted(edge.properties.items()))
        for edge in graph.iter_edges()
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
def test_a_network_is_read_as_the_file_that_networkx_writes_of_it(kind, tmp_path):
    network = kind()
    network.add_node("a", label="Ann", kind="person", born=1961, score=0.5, flag=True)
    network.add_node("b", name="Ben", description="Likes rain.")
    network.add_edge("a", "b", relation="knows", since=1999, weight=2.5)
    network.add_edge("b", "c")
    networkx.write_graphml(network, tmp_path / "network.graphml")
    import_graph([tmp_path / "network.graphml"], tmp_path / "made")
    assert content(Graph.from_networkx(network)) == content(Graph.open(tmp_path / "made"))


def test_nodes_of_a_network_can_be_anything_and_texts_that_are_keys_are_types():
    network = networkx.MultiDiGraph()
    network.add_node(1, when=datetime.date(2020, 2, 1), gone=float("nan"), at=(1, 2))
    network.add_edge(1, (0, 1), key="knows")
    network.add_edge(1, (0, 1))
    graph = Graph.from_networkx(network)
    assert graph.node("1").properties == {"when": "2020-02-01", "at": [1, 2]}
    assert sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges()) == [
        ("1", "edge", "(0, 1)"),
        ("1", "knows", "(0, 1)"),
    ]


PEOPLE = {
    "id": [1, 2, 3],
    "name": ["Ann", "Ben", "Cid"],
    "type": ["person", "person", None],
    "born": [datetime.datetime(1961, 4, 30), None, datetime.datetime(1999, 1, 1, 12, 30)],
    "height": [1.5, None, 1.75],
    "children": [2, None, 0],
    "tags": [["a", "b"], None, ["c"]],
}
KNOWS = {"source": [1, 2], "target": [2, 3], "since": [1999, None], "weight": [0.5, None]}
WANTED_NODES = [
    Node("1", "person", "Ann", "", (),
         {"born": "1961-04-30T00:00:00", "height": 1.5, "children": 2, "tags": ["a", "b"]}),
    Node("2", "person", "Ben"),
    Node("3", "node", "Cid", "", (), {"born": "1999-01-01T12:30:00", "height": 1.75, "children": 0, "tags": ["c"]}),
]  # fmt: skip
WANTED_EDGES = [Edge("1", "edge", "2", weight=0.5, properties={"since": 1999}), Edge("2", "edge", "3")]


class OnlyArrow:
    """A frame of a package that is not known here."""

    def __init__(self, columns):
        self._table = pyarrow.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.table, OnlyArrow])
def test_frames_of_every_package_make_the_same_graph(frame):
    graph = Graph.from_frames(frame(PEOPLE), frame(KNOWS))
    assert [graph.node(node_id) for node_id in graph.node_ids()] == WANTED_NODES
    assert list(graph.iter_edges()) == WANTED_EDGES


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        ([datetime.datetime(2024, 8, 18), None, datetime.datetime(2023, 1, 2)], ["2024-08-18", "2023-01-02"]),
        (
            [datetime.datetime(2024, 8, 18), None, datetime.datetime(2023, 1, 2, 9)],
            ["2024-08-18T00:00:00", "2023-01-02T09:00:00"],
        ),
        ([datetime.datetime(2024, 8, 18, tzinfo=datetime.UTC)] * 3, ["2024-08-18T00:00:00+00:00"] * 3),
    ],
)
def test_times_that_are_all_midnight_are_dates(times, kept, tmp_path):
    """A workbook and a CSV of pandas have them so."""
    columns = {"id": ["a", "b", "c"], "name": ["Ann", "Ben", "Cid"], "met": times}
    frames = [pandas.DataFrame(columns), pandas.DataFrame(columns, dtype=object)]
    frames += [polars.DataFrame(columns), pyarrow.table(columns)]
    made = [Graph.from_frames(frame) for frame in frames]
    for unit in ("ns", "ms"):
        table = pyarrow.table(columns)
        stamps = table["met"].cast(pyarrow.timestamp(unit, table["met"].type.tz))
        parquet.write_table(table.set_column(2, "met", stamps), tmp_path / "people.parquet")
        import_graph([tmp_path / "people.parquet"], tmp_path / unit)
        made.append(Graph.open(tmp_path / unit))
    for graph in made:
        nodes = map(graph.node, graph.node_ids())
        assert [node.properties["met"] for node in nodes if "met" in node.properties] == kept


@pytest.mark.slow
def test_columns_are_known_by_the_names_of_tables_and_an_index_by_its_own():
    people = pandas.DataFrame({"title": ["Ann", "Ben"], "kind": ["p", "q"], "type": ["r", "s"], "x": [1, pandas.NA]})
    people.index = pandas.Index(["a", "b"], name="node_id")
    knows = pandas.DataFrame({"from": ["a"], "to": ["b"], "relation": ["knows"], "at": [pandas.NaT]})
    graph = Graph.from_frames(people, knows)
    assert [graph.node(name) for name in ("a", "b")] == [
        Node("a", "r", "Ann", "", (), {"kind": "p", "x": 1}),
        Node("b", "s", "Ben", "", (), {"kind": "q"}),
    ]
    assert list(graph.iter_edges()) == [Edge("a", "knows", "b")]
    alone = Graph.from_frames(None, knows)
    assert (list(alone.node_ids()), alone.schema.edge_types) == (["a", "b"], {"knows": 1})
    assert list(Graph.from_frames(people).iter_edges()) == []


GOALS = pandas.DataFrame({"team": ["Ajax", "PSV", "Ajax"], "year": [2023, 2023, 2024], "goals": [3, 5, 1]})
BY_TEAM = GOALS.groupby("team").agg({"goals": ["sum", "max"]})


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("frame", "names"),
    [
        (BY_TEAM, ["goals_max", "goals_sum"]),
        (BY_TEAM.reset_index(), ["goals_max", "goals_sum"]),
        (GOALS.pivot_table(index="team", columns="year", values="goals"), ["2023", "2024"]),
        (GOALS.pivot_table(index="team", columns="year", values=["goals"]), ["goals_2023", "goals_2024"]),
    ],
)
def test_columns_of_several_levels_are_called_by_all_of_them(frame, names, named):
    graph = Graph.from_frames({"teams": frame}) if named else Retriever(frame, "anchor").graph
    assert sorted(graph.node("Ajax").properties) == names


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (GOALS.set_index("team", drop=False), "team"),
        (GOALS.set_index(["team", "team"]), "team"),
        (pandas.DataFrame([[1, 2]], columns=pandas.MultiIndex.from_tuples([("a_b", "c"), ("a", "b_c")])), "a_b_c"),
    ],
)
def test_two_columns_or_levels_of_one_name_are_refused(frame, name):
    for make in (lambda: Graph.from_frames({"teams": frame}), lambda: Retriever(frame, "anchor")):
        with pytest.raises(BadInput, match=f"has two columns named '{name}': rename one of them"):
            make()


@pytest.mark.parametrize(
    ("nodes", "edges", "error", "message"),
    [
        (5, None, BadOption, "nodes is 5, a int: give a data frame"),
        (pandas.DataFrame({"id": [1]}), "edges.csv", BadOption, "edges is 'edges.csv', a str"),
        (None, None, BadOption, "there are no frames: give at least one"),
        ({}, None, BadOption, "there are no frames"),
        ({"a/b": pandas.DataFrame({"x": [1]})}, None, BadOption, "a frame is called 'a/b': give it a short name"),
        ({"README": pandas.DataFrame({"x": [1]})}, None, BadOption, "a frame is called 'README'"),
        ({7: pandas.DataFrame({"x": [1]})}, None, BadOption, "a frame is called 7"),
        ({"teams": [1, 2]}, None, BadOption, r"teams is \[1, 2\], a list: give a data frame"),
        ({"t": pandas.DataFrame([[1, 2]], columns=["x", "x"])}, None, BadInput, "t has two columns named 'x'"),
        ({"t": pandas.DataFrame({"x": [1]})}, pandas.DataFrame({"y": [1]}), BadOption, "put it among them"),
        (pandas.DataFrame({"x": [1]}), None, BadInput, "nodes has no column of ids: .* its columns are x"),
        (
            pandas.DataFrame({"id": [1]}),
            pandas.DataFrame({"x": [1]}),
            BadInput,
            "edges has no columns for the two ends",
        ),
        (
            pandas.DataFrame({"id": [1, 1], "x": [1, 2]}),
            None,
            BadInput,
            "Two different nodes have the id '1': nodes, line 1",
        ),
        (pandas.DataFrame({"id": ["a"], "x": [object()]}), None, BadInput, "row 1, column 'x': a object is not a JSON"),
        (pandas.DataFrame({"id": []}), None, BadInput, "nodes is empty"),
    ],
)
def test_what_is_no_graph_of_frames_is_one_clear_error(nodes, edges, error, message):
    with pytest.raises(error, match=message):
        Graph.from_frames(nodes, edges)


def test_rows_of_frames_that_are_dropped_are_logged_and_kept(caplog, capsys):
    nodes = pandas.DataFrame({"id": [1, None], "name": ["Ann", "Ben"]})
    edges = pandas.DataFrame({"source": [1], "target": [2]})
    with caplog.at_level(logging.WARNING):
        graph = Graph.from_frames(nodes, edges)
    assert [record.getMessage() for record in caplog.records] == [
        "frames: dropped 1 empty id",
        "frames: dropped 1 dangling",
    ]
    assert main(["info", str(graph.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dropped"] == [
        {"file": "edges", "reason": "dangling", "meaning": "an edge to a missing node", "count": 1},
        {"file": "nodes", "reason": "empty id", "meaning": "a row without an id", "count": 1},
    ]


LEAGUE = {
    "teams": {
        "Nr": [1, 2, 3],
        "club": ["Ajax", "PSV", "FC Twente"],
        "founded": [datetime.date(1900, 3, 18), datetime.date(1913, 8, 31), datetime.date(1965, 7, 1)],
        "budget": [1.5, 2.25, None],
        "professional": [True, True, False],
        "colours": [["red", "white"], ["red"], []],
    },
    "matches": {
        "id": ["m1", "m2", "m3", "m4", "m5", "m6"],
        "home": ["Ajax", "PSV", "FC Twente", "Ajax", "PSV", "Feyenoord"],
        "away": ["PSV", "Ajax", "Ajax", "FC Twente", "FC Twente", "Ajax"],
        "goals": [1, 2, 3, 4, 0, 1],
        "gate": ["1,234", "2,345", "3,456", "4,567", "5,678", "6,789"],
        "kick_off": [datetime.datetime(2020, 1, day, 14, 30) for day in range(1, 7)],
    },
    "cards": {
        "match": ["m1", "m2", "m2", "m3", "m3", "m3", "m4"],
        "player": ["Ann Vik", "Ben Holm", "Cid Lund", "Dea Berg", "Eli Dahl", "Fay Strand", "Gus Moe"],
    },
}


def _categories(columns):
    frame = pandas.DataFrame(columns)
    return frame.astype(dict.fromkeys(frame.columns.intersection(["home", "away"]), "category"))


@pytest.mark.parametrize(
    "frame", [pandas.DataFrame, _categories, polars.DataFrame, polars.LazyFrame, pyarrow.table, OnlyArrow]
)
def test_frames_by_name_have_the_plan_and_the_graph_of_a_folder_of_these_tables(frame, tmp_path, caplog):
    (tmp_path / "files").mkdir()
    for name, columns in LEAGUE.items():
        parquet.write_table(pyarrow.table(columns), tmp_path / "files" / f"{name}.parquet")
    report = import_graph([tmp_path / "files"], tmp_path / "graph")
    with caplog.at_level(logging.WARNING):
        graph = Graph.from_frames({name: frame(columns) for name, columns in LEAGUE.items()})
    assert content(graph) == content(Graph.open(tmp_path / "graph"))
    assert _plans(graph) == _plans(Graph.open(tmp_path / "graph"))
    assert graph.node("Ajax").properties == {
        "founded": "1900-03-18",
        "budget": 1.5,
        "professional": True,
        "colours": ["red", "white"],
    }
    open_ones = [f"{Path(each.file).stem}: open: {text}" for each in report.mapping for text in each.questions]
    assert open_ones
    assert [record.getMessage() for record in caplog.records] == open_ones


def _plans(graph):
    """Return how each table was read, by its name."""
    return {
        Path(each["file"]).stem: (each["kind"], each["type"], each["columns"], each["questions"])
        for each in graph.arrays.manifest.provenance["mapping"]
    }


def test_a_folder_of_csv_has_the_plan_of_its_frames(tmp_path):
    (tmp_path / "files").mkdir()
    frames = {
        name: pandas.DataFrame(columns).drop(columns="colours", errors="ignore") for name, columns in LEAGUE.items()
    }
    for name, frame in frames.items():
        frame.to_csv(tmp_path / "files" / f"{name}.csv", index=False)
    import_graph([tmp_path / "files"], tmp_path / "graph")
    assert _plans(Graph.from_frames(frames)) == _plans(Graph.open(tmp_path / "graph"))


def test_a_text_that_is_no_unicode_costs_its_row(caplog):
    frame = pandas.DataFrame({"id": ["a", "b", "c"], "name": ["Ann", "B\ud800", "Cid"]}, dtype=object)
    with caplog.at_level(logging.WARNING):
        graph = Graph.from_frames(frame)
    assert list(graph.node_ids()) == ["a", "c"]
    assert [record.getMessage() for record in caplog.records] == ["frames: dropped 1 bad encoding"]


def test_a_retriever_takes_frames_and_networks():
    frames = {name: pandas.DataFrame(columns) for name, columns in LEAGUE.items()}
    assert Retriever(frames, "anchor").ask("Which matches are away PSV?").answer == "m1"
    alone = Retriever(frames["teams"], "anchor")
    assert alone.graph.schema.node_types["row"] == 3
    assert alone.ask("How many rows?").answer == "3"
    network = networkx.DiGraph()
    network.add_node("ada", label="Ada Holm", kind="person")
    network.add_node("salt", label="Salt", kind="film")
    network.add_edge("ada", "salt", relation="directed")
    assert Retriever(network, "anchor").ask("Who directed Salt?").answer == "Ada Holm"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph.from_networkx({"a": 1}), "is no graph of networkx"),
        (lambda: Graph.from_networkx(None), "None is no graph of networkx"),
        (lambda: Graph.from_csv(7), "folder is 7"),
        (lambda: Graph.from_records(5, []), "nodes is 5: give a list"),
        (lambda: Graph.from_records("abc", []), "nodes is 'abc': give a list"),
        (lambda: Graph.from_records([], None), "edges is None: give a list"),
        (lambda: Retriever([1, 2], "anchor"), r"graph is \[1, 2\], a list: give a Graph, .* a dict of frames by name"),
        (lambda: Retriever(5, "anchor"), "graph is 5, a int: give a Graph"),
    ],
)
def test_arguments_of_wrong_types_are_named(make, message):
    with pytest.raises(BadOption, match=message):
        make()


def test_a_network_without_nodes_or_with_odd_values_is_refused():
    with pytest.raises(BadInput, match="no nodes"):
        Graph.from_networkx(networkx.Graph())
    network = networkx.Graph()
    network.add_node(1, x=object())
    with pytest.raises(BadInput, match="a object is not a JSON value"):
        Graph.from_networkx(network)


def test_records_take_what_programs_hold():
    graph = Graph.from_records(
        [
            {"id": 1, "year": numpy.int64(1999), "when": pandas.Timestamp("2020-02-01"), "gone": float("nan")},
            {"id": numpy.int32(2), "name": None, "at": numpy.datetime64("2020-02-01T10:00"), "none": pandas.NaT},
            {"id": 3.0, "properties": {"a": ""}, "b": numpy.array([1, 2])},
        ],
        [{"source": 1, "type": "knows", "target": 2, "since": 1999}],
    )
    assert graph.node("1").properties == {"year": 1999, "when": "2020-02-01T00:00:00", "gone": None}
    assert graph.node(2).properties == {"at": "2020-02-01T10:00", "none": None}
    assert graph.node("3").properties == {"a": "", "b": [1, 2]}
    assert list(graph.iter_edges()) == [Edge("1", "knows", "2", properties={"since": 1999})]
    assert graph.neighbors(1).total == 1
    assert graph.neighbors([1, 2]).total == 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"i": 5, "name": "x"}, r"lacks id: every node needs one. Did you mean 'i'\?"),
        ({"id": True}, "id is True .* a text or a whole number"),
        ({"id": None}, "lacks id"),
        ({"id": "a", "x": 1, "properties": {"x": 2}}, "'x' twice, as a key and under 'properties'"),
        ({"id": "a", "properties": [1]}, "it must be a mapping"),
        ({"id": "a", "type": 3}, "type is 3 .* must be a text"),
        (5, "5 is no node: give a Node"),
    ],
)
def test_records_that_are_none_are_named(record, message):
    with pytest.raises(BadInput, match=message):
        Graph.from_records([record], [])


@pytest.mark.parametrize("node", [None, 1.5, True, ["a"], object()])
def test_a_node_is_named_by_text_or_a_whole_number(node, small):
    with pytest.raises(BadOption, match="a node is named by its id or its name, a text"):
        small.node(node)


def test_a_number_that_is_no_id_is_unknown(small):
    with pytest.raises(UnknownNode, match="No node '1'"):
        small.node(1)


@pytest.mark.slow
def test_a_folder_of_tables_is_a_graph_and_a_retriever_takes_it(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name,type\na,Ann,person\nb,Ben,person\n,Cid,person\n")
    (folder / "edges.csv").write_text("source,target,type\na,b,knows\n")
    with caplog.at_level(logging.WARNING):
        graph = Graph.from_csv(folder, path=tmp_path / "graph")
    assert [record.getMessage() for record in caplog.records] == [f"{folder}: dropped 1 empty id"]
    assert graph.path == tmp_path / "graph"
    with pytest.raises(BadInput):
        Graph.from_csv(tmp_path / "nowhere")
    result = Retriever(str(folder), "anchor").search("Who knows Ben?", node_types=["person"])
    assert result.hits[0].name == "Ann"
    assert list((tmp_path / "cache" / "graphs").iterdir())


@pytest.mark.process
def test_nothing_is_loaded_before_it_is_needed(tmp_path):
    code = (
        "import sys; from orienteer import Graph; "
        "graph = Graph.from_records([{'id': 1, 'x': 2}], []); graph.node(1); "
        "print({'pandas', 'polars', 'networkx', 'pyarrow'} & sys.modules.keys())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_compiled_searches_are_gone_which_is_said(small):
    assert len(Graph.open(small.path, compiled=False)) == len(small)
    with pytest.raises(BadOption, match="compiled=True: compiled searches were removed; leave it out"):
        Graph.open(small.path, compiled=True)


@pytest.mark.parametrize("path", [3, None, b"films", ["films"]])
def test_what_is_no_path_is_refused_in_words(path):
    with pytest.raises(BadOption, match="give the path of a graph directory, or an address"):
        Graph.open(path)
