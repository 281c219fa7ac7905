"""What is exported comes back: exactly through JSON lines, and as networkx reads it through GraphML."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import networkx
import pandas
import pytest
from hypothesis import Phase, given, settings, strategies as st

import clinic
import films
from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph, GraphBuilder
from orienteer.ingest import ImportOptions, export_graph, import_graph
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow

DEMO = files("orienteer.ingest") / "demo"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
# Some of these names have a meaning in other people's tables; in a dump they have none.
PROPERTIES = st.dictionaries(
    st.sampled_from(["kind", "summary", "synonyms", "name", "text", "weight", "é"]), JSON, max_size=3
)
NODE = st.tuples(TEXT.filter(bool), TEXT.filter(bool), TEXT, st.lists(TEXT, max_size=3), PROPERTIES)
EDGE = st.tuples(st.integers(0, 9), st.sampled_from(["r", "s"]), st.integers(0, 9), TEXT, st.floats(0, 9), PROPERTIES)


def content(graph: Graph) -> tuple[list[Node], list[str], Any]:
    nodes = [graph.node(node_id) for node_id in graph.node_ids()]
    return nodes, sorted(map(repr, graph.iter_edges())), graph.schema


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])  # each is built twice
@given(nodes=st.lists(NODE, min_size=1, max_size=6), edges=st.lists(EDGE, max_size=8), twice=st.booleans())
@pytest.mark.parametrize("to", ["jsonl", "csv", "parquet"])
def test_a_folder_gives_every_graph_back(to: str, nodes: Any, edges: Any, twice: bool, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("dump")
    made = [
        Node(f"n{at}", kind, name, text, tuple(aliases), properties)
        for at, (kind, name, text, aliases, properties) in enumerate(nodes)
    ]
    size = len(made)
    joined = [
        Edge(f"n{source % size}", kind, f"n{target % size}", text, weight, properties)
        for source, kind, target, text, weight, properties in edges
    ]
    graph = Graph.from_records(made, joined * (1 + twice), path=folder / "graph")
    export_graph(graph, to, folder / "dump")
    report = import_graph([folder / "dump"], folder / "again")
    assert (report.dropped, report.merged, report.ignored) == ((), (), ())
    assert content(Graph.open(folder / "again")) == content(graph)


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    source = tmp_path / "source"
    source.mkdir()
    nodes = [
        {
            "id": "a",
            "kind": "Gene",
            "name": "Ä & <B>",
            "text": "two\nlines\r\n",
            "aliases": ["x", "y"],
            "n": 1,
            "type": "t",
        },
        {"id": "b", "kind": "Gene", "name": "con\u0001trol", "n": 0.5, "mixed": True},
        {"id": "c", "kind": "Drug", "name": "C", "mixed": "yes", "tags": ["p", "q"]},
    ]
    edges = [
        {"source": "a", "relation": "GiG", "target": "b", "year": 2001},
        {"source": "b", "relation": "GiG", "target": "a", "year": 2001},
        {"source": "c", "relation": "hits", "target": "a", "weight": 0.5},
        {"source": "c", "relation": "hits", "target": "a", "weight": 0.25, "text": "it hits"},
    ]
    (source / "nodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in nodes))
    (source / "edges.jsonl").write_text("".join(json.dumps(row) + "\n" for row in edges))
    (source / "codes.tsv").write_text("code\tlabel\nGiG\tGene - interacts - Gene\nhits\tstrikes\n")
    import_graph([source], tmp_path / "graph", options=ImportOptions(columns={"node_type": "kind"}))
    return Graph.open(tmp_path / "graph")


def test_symmetric_types_and_labels_come_back(graph: Graph, tmp_path: Path) -> None:
    assert graph.schema.symmetric == {"GiG"}
    assert graph.schema.labels == {"GiG": "interacts", "hits": "strikes"}
    assert graph.schema.also_called == {"GiG": ("Gene - interacts - Gene",)}
    export_graph(graph, "jsonl", tmp_path / "dump")
    import_graph([tmp_path / "dump"], tmp_path / "again")
    assert content(Graph.open(tmp_path / "again")) == content(graph)


def test_networkx_reads_the_graphml_as_the_graph(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    export_graph(graph, "graphml", path)
    found = networkx.read_graphml(path, force_multigraph=True)
    assert found.is_directed()
    assert dict(found.nodes(data=True)) == {
        "a": {
            "type": "Gene",
            "name": "Ä & <B>",
            "text": "two\nlines\r\n",
            "aliases": '["x", "y"]',
            "n": 1.0,
            "property.type": "t",
        },
        "b": {"type": "Gene", "name": "con\ufffdtrol", "n": 0.5, "mixed": "true"},
        "c": {"type": "Drug", "name": "C", "mixed": "yes", "tags": '["p", "q"]'},
    }
    edges = sorted(((a, b, data) for a, b, data in found.edges(data=True)), key=lambda edge: (edge[0], str(edge[2])))
    assert edges == [
        ("a", "b", {"type": "GiG", "symmetric": True, "year": 2001}),
        ("c", "a", {"type": "hits", "text": "it hits", "weight": 0.25}),
        ("c", "a", {"type": "hits", "weight": 0.5}),
    ]


@pytest.mark.parametrize("to", ["jsonl", "graphml", "csv", "parquet"])
def test_an_existing_path_is_replaced_only_by_force(to: str, graph: Graph, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export_graph(graph, to, out)
    with pytest.raises(BadInput, match="--force"):
        export_graph(graph, to, out)
    export_graph(graph, to, out, force=True)
    export_graph(graph, "jsonl" if to == "graphml" else "graphml", out, force=True)
    assert out.is_dir() is (to == "graphml")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".export")]


def test_a_folder_with_other_files_is_never_replaced(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="other files"):
        export_graph(graph, "jsonl", tmp_path / "source", force=True)
    with pytest.raises(BadOption, match="jsonl, graphml, csv, parquet"):
        export_graph(graph, "rdf", tmp_path / "out")


@pytest.mark.parametrize("to", ["jsonl", "graphml", "csv", "parquet"])
@pytest.mark.parametrize("kind", ["a folder", "a linked file", "a linked folder", "linked", "dangling", "pipe"])
def test_what_is_no_export_is_never_replaced(kind: str, to: str, graph: Graph, tmp_path: Path) -> None:
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.mkdir()
    (mine / "nodes.jsonl").write_text("mine")
    if kind == "pipe":
        os.mkfifo(out)
    elif kind in ("linked", "dangling"):
        out.symlink_to(mine if kind == "linked" else tmp_path / "nowhere")
    else:
        out.mkdir()
        place = out / "nodes.jsonl"
        mine.rename(place) if kind == "a folder" else place.symlink_to(
            mine / "nodes.jsonl" if kind == "a linked file" else mine
        )
    before = sorted((str(path), path.lstat().st_mode) for path in tmp_path.rglob("*"))
    with pytest.raises(BadInput, match="name another path"):
        export_graph(graph, to, out, force=True)
    assert sorted((str(path), path.lstat().st_mode) for path in tmp_path.rglob("*")) == before


def test_a_dump_of_a_newer_version_or_without_a_part_or_a_node_is_refused(graph: Graph, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    export_graph(graph, "jsonl", dump)
    meta = json.loads((dump / "meta.json").read_text())
    (dump / "edges.jsonl").write_text('{"source": "gone", "type": "r", "target": "gone"}\n')
    with pytest.raises(
        BadInput, match=r"edges\.jsonl, line 1: gone -> r -> gone has an end that is not a node; export"
    ):
        import_graph([dump], tmp_path / "new")
    (dump / "edges.jsonl").unlink()
    with pytest.raises(BadInput, match=r"edges\.jsonl is missing"):
        import_graph([dump], tmp_path / "new")
    (dump / "meta.json").write_text(json.dumps(meta | {"version": 2}))
    with pytest.raises(BadInput, match="version 2"):
        import_graph([dump], tmp_path / "new")


def test_which_types_hold_what_was_read_comes_back(tmp_path: Path) -> None:
    with GraphBuilder(tmp_path / "graph") as builder:
        for node in (Node("c", "chunk", "", "Ada sails"), Node("d", "chunk", "", "fish"), Node("f", "fact", "", "Ada")):
            builder.add_node(node)
        builder.publish(text_types=("chunk",))
    graph = Graph.open(tmp_path / "graph")
    for form, name in (("jsonl", "dump"), ("csv", "tables"), ("graphml", "dump.graphml")):
        export_graph(graph, form, tmp_path / name)
        import_graph([tmp_path / name], tmp_path / form)
        again = Graph.open(tmp_path / form)
        assert again.arrays.text_types == ("chunk",)
        assert again.search("Ada", 5) == graph.search("Ada", 5)


WORLDS = {"clinic": clinic, "films": films}


@pytest.mark.parametrize("to", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["small", "languages", *WORLDS])
def test_every_small_world_comes_back_from_tables(name: str, to: str, small: Graph, tmp_path: Path) -> None:
    if name == "small":
        graph = small
    elif name == "languages":
        import_graph([DEMO], tmp_path / "graph")
        graph = Graph.open(tmp_path / "graph")
    else:
        graph = Graph.from_records(WORLDS[name].NODES, WORLDS[name].EDGES, path=tmp_path / "graph")
    export_graph(graph, to, tmp_path / "out")
    report = import_graph([tmp_path / "out"], tmp_path / "again", options=ImportOptions(strict=True))
    again = Graph.open(tmp_path / "again")
    assert content(again) == content(graph)
    assert (report.notes, report.ignored) == ((), ())
    # Written once more it is the same byte for byte: what is equal in Python, 8 and 8.0 or 1 and True, is so here too.
    export_graph(again, to, tmp_path / "once-more")
    assert (tmp_path / "once-more" / "meta.json").read_bytes() == (tmp_path / "out" / "meta.json").read_bytes()
    frame = pandas.read_csv if to == "csv" else pandas.read_parquet
    nodes, edges = (frame(tmp_path / "out" / f"{part}.{to}") for part in ("nodes", "edges"))
    assert list(nodes["id"]) == list(graph.node_ids())
    assert sorted(zip(edges["source"], edges["type"], edges["target"], strict=True)) == sorted(
        (edge.source, edge.type, edge.target) for edge in graph.iter_edges()
    )


def test_columns_hold_numbers_where_their_values_are_numbers(tmp_path: Path) -> None:
    properties = [
        {"whole": 1, "both": 8, "all": 8.0, "odd": 8, "flag": True, "tags": ["a"], "mixed": "1", "big": 2**60},
        {"whole": 2, "both": 8.5, "all": 0.5, "odd": 8.0, "flag": False, "tags": ["b", "c"], "mixed": 1, "none": None},
    ]
    graph = Graph.from_records([Node(str(at), properties=some) for at, some in enumerate(properties)], [])
    for to in ("csv", "parquet"):
        export_graph(graph, to, tmp_path / to)
        import_graph([tmp_path / to], tmp_path / f"{to}-again")
        again = Graph.open(tmp_path / f"{to}-again")
        assert [repr(again.node(str(at)).properties) for at in (0, 1)] == [
            repr(graph.node(str(at)).properties) for at in (0, 1)
        ]
    frame = pandas.read_parquet(tmp_path / "parquet" / "nodes.parquet")
    assert {name: str(kind) for name, kind in frame.dtypes.items() if name in ("whole", "both", "all", "flag")} == {
        "whole": "int64",
        "both": "float64",
        "all": "float64",
        "flag": "bool",
    }


@pytest.mark.parametrize(
    ("part", "before", "after", "message"),
    [
        ("nodes.csv", "id,", "name2,", "line 2: 'id' is missing; export the graph again"),
        ("edges.csv", "source,", "start,", "line 2: 'source' is missing; export the graph again"),
        ("meta.json", '"nodes": {', '"nodez": {', "does not say what the columns of nodes.csv hold"),
        ("edges.csv", "c,hits,a", "c,hits,gone", "has an end that is not a node"),
    ],
)
def test_changed_tables_are_refused(part: str, before: str, after: str, message: str, graph: Graph, tmp_path: Path):
    export_graph(graph, "csv", tmp_path / "out")
    text = (tmp_path / "out" / part).read_text()
    assert before in text
    (tmp_path / "out" / part).write_text(text.replace(before, after))
    with pytest.raises(BadInput, match=message):
        import_graph([tmp_path / "out"], tmp_path / "again")


@pytest.mark.parametrize("field", ["id", "type", "name"])
def test_a_line_that_lacks_a_field_of_others_is_refused(field: str, graph: Graph, tmp_path: Path) -> None:
    export_graph(graph, "jsonl", tmp_path / "out")
    *lines, last = (tmp_path / "out" / "nodes.jsonl").read_text().splitlines()
    node = json.loads(last)
    del node[field]
    (tmp_path / "out" / "nodes.jsonl").write_text("\n".join([*lines, json.dumps(node)]))
    with pytest.raises(BadInput, match=f"line {len(lines) + 1}: '{field}' is missing; export the graph again"):
        import_graph([tmp_path / "out"], tmp_path / "again")


def test_tables_of_others_are_never_replaced(graph: Graph, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "nodes.csv").write_text("id,name\n1,a\n")
    with pytest.raises(BadInput, match="other files"):
        export_graph(graph, "csv", out, force=True)
    assert (out / "nodes.csv").read_text() == "id,name\n1,a\n"
