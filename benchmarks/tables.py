"""The synthetic graph as tables that people have, to import with the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from probe import edge_batches, records
from synthetic import Synthetic

FORMATS = ("csv", "tsv", "parquet", "jsonl")


def write(graph: Synthetic, folder: Path, form: str) -> None:
    """Write a table of nodes and one of edges."""
    folder.mkdir(parents=True, exist_ok=True)
    if form == "parquet":
        _write_parquet(graph, folder)
    elif form == "jsonl":
        _write_lines(graph, folder)
    else:
        _write_text(graph, folder, form)


def _write_text(graph: Synthetic, folder: Path, form: str) -> None:
    delimiter = "," if form == "csv" else "\t"
    with (folder / f"nodes.{form}").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["id", "type", "name", "text", "year"])
        writer.writerows((node.id, node.type, node.name, node.text, node.properties["year"]) for node in records(graph))
    with (folder / f"edges.{form}").open("w", encoding="utf-8") as file:
        file.write(delimiter.join(("source", "type", "target")) + "\n")
        for batch in edge_batches(graph):
            rows = map(delimiter.join, zip(batch.sources, batch.types, batch.targets, strict=True))
            file.write("\n".join(rows) + "\n")


def _write_lines(graph: Synthetic, folder: Path) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with (folder / "nodes.jsonl").open("w", encoding="utf-8") as file:
        for node in records(graph):
            row = {"id": node.id, "type": node.type, "name": node.name, "text": node.text, **node.properties}
            file.write(encode(row) + "\n")
    with (folder / "edges.jsonl").open("w", encoding="utf-8") as file:
        for batch in edge_batches(graph):
            for source, kind, target in zip(batch.sources, batch.types, batch.targets, strict=True):
                file.write(encode({"source": source, "type": kind, "target": target}) + "\n")


def _write_parquet(graph: Synthetic, folder: Path) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    texts = pa.schema([(name, pa.string()) for name in ("id", "type", "name", "text")] + [("year", pa.int16())])
    ids = graph.ids
    with ParquetWriter(folder / "nodes.parquet", texts) as nodes:
        for low, high in graph.batches():
            types = [f"type{kind}" for kind in graph.node_type[low:high].tolist()]
            columns = [ids[low:high], types, graph.names(low, high), graph.texts(low, high), graph.year[low:high]]
            nodes.write_table(pa.table(dict(zip(texts.names, columns, strict=True)), schema=texts))
    ends = pa.schema([(name, pa.string()) for name in ("source", "type", "target")])
    with ParquetWriter(folder / "edges.parquet", ends) as edges:
        for batch in edge_batches(graph):
            columns = [list(column) for column in (batch.sources, batch.types, batch.targets)]
            edges.write_table(pa.table(dict(zip(ends.names, columns, strict=True)), schema=ends))
