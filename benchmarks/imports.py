"""The synthetic graph as tables, imported with the command line, beside what other engines need for the same files."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from loaders import ENGINES
from orienteer.graph.store import Graph
from probe import edge_batches, records
from report import Report, run_script
from synthetic import Synthetic

MEGABYTE = 1_000_000
SLOW = {"arcadedb_embedded": ("XS",)}
"""The sizes that an engine is asked for, where others take it half an hour."""
FORMATS = ("csv", "tsv", "parquet", "jsonl")


def measure(report: Report, data: Synthetic, size: str, work: Path, forms: Sequence[str]) -> None:
    """Import the tables of a graph in each of these formats, and say whether all give the same bytes.

    Tables are written once and stay for the next run; graphs do not.
    """
    made = {}
    for form in forms:
        folder, target = work / f"tables-{size}-{form}", work / f"imported-{size}-{form}"
        if not folder.exists():
            new = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            write_tables(data, new, form)
            new.rename(folder)
        try:
            found = run_script("probe.py", "import", folder, target)
            made[form] = {name: file.sha256 for name, file in Graph.open(target).arrays.manifest.files.items()}
        finally:
            shutil.rmtree(target, ignore_errors=True)
        _measure_peers(report, found, size, folder, form, target)
    if len(made) > 1:
        report.add("import, formats whose graphs are the same bytes", _most_alike(list(made.values())), "")


def _measure_peers(report: Report, ours: dict[str, float], size: str, folder: Path, form: str, target: Path) -> None:
    told = [name for name, (_, forms) in ENGINES.items() if form in forms and size in SLOW.get(name, (size,))]
    for figure, unit, scale in (("seconds", "s", 1), ("processor", "s", 1), ("peak", "MB", MEGABYTE)):
        report.add(_row(form, figure), ours[figure] / scale, unit)
    for name in told:
        if importlib.util.find_spec(name) is None:
            report.add(_row(form, "seconds"), ours["seconds"], "s", peer=f"{name}: not installed")
            continue
        try:
            theirs = run_script("loaders.py", name, folder, form, target)
        except subprocess.CalledProcessError:
            report.add(_row(form, "seconds"), ours["seconds"], "s", peer=f"{name}: failed")
            continue
        finally:
            _remove(target)
        for figure, unit, scale in (("seconds", "s", 1), ("processor", "s", 1), ("peak", "MB", MEGABYTE)):
            report.add(_row(form, figure), ours[figure] / scale, unit, peer=name, peer_value=theirs[figure] / scale)


def _row(form: str, figure: str) -> str:
    return f"import, {form}" + {"seconds": "", "processor": ", processor time", "peak": ", peak memory"}[figure]


def _remove(target: Path) -> None:
    """Remove a database: a folder, or a file and what lies beside it."""
    for path in target.parent.glob(f"{target.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _most_alike(graphs: Sequence[dict[str, str]]) -> int:
    return max(sum(graph == other for other in graphs) for graph in graphs)


def write_tables(graph: Synthetic, folder: Path, form: str) -> None:
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
