"""Edges whose columns are coded become what the same edges in plain columns become."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from orienteer.graph import CodedColumn, EdgeBatch, EdgeSpool, Graph
from orienteer.index import StringWriter
from orienteer.ingest import CODED_FROM, Parquet, import_graph

pytestmark = pytest.mark.slow

IDS = ["a", "b", "é", "n1", "", "gone"]
TYPES = ["knows", "likes", "is"]
EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), max_size=30)


def spool(folder: Path) -> EdgeSpool:
    return EdgeSpool({"a": 0, "b": 1, "é": 2, "n1": 3}, StringWriter(folder, "extra"))


def seen(edges: EdgeSpool) -> tuple[object, ...]:
    table = edges.table()
    table.type_names = list(edges.types)
    columns = [one.tolist() for one in (table.source, table.target, table.type, table.keep)]
    return columns, table.type_names, [table.ids(row) for row in range(len(table))]


@settings(max_examples=60)
@given(batches=st.lists(EDGES, max_size=3))
def test_coded_edges_are_the_same_edges(tmp_path_factory, batches):
    folder = tmp_path_factory.mktemp("edges")
    plain, coded = spool(folder), spool(folder)
    for batch in batches:
        source, kind, target = (np.array([edge[place] for edge in batch], np.int64) for place in range(3))
        columns = (CodedColumn(IDS, source), CodedColumn(TYPES, kind), CodedColumn(IDS, target))
        assert [list(column) for column in columns] == [[column[at] for at in range(len(batch))] for column in columns]
        plain.add(EdgeBatch(*map(list, columns)))
        coded.add(EdgeBatch(*columns))
    assert seen(coded) == seen(plain)


def test_values_are_looked_up_again_when_there_are_more_nodes(tmp_path):
    rows = {"a": 0}
    edges = EdgeSpool(rows, StringWriter(tmp_path, "extra"))
    batch = EdgeBatch(
        CodedColumn(["a", "b"], np.array([0])),
        CodedColumn(["t"], np.array([0])),
        CodedColumn(["a", "b"], np.array([1])),
    )
    edges.add(batch)
    rows["b"] = 1
    edges.add(batch)
    assert edges.table().target.tolist() == [-1, 1]


def rows() -> dict[str, list[str]]:
    """Return edges that repeat their ids and types, a few of them lacking one, one of them leading nowhere."""
    rng = np.random.default_rng(3)
    size = CODED_FROM * 2
    columns = {name: [f"n{one}" for one in rng.integers(0, 40, size)] for name in ("source", "target")}
    columns["type"] = [TYPES[one] for one in rng.integers(0, 3, size)]
    columns["source"][7] = columns["target"][9] = columns["target"][1500] = " "
    columns["type"][11] = ""
    columns["target"][13] = "gone"
    return columns


def test_parquet_tables_that_repeat_their_texts_give_the_graph_that_text_tables_give(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    nodes = "\n".join(["id", *(f"n{number}" for number in range(40))])
    found = []
    for form in ("csv", "parquet"):
        folder = tmp_path / form
        folder.mkdir()
        (folder / "nodes.csv").write_text(nodes)
        if form == "csv":
            lines = map(",".join, zip(*rows().values(), strict=True))
            (folder / "edges.csv").write_text("\n".join([",".join(rows()), *lines]))
        else:
            pq.write_table(pa.table(rows()), folder / "edges.parquet")
            batch = next(Parquet().batches(folder / "edges.parquet", rows=5_000, drop=print, header=True))
            assert all(isinstance(column, CodedColumn) for column in batch.columns.values())
        report = import_graph([folder], tmp_path / f"graph-{form}")
        cuts = [(cut.reason, cut.count, [place.value for place in cut.first]) for cut in report.dropped + report.merged]
        graph = Graph.open(tmp_path / f"graph-{form}")
        found.append((cuts, report.edge_types, sorted(map(repr, graph.iter_edges()))))
    assert found[0] == found[1]
    assert [(reason, count) for reason, count, _ in found[0][0]][:2] == [("empty id", 3), ("dangling", 1)]
