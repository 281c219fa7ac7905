"""One world, as pandas, polars, DuckDB, SQLite, networkx and Python write it: one plan, and one graph.

The records that the world is made of are the oracle of the CSV that Python writes, and that is the reference of all
other formats. What a format forces to be otherwise is said by its writer, and nothing else may be.
"""

from __future__ import annotations

import csv
import datetime
import json
import random
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import networkx
import pandas
import polars
import pytest

from orienteer import Graph
from orienteer.ingest import FileMapping, ImportReport, import_graph

pytestmark = pytest.mark.slow

Row = dict[str, Any]  # Any: text, numbers, dates, nothing
World = dict[str, list[Row]]

NAMES = (
    "Łódź, East",
    'The "Anchor"',
    "Åkersund",
    "Port-au-Mer",
    "Σύρος",
    "青い港",
    "O'Hara; Sons",
    "Bråten",
    "Salt Quay",
)
NOTES = (
    'They call her "the\nold one", all of them',
    "wet, cold\nand far too long a day",
    "größer als gedacht; drei | vier von uns",
    "\tthe sails are new since the spring",
    "Ebb—flood—ebb, and nobody knew when to go",
)
"""All are prose: nodes have them as their text."""


def world_of(seed: int) -> World:
    """Return harbours, boats that lie in them, and trips of boats to harbours."""
    chance = random.Random(seed)

    def some(value: object, missing: float = 0.2) -> Any:
        return None if chance.random() < missing else value

    def day(year: int) -> datetime.date:
        return datetime.date(year, 1, 1) + datetime.timedelta(chance.randrange(365))

    harbours: list[Row] = [
        {
            "code": f"H{number:02}",
            "name": name,
            "opened": day(1900 + number),
            "depth": some(chance.randrange(20, 90) / 8),
        }
        for number, name in enumerate(NAMES, 1)
    ]
    boats: list[Row] = [
        {
            "boat_id": number,
            "name": f"Gull {number}" if number % 7 else f"Skarv, die {number}.",
            "harbour": some(chance.choice(harbours)["code"]),
            "built": some(chance.randrange(1950, 2020)),
            "length": chance.randrange(40, 200) / 8,
            "notes": some(chance.choice(NOTES)),
        }
        for number in range(101, 141)
    ]
    trips: list[Row] = [
        {
            "trip_id": number,
            "boat_id": some(chance.choice(boats)["boat_id"]),
            "destination": chance.choice(harbours)["code"],
            "sailed": day(2024),
            "hours": some(chance.randrange(1, 60) / 4),
            "guests": some(chance.randrange(1, 12)),
            "remark": some(chance.choice(NOTES), 0.5),
        }
        for number in range(5001, 5121)
    ]
    return {"harbours": harbours, "boats": boats, "trips": trips}


# ------------------------------------------------------------------------------------------------ who writes it how


def by_python(world: World, folder: Path) -> None:
    for table, rows in world.items():
        with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def by_sqlite(world: World, folder: Path) -> None:
    with sqlite3.connect(folder / "world.sqlite") as database:
        for table, rows in world.items():
            database.execute(f"create table {table} ({', '.join(rows[0])})")
            cells = [[str(one) if isinstance(one, datetime.date) else one for one in row.values()] for row in rows]
            database.executemany(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", cells)
    database.close()


def by_json(world: World, folder: Path) -> None:
    (folder / "world.json").write_text(json.dumps(world, default=str), encoding="utf-8")


def by_frames(
    write: Callable[[Any, Path], object], suffix: str, package: Any = pandas
) -> Callable[[World, Path], None]:
    """Return a function that writes each table as a file, by a frame of its rows."""

    def written(world: World, folder: Path) -> None:
        for table, rows in world.items():
            frame = package.DataFrame(rows)
            if package is pandas:
                for name in frame.columns[[isinstance(rows[0][name], datetime.date) for name in frame]]:
                    frame[name] = pandas.to_datetime(frame[name])
            write(frame, folder / f"{table}{suffix}")

    return written


def by_workbook(world: World, folder: Path) -> None:
    pytest.importorskip("openpyxl")
    with pandas.ExcelWriter(folder / "world.xlsx") as book:
        for table, rows in world.items():
            pandas.DataFrame(rows).to_excel(book, sheet_name=table, index=False)


def by_duckdb(how: str, suffix: str) -> Callable[[World, Path], None]:
    def written(world: World, folder: Path) -> None:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as database:
            for table, rows in world.items():
                frame = polars.DataFrame(rows).to_arrow()
                database.register("frame", frame)
                database.execute(f"copy (select * from frame) to '{folder / table}{suffix}' ({how})")

    return written


class Writer(NamedTuple):
    """Who writes the world, and what the format, or its writer, has otherwise than a CSV."""

    write: Callable[[World, Path], None]
    number: str = "number"
    """The role of numbers."""
    more: tuple[str, ...] = ()
    """A further column of each table."""
    midnight: str = ""
    """What stands behind days: pandas writes points in time into JSON."""


WRITERS: dict[str, Writer] = {
    "SQLite": Writer(by_sqlite),
    "JSON of tables": Writer(by_json),
    "pandas CSV": Writer(by_frames(lambda frame, path: frame.to_csv(path, index=False), ".csv")),
    "pandas CSV with its index": Writer(by_frames(lambda frame, path: frame.to_csv(path), ".csv"), more=("column_1",)),
    "pandas CSV, decimal commas": Writer(
        by_frames(lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","), ".csv"),
        "comma number",
    ),
    "pandas TSV": Writer(by_frames(lambda frame, path: frame.to_csv(path, index=False, sep="\t"), ".tsv")),
    "pandas Parquet": Writer(by_frames(lambda frame, path: frame.to_parquet(path), ".parquet")),
    "pandas JSON lines": Writer(
        by_frames(lambda frame, path: frame.to_json(path, orient="records", lines=True, date_format="iso"), ".jsonl"),
        midnight="T00:00:00.000",
    ),
    "pandas JSON": Writer(
        by_frames(lambda frame, path: frame.to_json(path, orient="records", date_format="iso"), ".json"),
        midnight="T00:00:00.000",
    ),
    "pandas xlsx": Writer(by_workbook),
    "polars CSV": Writer(by_frames(lambda frame, path: frame.write_csv(path), ".csv", polars)),
    "polars Parquet": Writer(by_frames(lambda frame, path: frame.write_parquet(path), ".parquet", polars)),
    "polars JSON lines": Writer(by_frames(lambda frame, path: frame.write_ndjson(path), ".ndjson", polars)),
    "DuckDB CSV": Writer(by_duckdb("format csv, header", ".csv")),
    "DuckDB Parquet": Writer(by_duckdb("format parquet", ".parquet")),
    "DuckDB JSON lines": Writer(by_duckdb("format json", ".jsonl")),
    "DuckDB JSON": Writer(by_duckdb("format json, array true", ".json")),
}
NUMBERS, DAYS = ("built", "guests", "depth", "length", "hours"), ("opened", "sailed")
TEXTS = ("notes", "remark")
TABLES = ("harbours", "boats", "trips")


# ------------------------------------------------------------------------------------------------ what is made of it


def plan_of(mappings: tuple[FileMapping, ...]) -> dict[str, Any]:
    """Return what each table is, the roles of its columns, and what is open; whatever its file is called.

    The property of a column of numbers is one, whether it is to be read as a number or is one in the file.
    """
    plan = {}
    for mapping in mappings:
        numbers = {name: "number" for name in NUMBERS if mapping.columns.get(name) == "property"}
        table = next(table for table in TABLES if table in mapping.file)
        plan[table] = (mapping.what, {**mapping.columns, **numbers}, mapping.questions)
    return plan


def nodes_of(graph: Graph) -> dict[str, Any]:
    return {
        name: (node.type, node.name, node.text, node.properties)
        for name, node in ((name, graph.node(name)) for name in graph.node_ids())
    }


def edges_of(graph: Graph) -> list[tuple[Any, ...]]:
    return sorted(
        (edge.source, edge.type, edge.target, edge.text, edge.weight, sorted(edge.properties.items()))
        for edge in graph.iter_edges()
    )


def made_of(write: Callable[[World, Path], None], world: World, folder: Path) -> tuple[ImportReport, Graph]:
    (folder / "world").mkdir()
    write(world, folder / "world")
    report = import_graph([folder / "world"], folder / "graph")
    return report, Graph.open(folder / "graph")


class Reference(NamedTuple):
    world: World
    plan: Mapping[str, Any]
    graph: Graph


@pytest.fixture(scope="module", params=[1, 2, 3])
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    world = world_of(request.param)
    report, graph = made_of(by_python, world, tmp_path_factory.mktemp("reference"))
    assert (report.dropped, report.merged, report.unreadable, report.notes) == ((), (), (), ())
    return Reference(world, plan_of(report.mapping), graph)


def properties_of(row: Row, *, but: tuple[str, ...]) -> Row:
    """Return what is kept of a row as properties."""
    kept = {name: value for name, value in row.items() if name not in (*but, *TEXTS) and value is not None}
    return {name: value.isoformat() if isinstance(value, datetime.date) else value for name, value in kept.items()}


def test_the_reference_is_the_world(reference: Reference) -> None:
    """Links of words stay properties, links of numbers do not; everything else is a node's name or its property."""
    world = reference.world
    harbours = {
        row["code"]: ("harbour", row["name"], "", properties_of(row, but=("code", "name"))) for row in world["harbours"]
    }
    boats = {
        str(row["boat_id"]): ("boat", row["name"], row["notes"] or "", properties_of(row, but=("boat_id", "name")))
        for row in world["boats"]
    }
    trips = {
        str(row["trip_id"]): (
            "trip",
            str(row["trip_id"]),
            row["remark"] or "",
            properties_of(row, but=("trip_id", "boat_id")),
        )
        for row in world["trips"]
    }
    assert nodes_of(reference.graph) == harbours | boats | trips
    links = [(row["boat_id"], "harbour", row["harbour"]) for row in world["boats"]]
    links += [
        (row["trip_id"], name, row[key])
        for row in world["trips"]
        for name, key in (("boat", "boat_id"), ("destination", "destination"))
    ]
    assert edges_of(reference.graph) == sorted(
        (str(source), name, str(target), "", 1.0, []) for source, name, target in links if target is not None
    )


@pytest.mark.parametrize("name", WRITERS)
def test_a_format_makes_the_plan_and_the_graph_of_the_csv(name: str, reference: Reference, tmp_path: Path) -> None:
    writer = WRITERS[name]
    report, graph = made_of(writer.write, reference.world, tmp_path)
    assert (report.dropped, report.merged, report.unreadable, report.notes) == ((), (), (), ())
    plan = {}
    for table, (what, columns, questions) in reference.plan.items():
        roles = {column: writer.number if role == "number" else role for column, role in columns.items()}
        plan[table] = (what, roles | dict.fromkeys(writer.more, "property"), questions)
    assert plan_of(report.mapping) == plan
    wanted = nodes_of(reference.graph)
    for *_, properties in wanted.values():
        properties |= {day: properties[day] + writer.midnight for day in DAYS if day in properties}
    found = nodes_of(graph)
    for *_, properties in found.values():
        assert all(type(properties.pop(column)) is int for column in writer.more)
    assert found == wanted
    assert edges_of(graph) == edges_of(reference.graph)


def with_times(package: Any) -> Callable[[list[Row]], Any]:
    """Return a function that makes a frame with points in time, at midnight, for days."""

    def made(rows: list[Row]) -> Any:
        start = datetime.time()
        return package.DataFrame(
            [
                {
                    name: datetime.datetime.combine(one, start) if isinstance(one, datetime.date) else one
                    for name, one in row.items()
                }
                for row in rows
            ]
        )

    return made


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, with_times(pandas), with_times(polars)])
def test_frames_make_the_graph_of_the_csv(frame: Callable[[list[Row]], Any], reference: Reference) -> None:
    graph = Graph.from_frames({table: frame(rows) for table, rows in reference.world.items()})
    assert nodes_of(graph) == nodes_of(reference.graph)
    assert edges_of(graph) == edges_of(reference.graph)


# ------------------------------------------------------------------------------------------------ a graph of networkx


def network_of(world: World) -> networkx.MultiDiGraph:
    """Return the harbours and boats as a network, with parallel edges and attributes of both."""
    network = networkx.MultiDiGraph()
    for row in world["harbours"]:
        fields = properties_of(row, but=("code",))
        network.add_node(row["code"], type="harbour", **fields)
    for row in world["boats"]:
        fields = properties_of(row, but=("boat_id", "harbour"))
        network.add_node(f"B{row['boat_id']}", type="boat", **fields)
        if row["harbour"] is not None:
            network.add_edge(f"B{row['boat_id']}", row["harbour"], type="lies in")
    for row in world["trips"]:
        if row["boat_id"] is not None:
            fields = properties_of(row, but=("boat_id", "destination"))
            network.add_edge(f"B{row['boat_id']}", row["destination"], type="sailed to", **fields)
    return network


def by_tables(network: networkx.MultiDiGraph, folder: Path) -> None:
    nodes = [{"id": name, **fields} for name, fields in network.nodes(data=True)]
    edges = [{"source": source, "target": target, **fields} for source, target, fields in network.edges(data=True)]
    for name, rows in (("nodes", nodes), ("edges", edges)):
        polars.DataFrame(rows, infer_schema_length=None).write_csv(folder / f"{name}.csv")


NETWORKS: dict[str, Callable[[Any, Path], object]] = {
    "GraphML": lambda network, folder: networkx.write_graphml(network, folder / "network.graphml"),
    "GEXF": lambda network, folder: networkx.write_gexf(network, folder / "network.gexf"),
    "GML": lambda network, folder: networkx.write_gml(network, folder / "network.gml"),
    "node-link": lambda network, folder: (folder / "network.json").write_text(
        json.dumps(networkx.node_link_data(network, edges="edges"))
    ),
    "tables": by_tables,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_the_same_graph_in_every_format(name: str, reference: Reference, tmp_path: Path) -> None:
    """The ids are labels, too, in GEXF, which wants one of each node, and labels alone in GML, which numbers nodes."""
    network = network_of(reference.world)
    wanted = {
        node: (fields.pop("type"), fields.pop("name"), "", fields)
        for node, fields in ((node, dict(fields)) for node, fields in network.nodes(data=True))
    }
    report, graph = made_of(lambda _, folder: NETWORKS[name](network, folder), reference.world, tmp_path)
    assert (report.dropped, report.merged, report.notes) == ((), (), ())
    found = nodes_of(graph)
    ids = {node: fields[3].pop("label") if name in ("GEXF", "GML") else node for node, fields in found.items()}
    assert len(set(ids.values())) == len(ids)
    assert {ids[node]: fields for node, fields in found.items()} == wanted
    assert sorted((ids[edge[0]], edge[1], ids[edge[2]], *edge[3:]) for edge in edges_of(graph)) == sorted(
        (source, fields.pop("type"), target, "", 1.0, sorted(fields.items()))
        for source, target, fields in ((*ends, dict(fields)) for *ends, fields in network.edges(data=True))
    )
