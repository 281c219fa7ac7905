"""Hetionet, or a part of it, as a graph: imported from the folder of real graphs by the importer itself."""

import shutil
from pathlib import Path

import pytest

from orienteer.build.run import import_graph
from orienteer.graph.store import Graph


def hetionet(data: Path, target: Path, metaedges, around=()) -> Graph:
    """Return the graph of all nodes, all edges of some types, and all edges whatever their type around some nodes."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    source, folder = data / "hetionet", target / "source"
    if not source.is_dir():
        pytest.skip(f"{source} is not here; ORIENTEER_DATA names the folder of real graphs")
    folder.mkdir(parents=True)
    shutil.copyfile(source / "nodes.parquet", folder / "nodes.parquet")
    kept = pc.field("metaedge").isin(list(metaedges))
    for end in ("source", "target"):
        kept |= pc.field(end).isin(pa.array(list(around), pa.large_string()))
    edges = pq.read_table(source / "edges.parquet").filter(kept)
    pq.write_table(edges, folder / "edges.parquet")
    head, *lines = (source / "metaedges.tsv").read_text().splitlines()
    there = set(edges["metaedge"].to_pylist())
    named = [line for line in lines if line.split("\t")[1] in there]
    (folder / "metaedges.tsv").write_text("\n".join([head, *named, ""]))
    import_graph([folder], target / "graph")
    return Graph.open(target / "graph")
