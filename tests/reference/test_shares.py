"""Medians, shares and majorities over random tables, against plain Python: right, or refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

TEAMS = ("Redport", "Ashby", "Kelmont")
COUNTRIES = ("France", "Norway", "Spain")


class Player(NamedTuple):
    name: str
    team: str
    country: str
    height: int | None
    goals: int


@pytest.fixture(scope="module", params=range(6))
def league(request) -> tuple[Retriever, list[Player]]:
    chance = random.Random(request.param)
    players = [
        Player(
            f"Player {number}",
            chance.choice(TEAMS),
            chance.choice(COUNTRIES),
            chance.randrange(160, 200) if request.param % 2 or chance.random() < 0.8 else None,
            chance.randrange(4),
        )
        for number in range(23)
    ]
    nodes = [Node(team, "team", team) for team in TEAMS]
    nodes += [Node(f"m{number}", "match", f"Match {number}") for number in range(4)]
    edges = []
    for one in players:
        told = {"country": one.country} | ({"height_cm": one.height} if one.height is not None else {})
        nodes.append(Node(one.name, "player", one.name, properties=told))
        edges.append(Edge(one.name, "plays_for", one.team))
        edges += [Edge(one.name, "scored_in", f"m{number}") for number in range(one.goals)]
    return Retriever(Graph.from_records(nodes, edges), method="anchor"), players


def asked(players: list[Player]) -> Iterator[tuple[str, float | bool | None]]:
    """Yield questions with a percentage, a number, yes or no; None where the heights that are told do not tell."""

    def share(held: list[bool]) -> float:
        return 100 * sum(held) / len(held)

    def most(held: list[bool | None]) -> bool | None:
        yes, no = held.count(True), held.count(False)
        return True if 2 * yes > len(held) else False if 2 * no >= len(held) else None

    for country in COUNTRIES:
        held = [one.country == country for one in players]
        yield f"What share of players are from {country}?", share(held)
        yield f"What percentage of the players are from {country}?", share(held)
        yield f"What % of players are from {country}?", share(held)
        yield f"% of players from {country}", share(held)
        yield f"Are most players from {country}?", most(held)
        yield f"Are a majority of players from {country}?", most(held)
        yield f"Is the majority of the players from {country}?", most(held)
        own = [one for one in players if one.country == country]
        for team in TEAMS:
            held = [one.team == team for one in own]
            yield f"What percentage of players from {country} play for {team}?", share(held)
            yield f"Do most players from {country} play for {team}?", most(held)
            yield f"Do more than half of the players from {country} play for {team}?", most(held)
    for height in (165, 180, 195):
        tall = [None if one.height is None else one.height > height for one in players]
        yield f"What proportion of players are taller than {height} cm?", share([bool(one) for one in tall])
        yield f"Are most players taller than {height} cm?", most(tall)
        yield f"Are most of the players taller than {height} cm?", most(tall)
    for number in range(1, 3):
        many = [one.goals > number for one in players]
        yield f"What share of players scored in more than {number} matches?", share(many)
        yield f"Did most players score in more than {number} matches?", most(many)
    heights = [one.height for one in players if one.height is not None]
    yield "What is the median height of the players?", median(heights)
    yield "median height of players", median(heights)
    yield "highest height of players", max(heights)
    for team in TEAMS:
        own = [one.height for one in players if one.team == team and one.height is not None]
        if own:
            yield f"What is the median height of the players of {team}?", median(own)
            yield f"lowest height for {team}", min(own)
            yield f"What was the highest height for {team}?", max(own)
            yield f"shortest height of players who play for {team}", min(own)


def test_shares_medians_and_majorities_are_those_of_the_table(league) -> None:
    retriever, players = league
    refused, every = 0, list(asked(players))
    for question, wanted in every:
        result = retriever.ask(question, k=5)
        assert result.reading is not None
        told = result.answer
        if not result.reading.complete:
            refused += 1
        elif wanted is None or isinstance(wanted, bool):
            assert told == {True: "yes", False: "no", None: None}[wanted], (question, result.reading.text)
        else:
            assert told is not None
            assert float(told.split()[0]) == pytest.approx(wanted, abs=0.006), (question, result.reading.text)
    assert len(every) > 40
    assert refused <= 0.1 * len(every)


def test_what_has_no_value_is_told_beside_a_share(league) -> None:
    retriever, players = league
    result = retriever.ask("What share of players are taller than 180 cm?", k=5)
    unknown = sum(one.height is None for one in players)
    assert any("counted as not meeting it" in note for note in result.notes) == bool(unknown)


@pytest.mark.parametrize(
    "question",
    [
        "Which team won most of the matches?",
        "players % from France",
        "Which % players are from France?",
        "What share of the goals?",
        "Which teams have most of their players?",
    ],
)
def test_most_of_something_is_no_superlative(league, question: str) -> None:
    reading = league[0].ask(question).reading
    assert reading is None or not reading.complete, reading


@pytest.mark.parametrize(
    "line",
    [
        'share of player that -plays_for-> "Ashby" meets country = "France"',
        'whether most player meets country = "France" and -plays_for-> "Ashby"',
        "median height_cm of player per -plays_for-> team",
    ],
)
def test_lines_are_written_as_they_are_read(league, line: str) -> None:
    reading = league[0].ask("by hand", reading=line, k=5).reading
    assert reading is not None
    assert reading.text == line
