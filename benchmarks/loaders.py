"""What other engines need to load the tables that are imported, each in a process of its own; run by `imports.py`.

    python benchmarks/loaders.py ENGINE FOLDER csv|parquet|jsonl TARGET

DuckDB reads every cell and keeps none: the floor. The others make a graph: ladybug by `COPY`, ArcadeDB by its importer,
without an index of the texts. Prints one JSON object.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from probe import peak


class Loaded(NamedTuple):
    """What an engine counts when it has all."""

    nodes: int
    edges: int


def duckdb(folder: Path, form: str, target: Path) -> Loaded:
    """Read all cells of both tables by two threads, and hash each."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    read = {"csv": "read_csv", "parquet": "read_parquet", "jsonl": "read_json"}[form]
    counts = []
    for name in ("nodes", "edges"):
        query = f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM {read}('{folder / name}.{form}')"
        counts.append(connection.execute(query).fetchone()[0])
    return Loaded(*counts)


def ladybug(folder: Path, form: str, target: Path) -> Loaded:
    """Copy both tables into a new database by two threads, with as much memory for pages as we may take in all."""
    import ladybug

    database = ladybug.Database(str(target), max_num_threads=2, buffer_pool_size=3_500_000_000)
    connection: Any = ladybug.Connection(database)  # Any: its results are lists for several statements
    columns = "id STRING, type STRING, name STRING, text STRING, year INT64"
    connection.execute(f"CREATE NODE TABLE node({columns}, PRIMARY KEY (id))")
    connection.execute("CREATE REL TABLE edge(FROM node TO node, type STRING)")
    header = " (HEADER=true)" if form == "csv" else ""
    connection.execute(f"COPY node FROM '{folder}/nodes.{form}'{header}")
    rows = f"LOAD FROM '{folder}/edges.{form}'{header} RETURN source, target, type"
    connection.execute(f"COPY edge FROM ({rows})")
    connection.execute("CHECKPOINT")
    counts = [
        connection.execute(query).get_next()[0]
        for query in ("MATCH (n:node) RETURN count(*)", "MATCH (:node)-[e:edge]->(:node) RETURN count(*)")
    ]
    return Loaded(*counts)


def arcadedb(folder: Path, form: str, target: Path) -> Loaded:
    """Import both tables into a new database."""
    import arcadedb_embedded
    import jpype

    with arcadedb_embedded.create_database(str(target)) as database:
        settings = jpype.JClass("java.util.HashMap")()
        for key, value in {
            **{"vertices": f"file://{folder}/nodes.{form}", "verticesFileType": form, "vertexType": "node"},
            **{"edges": f"file://{folder}/edges.{form}", "edgesFileType": form, "edgeType": "edge"},
            **{"typeIdProperty": "id", "typeIdType": "String", "typeIdUnique": "true", "maxPropertySize": "1000000"},
            **{"edgeFromField": "source", "edgeToField": "target"},
        }.items():
            settings.put(key, value)
        importer = jpype.JClass("com.arcadedb.integration.importer.Importer")(database._java_db, None)
        importer.setSettings(settings)
        importer.load()
        return Loaded(*(int(database.count_type(name)) for name in ("node", "edge")))


ENGINES: Mapping[str, tuple[Callable[[Path, str, Path], Loaded], tuple[str, ...]]] = {
    "duckdb": (duckdb, ("csv", "parquet", "jsonl")),
    "ladybug": (ladybug, ("csv", "parquet")),
    "arcadedb_embedded": (arcadedb, ("csv",)),
}
"""Of each package what it loads with, and which formats it reads without an extension."""


def main() -> None:
    """Load the tables once."""
    name, folder, form, target = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], Path(sys.argv[4]).resolve()
    load, _ = ENGINES[name]
    started = time.perf_counter()
    loaded = load(folder, form, target)
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {"seconds": seconds, "processor": used.ru_utime + used.ru_stime, "peak": peak()}
    print(json.dumps(figures | loaded._asdict()))


if __name__ == "__main__":
    main()
