"""Nodes that come as columns give the bytes that the same nodes give one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer.errors import DuplicateNode
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.node_batch import NodeBatch
from orienteer.graph.store import Graph
from orienteer.ingest.importer import import_graph
from orienteer.ingest.tables.nodes import NodeMaker
from orienteer.records import Node


def files(path: Path) -> dict[str, str]:
    """Return the hashes of all files of a graph but its manifest's."""
    return {name: file.sha256 for name, file in Graph.open(path).arrays.manifest.files.items()}


def test_columns_and_records_give_the_same_bytes(tmp_path: Path) -> None:
    values: list[Any] = [None, 7, "x", None, 2.5, True]
    for form in ("columns", "records"):
        with GraphBuilder(tmp_path / form) as builder:
            builder.add_node(Node("first", "b", "First", "", ("one",), {"late": 1}))
            ids, names = [f"n{place}" for place in range(6)], [f"Name {place}" for place in range(6)]
            texts = ["", "the quick fox", "é", "a b", "", "x" * 300]
            if form == "columns":
                assert builder.add_nodes(
                    NodeBatch(ids, ["a", "b"] * 3, names, texts, {"early": values, "none": [None] * 6, "late": [1] * 6})
                )
            else:
                for place in range(6):
                    early = {} if values[place] is None else {"early": values[place]}
                    node_type, properties = "ab"[place % 2], early | {"late": 1}
                    builder.add_node(Node(ids[place], node_type, names[place], texts[place], (), properties))
            builder.publish()
    assert files(tmp_path / "columns") == files(tmp_path / "records")


@pytest.mark.parametrize("ids", [["a", "a"], ["b", "old"], ["c", ""]])
def test_ids_that_are_there_are_left_to_records(ids: list[str], tmp_path: Path) -> None:
    with GraphBuilder(tmp_path / "g") as builder:
        builder.add_node(Node("old", "t", "Old"))
        assert not builder.add_nodes(NodeBatch(ids, ["t"] * 2, ["x", "y"], ["", ""]))
        assert builder.node_count == 1


def test_a_node_of_columns_may_be_repeated_as_it_is_and_not_otherwise(tmp_path: Path) -> None:
    with GraphBuilder(tmp_path / "g") as builder:
        assert builder.add_nodes(NodeBatch(["a"], ["t"], ["A"], ["text"], {"year": [1], "more": [None]}))
        assert not builder.add_node(Node("a", "t", "A", "text", (), {"year": 1}))
        with pytest.raises(DuplicateNode):
            builder.add_node(Node("a", "t", "A", "text", (), {"year": 2}))


CELL = st.sampled_from(["", "7", "007", "1.5", "x", '{"a": 1}', "{no", " ", "n/a", "Rock", "é", "a|b"])
HEADERS = st.sampled_from(["id,name,text,year", "id,type,name,score", "id,title,category,x", "id,name,synonyms,y"])


@settings(max_examples=150, deadline=None)
@given(header=HEADERS, rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=7), repeated=st.booleans())
def test_any_table_gives_the_bytes_of_its_rows(
    header: str, rows: list[tuple[str, str, str]], repeated: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    lines = [
        ",".join([f"n{place}", *(json.dumps(cell).replace('\\"', '""') for cell in row)])
        for place, row in enumerate(rows)
    ]
    if repeated:
        lines.append(lines[0])
    (folder / "nodes.csv").write_text("\n".join([header, *lines]))
    (folder / "edges.csv").write_text("source,target,type\nn0,n0,same\n")
    by_columns = import_graph([folder / "nodes.csv", folder / "edges.csv"], folder / "columns")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NodeMaker, "as_columns", lambda *_: None)
        by_rows = import_graph([folder / "nodes.csv", folder / "edges.csv"], folder / "rows")
    assert files(folder / "columns") == files(folder / "rows")
    assert by_columns.merged == by_rows.merged
    assert by_columns.dropped == by_rows.dropped
