"""Whatever edge joins things: mere values are linked if they are spoken of, and no path leads over them.

The tables are made at random, and networkx finds the paths.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import pytest

from orienteer import Result, Retriever

COUNTRIES = ("Varland", "Ostmark", "Kellia")
CLUBS = ("Quay Rovers", "Marsh City", "Fen Albion", "Holt United", "Wick Town")
VENUES = ("Dock Road", "Mill Lane", "Grain Yard")
FIRST = ["Alma", "Bruno", "Carla", "Dario", "Edda", "Fabio", "Greta", "Hugo"]
LAST = ["Abelund", "Brandvik", "Corvan", "Drexel"]
Row = dict[str, Any]


class Sport(NamedTuple):
    """Tables, and the same asked by a method."""

    players: list[Row]
    fixtures: list[Row]
    ask: Retriever

    def links(self, *columns: str) -> nx.Graph:
        """Return the graph of what columns of the players lead to, by names."""
        names = {f"P{at}": row["name"] for at, row in enumerate(self.players)}
        names |= {f"C{at}": name for at, name in enumerate(CLUBS)} | {f"V{at}": name for at, name in enumerate(VENUES)}
        links = nx.Graph()
        links.add_nodes_from(row["name"] for row in self.players)
        for row in self.fixtures:
            links.add_edges_from((row["id"], end) for end in (names[row["club_id"]], names[row["venue_id"]]))
        links.add_edges_from(
            (row["name"], names.get(row[column], row[column]))
            for row in self.players
            for column in columns
            if row[column]
        )
        return links


def written(folder: Path, table: str, rows: list[Row]) -> None:
    with (folder / f"{table}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module", params=range(3))
def sport(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sport:
    chance, folder = random.Random(request.param), tmp_path_factory.mktemp("sport")
    players: list[Row] = [
        {
            "id": f"P{at}",
            "name": f"{first} {last}",
            "country": chance.choice(COUNTRIES),
            "club_id": chance.choice(["", *(f"C{at}" for at in range(len(CLUBS)))]),
            "mentor_id": f"P{chance.randrange(at)}" if at and chance.random() < 0.5 else "",
        }
        for at, (first, last) in enumerate((first, last) for last in LAST for first in FIRST)
    ]
    fixtures = [
        {"id": f"{300 + at}", "club_id": f"C{chance.randrange(len(CLUBS))}", "venue_id": f"V{chance.randrange(3)}"}
        for at in range(20)
    ]
    written(folder, "players", players)
    written(folder, "fixtures", fixtures)
    written(folder, "clubs", [{"id": f"C{at}", "name": name} for at, name in enumerate(CLUBS)])
    written(folder, "venues", [{"id": f"V{at}", "name": name} for at, name in enumerate(VENUES)])
    return Sport(players, fixtures, Retriever(str(folder), "anchor"))


def told(result: Result) -> set[str] | None:
    """Return the names of an answer; None if the question was refused."""
    if result.reading is None or not result.reading.complete:
        return None
    return {hit.name for hit in result.hits if hit.complete}


def most(counts: Counter[str]) -> set[str]:
    return {name for name, count in counts.items() if count == max(counts.values())}


def test_a_value_that_is_spoken_of_is_linked(sport: Sport) -> None:
    by_country = Counter(row["country"] for row in sport.players)
    asked = {
        "which country is linked to the most players": most(by_country),
        "Which country is connected to the most players?": most(by_country),
        **{
            question.format(country): {row["name"] for row in sport.players if row["country"] == country}
            for country in COUNTRIES
            for question in ("Which players are linked to {}?", "Who is linked to {}?", "neighbours of {}")
        },
    }
    for question, names in asked.items():
        assert told(sport.ask.ask(question, k=99)) == names, question


def test_links_of_things_are_counted_without_values(sport: Sport) -> None:
    by_club = Counter(row["club_id"] for row in sport.players if row["club_id"])
    names = {CLUBS[int(club[1:])] for club in most(by_club)}
    assert told(sport.ask.ask("which club is linked to the most players")) == names


@pytest.mark.parametrize("question", ["which club is linked to the most venues", "Which venue has the most clubs?"])
def test_no_most_is_told_of_what_nothing_joins(sport: Sport, question: str) -> None:
    assert told(sport.ask.ask(question)) != set(), question


def test_no_path_passes_mere_values(sport: Sport) -> None:
    links, people = sport.links("club_id", "mentor_id"), {row["name"] for row in sport.players}
    chosen = random.Random(0).sample([*combinations(sorted(people), 2)], 20)
    for first, second in chosen:
        through = told(sport.ask.ask(f"Through whom are {first} and {second} connected?", k=99))
        path = told(sport.ask.ask(f"How are {first} and {second} connected?", k=99))
        if not nx.has_path(links, first, second):
            assert (through, path or None) == (None, None), (first, second)
            continue
        between = {name for path in nx.all_shortest_paths(links, first, second) for name in path[1:-1]}
        assert through == (between & people or None), (first, second)
        assert (path or set()) <= {first, second, *between}, (first, second)
        assert len(path or ()) == nx.shortest_path_length(links, first, second) + 1, (first, second)


def test_a_path_to_a_mere_value_passes_values(sport: Sport) -> None:
    every, country = sport.links("club_id", "mentor_id", "country"), COUNTRIES[0]
    for row in sport.players[:5]:
        path = told(sport.ask.ask(f"How are {row['name']} and {country} connected?", k=99))
        assert len(path or ()) == nx.shortest_path_length(every, row["name"], country) + 1, row


def test_what_things_have_in_common_is_refused_rather_than_nothing(sport: Sport) -> None:
    links, values = sport.links("club_id", "mentor_id"), sport.links("country")
    names = sorted(row["name"] for row in sport.players)
    for first, second in random.Random(1).sample([*combinations(names, 2)], 20):
        shared = [set(one.neighbors(first)) & set(one.neighbors(second)) for one in (links, values)]
        read = told(sport.ask.ask(f"What do {first} and {second} have in common?", k=99))
        assert read == (shared[0] or shared[1] or None), (first, second)


def test_who_asks_for_no_neighbours_but_people(sport: Sport) -> None:
    links, people = sport.links("club_id", "mentor_id"), {row["name"] for row in sport.players}
    for name in sorted(people)[:10]:
        read = told(sport.ask.ask(f"Who are the neighbours of {name}?", k=99))
        assert read in (None, set(links.neighbors(name)) & people), name
