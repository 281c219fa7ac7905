"""Invented worlds: rows made at random, the graph that the product makes of them, and set operations for oracles.

A world is its rows. An oracle looks at nothing else: it walks over them in plain Python.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orienteer import Graph
from orienteer.ingest import import_graph
from orienteer.records import Edge, Node

Row = dict[str, Any]
FIRST = "Alma Bruno Carla Dario Edda Fabio Greta Hugo Irma Jonas Karin Luca Marta Nils Olga Piet"
LAST = "Abelund Brandvik Corvan Drexel Ekholm Farrugia Grunwald Hjelm Ilves Jokinen Kestrel Lindqvist"
SYLLABLES = "bar dol fen gan hir jor kel lum mor nad ost pra rud sil tav vek wym zan"


@dataclass
class World:
    """Rows by table. A table whose rows have a `source` and a `target` is one of edges."""

    name: str
    tables: dict[str, list[Row]] = field(default_factory=dict)
    is_folder: bool = False
    """It is imported from a folder of CSV files; else the graph is made of records."""

    def rows(self, table: str, holds: Callable[[Row], bool] = lambda row: True) -> list[Row]:
        """Return the rows of a table for which something holds."""
        return [row for row in self.tables[table] if holds(row)]

    def ids(self, table: str, holds: Callable[[Row], bool] = lambda row: True) -> set[str]:
        """Return the ids of the rows of a table for which something holds."""
        return {row["id"] for row in self.rows(table, holds)}

    def row(self, key: str) -> Row:
        """Return the row of an id."""
        return next(row for rows in self.tables.values() for row in rows if row.get("id") == key)

    def names(self, ids: Iterable[str]) -> list[str]:
        """Return the names of rows by their ids."""
        return sorted({self.row(key)["name"] for key in ids})

    def sources(self, table: str, targets: Iterable[str]) -> set[str]:
        """Return the ids from which edges of a table lead to some."""
        wanted = set(targets)
        return {row["source"] for row in self.tables[table] if row["target"] in wanted}

    def targets(self, table: str, sources: Iterable[str]) -> set[str]:
        """Return the ids to which edges of a table lead from some."""
        wanted = set(sources)
        return {row["target"] for row in self.tables[table] if row["source"] in wanted}

    def graph(self, folder: Path) -> Graph:
        """Return the graph that the product makes of the rows."""
        if not self.is_folder:
            return Graph.from_records(nodes=list(self._nodes()), edges=list(self._edges()))
        source = folder / self.name
        source.mkdir(parents=True)
        for table, rows in self.tables.items():
            with (source / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows)
        import_graph([source], folder / f"{self.name}-graph")
        return Graph.open(folder / f"{self.name}-graph")

    def _nodes(self) -> Iterator[Node]:
        for table, rows in self.tables.items():
            for row in rows:
                if "source" not in row:
                    properties = {key: value for key, value in row.items() if key not in ("id", "name")}
                    yield Node(row["id"], table, row["name"], "", (), {k: v for k, v in properties.items() if v != ""})

    def _edges(self) -> Iterator[Edge]:
        for table, rows in self.tables.items():
            for row in rows:
                if "source" in row:
                    properties = {key: value for key, value in row.items() if key not in ("source", "target")}
                    yield Edge(row["source"], table, row["target"], properties=properties)


class Maker:
    """Makes rows at random, with names that no two things have unless they are told to."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._people = [f"{first} {last}" for first in FIRST.split() for last in LAST.split()]
        self.chance.shuffle(self._people)
        self._taken = set[str]()

    def person(self) -> str:
        """Return the name of a person."""
        return self._people.pop()

    def invented(self, parts: int = 2, more: str = "") -> str:
        """Return an invented name, such as `Feltav`."""
        while True:
            name = "".join(self.chance.sample(SYLLABLES.split(), parts)).capitalize() + more
            if name not in self._taken:
                self._taken.add(name)
                return name

    def year(self, first: int, last: int) -> int:
        """Return a year."""
        return self.chance.randint(first, last)

    def edges(self, sources: Iterable[str], targets: Iterable[str], number: int, **more: Any) -> list[Row]:
        """Return so many edges, no two of them between the same ends, and none from a thing to itself."""
        possible = [(a, b) for a in sorted(sources) for b in sorted(targets) if a != b]
        chosen = self.chance.sample(possible, min(number, len(possible)))
        return [{"source": a, "target": b, **{k: make() for k, make in more.items()}} for a, b in chosen]

    def one_each(self, sources: Iterable[str], targets: Iterable[str], **more: Any) -> list[Row]:
        """Return an edge from each source to one of the targets."""
        ends = sorted(targets)
        return [
            {"source": key, "target": self.chance.choice(ends), **{k: make() for k, make in more.items()}}
            for key in sorted(sources)
        ]


def cinema(seed: int) -> World:
    """People who direct, act and are mentored; films with years that share a word, and lists of moods."""
    make = Maker(seed)
    world = World("cinema")
    tables = world.tables
    tables["person"] = [
        {"id": f"p{i}", "name": make.person(), "birth_year": make.year(1930, 1999), "birth_town": ""} for i in range(34)
    ]
    towns = [make.invented() for _ in range(5)]
    for row in tables["person"]:
        row["birth_town"] = make.chance.choice(towns)
    tables["studio"] = [{"id": f"s{i}", "name": make.invented(3), "founded": make.year(1900, 1980)} for i in range(6)]
    tables["studio"].append({"id": "s9", "name": "Birth", "founded": 1955})
    tables["film"] = [
        {
            "id": f"f{i}",
            "name": make.invented(2, f" {make.invented()}"),
            "release_year": make.year(1961, 2019),
            "restoration_year": make.year(2000, 2024),
            "running_time": make.year(61, 199),
            "moods": sorted(make.chance.sample(["grim", "tender", "absurd", "solemn"], 2)),
        }
        for i in range(32)
    ]
    tables["film"].append(
        {"id": "f99", "name": "Release", "release_year": 1977, "restoration_year": 2011, "running_time": 88,
         "moods": ["grim", "solemn"]}
    )  # fmt: skip
    people, films = world.ids("person"), world.ids("film")
    tables["directed"] = [{"source": row["target"], "target": row["source"]} for row in make.one_each(films, people)]
    tables["acted_in"] = make.edges(people, films, 130)
    tables["mentored"] = make.edges(people, people, 40)
    tables["produced_by"] = make.one_each(films, sorted(world.ids("studio"))[:4])  # three have made nothing
    return world


def press(seed: int) -> World:
    """Papers that cite one another, books beside them, authors who write and review."""
    make = Maker(seed)
    world = World("press")
    tables = world.tables
    tables["author"] = [{"id": f"a{i}", "name": make.person(), "born": make.year(1940, 1990)} for i in range(24)]
    tables["journal"] = [
        {"id": f"j{i}", "name": make.invented(2, " Letters"), "founded": make.year(1900, 1990)} for i in range(5)
    ]
    tables["paper"] = [
        {"id": f"w{i}", "name": make.invented(3), "year": make.year(1970, 2020), "pages": make.year(4, 60)}
        for i in range(40)
    ]
    tables["book"] = [
        {"id": f"b{i}", "name": make.invented(3), "year": make.year(1970, 2020), "pages": make.year(90, 600)}
        for i in range(14)
    ]
    authors, papers, books = world.ids("author"), world.ids("paper"), world.ids("book")
    tables["wrote"] = make.edges(authors, papers, 80) + make.edges(authors, books, 24)
    tables["reviewed"] = make.edges(authors, papers, 50)
    tables["cites"] = make.edges(papers, papers, 120)
    tables["published_in"] = make.one_each(papers, sorted(world.ids("journal"))[:4])
    return world


def harbour(seed: int) -> World:
    """Ships, their owners and the harbours and towns that each may be in."""
    make = Maker(seed)
    world = World("harbour")
    tables = world.tables
    tables["town"] = [{"id": f"t{i}", "name": make.invented(), "population": make.year(900, 90000)} for i in range(8)]
    tables["harbour"] = [
        {"id": f"h{i}", "name": make.invented(2, " Quay"), "depth_m": make.year(4, 30), "covered": make.year(0, 1) == 1}
        for i in range(14)
    ]
    tables["company"] = [
        {"id": f"c{i}", "name": make.invented(2, " Lines"), "founded": make.year(1850, 2010)} for i in range(10)
    ]
    tables["ship"] = [
        {"id": f"s{i}", "name": make.invented(3), "built": make.year(1950, 2019), "length_m": make.year(20, 320)}
        for i in range(36)
    ]
    towns, harbours, companies, ships = (world.ids(table) for table in ("town", "harbour", "company", "ship"))
    tables["located_in"] = make.one_each(harbours, towns)
    tables["based_in"] = make.one_each(companies, towns)
    tables["launched_in"] = make.one_each(ships, towns)
    tables["owned_by"] = make.one_each(ships, sorted(companies)[:6])  # four own none
    tables["calls_at"] = make.edges(ships, sorted(harbours)[:11], 90)
    return world


def clinic(seed: int) -> World:
    """Doctors, patients and wards, with dates on the edges, and namesakes."""
    make = Maker(seed)
    world = World("clinic")
    tables = world.tables
    tables["doctor"] = [
        {"id": f"d{i}", "name": make.person(), "qualified": make.year(1980, 2015), "retired": make.year(0, 1) == 1}
        for i in range(20)
    ]
    for number in (1, 3):  # two pairs of namesakes
        tables["doctor"][number]["name"] = tables["doctor"][number - 1]["name"]
    tables["patient"] = [
        {"id": f"p{i}", "name": make.person(), "born": make.year(1930, 2010), "insured": make.year(0, 1) == 1}
        for i in range(36)
    ]
    tables["ward"] = [{"id": f"w{i}", "name": make.invented(), "beds": make.year(8, 40)} for i in range(7)]
    doctors, patients, wards = (world.ids(table) for table in ("doctor", "patient", "ward"))
    tables["treats"] = make.edges(doctors, patients, 90)
    tables["works_on"] = make.edges(doctors, wards, 34, since=lambda: make.year(1995, 2023))
    tables["referred"] = make.edges(doctors, doctors, 30)
    return world


def league(seed: int) -> World:
    """A folder: teams, players, matches, and a join table of goals in which pairs are repeated."""
    make = Maker(seed)
    world = World("league", is_folder=True)
    tables = world.tables
    tables["teams"] = [
        {"id": f"T{i}", "name": make.invented(2, " United"), "founded": make.year(1880, 1990)} for i in range(6)
    ]
    tables["players"] = [
        {"id": f"P{i}", "name": make.person(), "team_id": f"T{i % 5}", "born": make.year(1980, 2005),
         "shirt_number": make.year(1, 99)}
        for i in range(30)
    ]  # fmt: skip
    tables["matches"] = [
        {"id": f"M{i}", "name": f"{make.invented(3)} Cup",
         "played_on": f"{make.year(2015, 2023)}-0{make.year(1, 9)}-1{i % 10}", "attendance": make.year(300, 9000)}
        for i in range(16)
    ]  # fmt: skip
    tables["goals"] = [
        {"match_id": f"M{make.year(0, 13)}", "player_id": f"P{make.year(0, 19)}", "minute": make.year(1, 90)}
        for _ in range(90)
    ]
    return world


def shop(seed: int) -> World:
    """A folder: customers, orders and products, of which some have no price that is a number."""
    make = Maker(seed)
    world = World("shop", is_folder=True)
    tables = world.tables
    countries = [make.invented() for _ in range(4)]
    tables["customers"] = [
        {"id": f"C{i}", "name": make.person(), "country": make.chance.choice(countries), "phone_number": 5550100 + i}
        for i in range(18)
    ]
    tables["suppliers"] = [
        {"id": f"S{i}", "name": make.invented(2, " Trading"), "country": make.chance.choice(countries)}
        for i in range(6)
    ]
    tables["products"] = [
        {"id": f"X{i}", "name": make.invented(3), "supplier_id": f"S{i % 5}",
         "list_price": "on request" if i % 9 == 4 else make.year(100, 9900) / 100,
         "purchase_price": make.year(50, 5000) / 100, "book_value": make.year(1000, 9000)}
        for i in range(36)
    ]  # fmt: skip
    tables["orders"] = [
        {"id": f"O{i}", "customer_id": f"C{make.year(0, 14)}",
         "ordered_on": f"{make.year(2018, 2023)}-{make.year(1, 12):02}-{make.year(1, 28):02}",
         "status": make.chance.choice(["open", "shipped", "cancelled"])}
        for i in range(60)
    ]  # fmt: skip
    tables["order_lines"] = [
        {"order_id": f"O{make.year(0, 59)}", "product_id": f"X{make.year(0, 29)}", "quantity": make.year(1, 9)}
        for _ in range(120)
    ]
    return world


def music(seed: int) -> World:
    """A folder: artists, albums and tracks, of which several bear one name."""
    make = Maker(seed)
    world = World("music", is_folder=True)
    tables = world.tables
    tables["artists"] = [
        {"id": f"A{i}", "name": make.invented(2, f" {make.invented()}"), "formed": make.year(1960, 2010)}
        for i in range(10)
    ]
    tables["albums"] = [
        {"id": f"L{i}", "name": make.invented(3), "artist_id": f"A{i % 8}", "year": make.year(1965, 2022)}
        for i in range(26)
    ]
    for number in (0, 1, 2):  # called as their artists
        tables["albums"][number]["name"] = tables["artists"][number]["name"]
    tables["tracks"] = [
        {"id": f"K{i}", "name": make.invented(3), "album_id": f"L{make.year(0, 23)}", "seconds": make.year(90, 600)}
        for i in range(110)
    ]
    for number in (0, 1, 4):
        tables["tracks"][number]["name"] = tables["artists"][number]["name"]
    tables["sales"] = [
        {"id": f"Z{i}", "track_id": f"K{make.year(0, 99)}", "pieces": make.year(1, 20)} for i in range(150)
    ]
    return world


WORLDS = {make.__name__: make for make in (cinema, press, harbour, clinic, league, shop, music)}
"""The worlds by name, each made from a seed."""
