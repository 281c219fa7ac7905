"""Nodes that come many together give the bytes that the same nodes give one by one."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lanes import examples
from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph import CodedColumn, Graph, GraphBuilder, NodeBatch
from orienteer.index import Strings
from orienteer.ingest import import_graph, prefixed_texts
from orienteer.records import Node

pytestmark = pytest.mark.slow


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
            aliases: list[tuple[str, ...]] = [(), ("another name",), (), ("é", "N2"), (), ()]
            if form == "columns":
                properties = {"early": values, "none": [None] * 6, "late": [1] * 6}
                builder.add_nodes(NodeBatch(ids, ["a", "b"] * 3, names, texts, properties, aliases))
            else:
                for place in range(6):
                    early = {} if values[place] is None else {"early": values[place]}
                    node = Node(ids[place], "ab"[place % 2], names[place], texts[place], aliases[place])
                    builder.add_node(replace(node, properties=early | {"late": 1}))
            builder.publish()
    assert files(tmp_path / "columns") == files(tmp_path / "records")


def test_nodes_that_come_again_are_counted_and_others_of_their_ids_refused(tmp_path: Path) -> None:
    def batch(*ids: str, year: int = 1) -> NodeBatch:
        return NodeBatch(ids, ["t"] * len(ids), ["N"] * len(ids), [""] * len(ids), {"year": [year] * len(ids)})

    with GraphBuilder(tmp_path / "g") as builder:
        builder.add_node(Node("old", "t", "N", properties={"year": 1}))
        numbers, repeats = builder.add_nodes(batch("a", "old", "b", "a"))
        assert (numbers.tolist(), repeats) == ([1, 0, 2, 1], [1, 3])
        with pytest.raises(DuplicateNode) as error:
            builder.add_nodes(batch("c", "a", year=2))
        assert error.value.place == 1
        with pytest.raises(BadInput):
            builder.add_nodes(batch("d", ""))


def test_a_node_of_columns_may_be_repeated_as_it_is_and_not_otherwise(tmp_path: Path) -> None:
    with GraphBuilder(tmp_path / "g") as builder:
        builder.add_nodes(NodeBatch(["a"], ["t"], ["A"], ["text"], {"year": [1], "more": [None]}))
        assert not builder.add_node(Node("a", "t", "A", "text", (), {"year": 1}))
        with pytest.raises(DuplicateNode):
            builder.add_node(Node("a", "t", "A", "text", (), {"year": 2}))


def take_one_row_at_a_time(patch: pytest.MonkeyPatch) -> None:
    """Have all readers give batches of one row."""
    for name, module in list(sys.modules.items()):
        if name.startswith("orienteer.ingest") and "NODE_ROWS" in vars(module):
            patch.setattr(module, "NODE_ROWS", 1)


CELL = st.sampled_from(["", "7", "007", "1.5", "x", '{"a": 1}', "{no", " ", "n/a", "Rock", "é", "a|b"])
HEADERS = st.sampled_from(["id,name,text,year", "id,type,name,score", "id,title,category,x", "id,name,synonyms,y"])


@settings(max_examples=examples(150), deadline=None)
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
        take_one_row_at_a_time(patch)
        by_rows = import_graph([folder / "nodes.csv", folder / "edges.csv"], folder / "rows")
    assert files(folder / "columns") == files(folder / "rows")
    assert by_columns.merged == by_rows.merged
    assert by_columns.dropped == by_rows.dropped


JSON_CELL = st.sampled_from(
    [None, "", "7", "x", " ", '{"a": 1}', "{no", "Rock", "a|b", 7, 2.5, True, [], ["a"], ["a", "b", 3], [" "], [None]]
) | st.just({"b": "inner"})
JSON_KEYS = st.sampled_from(["type", "name", "text", "category", "labels", "synonyms", "aliases", "year", "score"])


@settings(max_examples=examples(60), deadline=None)
@given(
    kinds=st.dictionaries(JSON_KEYS, st.lists(JSON_CELL, min_size=1, max_size=3), max_size=4),
    count=st.integers(1, 7),
    choice=st.randoms(use_true_random=False),
    repeated=st.booleans(),
    is_numbered=st.booleans(),
)
def test_any_objects_give_the_bytes_of_their_rows(
    kinds: dict[str, list[Any]],
    count: int,
    choice: Any,
    repeated: bool,
    is_numbered: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("objects")
    rows = [
        {"id": place if is_numbered else f"n{place}", **{key: choice.choice(cells) for key, cells in kinds.items()}}
        for place in range(count)
    ]
    rows += rows[:1] if repeated else []
    (folder / "nodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "edges.jsonl").write_text("".join(json.dumps({"source": 0, "target": 0}) + "\n"))
    by_columns = import_graph([folder / "nodes.jsonl", folder / "edges.jsonl"], folder / "columns")
    with pytest.MonkeyPatch.context() as patch:
        take_one_row_at_a_time(patch)
        by_rows = import_graph([folder / "nodes.jsonl", folder / "edges.jsonl"], folder / "rows")
    assert files(folder / "columns") == files(folder / "rows")
    assert by_columns.merged == by_rows.merged
    assert by_columns.dropped == by_rows.dropped


LABELS = st.sampled_from(["", "A", "B", "A;B", "A; ;C", " A ", ";"])


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(st.tuples(CELL, CELL, LABELS, st.sampled_from(["", "1", "1;2", "x"])), min_size=1, max_size=7),
    has_space=st.booleans(),
    repeated=st.booleans(),
)
def test_files_for_neo4j_admin_give_the_bytes_of_their_rows(
    rows: list[tuple[str, str, str, str]], has_space: bool, repeated: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("neo4j")
    space = "(S)" if has_space else ""
    lines = [
        ",".join([f"n{place}", *(json.dumps(cell, ensure_ascii=False).replace('\\"', '""') for cell in row)])
        for place, row in enumerate(rows)
    ]
    lines += lines[:1] if repeated else []
    header = f"key:ID{space},name,year:int,:LABEL,counts:int[]"
    (folder / "nodes.csv").write_text("\n".join([header, *lines]))
    (folder / "edges.csv").write_text(f":START_ID{space},:END_ID{space},:TYPE\nn0,n0,SAME\n")
    by_columns = import_graph([folder], folder / "columns")
    with pytest.MonkeyPatch.context() as patch:
        take_one_row_at_a_time(patch)
        by_rows = import_graph([folder / "nodes.csv", folder / "edges.csv"], folder / "rows")
    assert files(folder / "columns") == files(folder / "rows")
    assert by_columns.merged == by_rows.merged
    assert by_columns.notes == by_rows.notes


@pytest.mark.parametrize("prefix", ["S:", "é:", ":"])
def test_ids_of_a_space_have_it_before_them_but_empty_ones(prefix: str) -> None:
    cells = ["a", "", "é", "longer", ""]
    wanted = [f"{prefix}{cell}" if cell else "" for cell in cells]
    assert list(prefixed_texts(cells, prefix)) == wanted
    assert list(prefixed_texts(Strings.of(cells), prefix)) == wanted
    assert list(prefixed_texts(CodedColumn(Strings.of(cells), np.array([4, 0, 0, 2])), prefix)) == [
        "",
        *wanted[:1] * 2,
        wanted[2],
    ]
    assert list(prefixed_texts(Strings.of([]), prefix)) == []
