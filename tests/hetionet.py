"""Hetionet, or a part of it, as a graph: imported from the folder of real graphs by the importer itself."""

from pathlib import Path

import pytest

from orienteer.graph import Graph
from orienteer.ingest import import_graph


def hetionet(data: Path, target: Path, metaedges, around=()) -> Graph:
    """Return the graph of all edges of some types, of all edges of any type around some nodes, and of their ends."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    source, folder = data / "hetionet", target / "source"
    if not source.is_dir():
        pytest.skip(f"{source} is not here; ORIENTEER_DATA names the folder of real graphs")
    folder.mkdir(parents=True)
    kept = pc.field("metaedge").isin(list(metaedges))
    for end in ("source", "target"):
        kept |= pc.field(end).isin(pa.array(list(around), pa.large_string()))
    edges = pq.read_table(source / "edges.parquet").filter(kept)
    pq.write_table(edges, folder / "edges.parquet")
    ends = pa.chunked_array([*edges["source"].chunks, *edges["target"].chunks])
    pq.write_table(
        pq.read_table(source / "nodes.parquet").filter(pc.field("id").isin(pc.unique(ends))), folder / "nodes.parquet"
    )
    head, *lines = (source / "metaedges.tsv").read_text().splitlines()
    there = set(edges["metaedge"].to_pylist())
    named = [line for line in lines if line.split("\t")[1] in there]
    (folder / "metaedges.tsv").write_text("\n".join([head, *named, ""]))
    import_graph([folder], target / "graph")
    return Graph.open(target / "graph")
