"""When people joined and left, and what they were, over random contracts with dates, against plain loops."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

PEOPLE = ("Ann Lee", "Bob Ray", "Cy Dunn", "Dee Fox", "Eli Orr", "Fay Moss", "Gus Hale", "Ida Penn")
CLUBS = ("Redport Rovers", "Ashby", "Kelmont Town")
ROLES = ("player", "coach", "scout")


class Contract(NamedTuple):
    person: str
    club: str
    role: str
    start_date: str
    end_date: str | None


@pytest.fixture(scope="module", params=range(5))
def league(request) -> tuple[Retriever, list[Contract]]:
    chance = random.Random(request.param)
    rows = []
    for person, club in chance.sample([(person, club) for person in PEOPLE for club in CLUBS], 18):
        start = chance.randrange(1990, 2015)
        end = f"{start + chance.randrange(1, 9)}-06-30" if chance.random() < 0.7 else None
        rows.append(Contract(person, club, chance.choice(ROLES), f"{start}-08-01", end))
    return retriever(rows), rows


def retriever(rows: list[Contract], *further: Edge) -> Retriever:
    nodes = [Node(name, "person", name) for name in PEOPLE] + [Node(name, "club", name) for name in CLUBS]
    edges = []
    for row in rows:
        told = {"role": row.role, "start_date": row.start_date, "end_date": row.end_date}
        own = {name: value for name, value in told.items() if value is not None}
        edges.append(Edge(row.person, "contracts", row.club, properties=own))
    return Retriever(Graph.from_records(nodes, [*edges, *further]), method="anchor")


def asked(rows: list[Contract]) -> Iterator[tuple[str, set[str] | str]]:
    for club in CLUBS:
        own = [row for row in rows if row.club == club]
        for year in (1995, 2000, 2007):
            begun = {row.person for row in own if row.start_date < f"{year}"}
            yield f"Who joined {club} before {year}?", begun
            yield f"Which persons signed for {club} before {year}?", begun
            ended = [row for row in own if row.end_date is not None]
            yield f"Who left {club} before {year}?", {row.person for row in ended if (row.end_date or "") < f"{year}"}
            left = {row.person for row in ended if (row.end_date or "").startswith(str(year))}
            yield f"Who left {club} in {year}?", left
            there = [row for row in own if row.start_date <= f"{year}-01-01"]
            there = [row for row in there if row.end_date is None or row.end_date >= f"{year}-01-01"]
            yield f"who was under contract at {club} as of 1 January {year}", {row.person for row in there}
        for role in ROLES:
            having = [row for row in own if row.role == role]
            yield f"{role}s of {club}, past and present".replace("chs", "ches"), {row.person for row in having}
        now = {row.person for row in own if row.role == "coach" and row.end_date is None}
        yield f"who coaches {club}", now
    for row in rows:
        yield f"When did {row.person} join {row.club}?", row.start_date
        if row.end_date is not None:
            yield f"When did {row.person} leave {row.club}?", row.end_date


def test_joining_begins_an_edge_and_leaving_ends_it(league) -> None:
    asking, rows = league
    refused, every = [], list(asked(rows))
    for question, wanted in every:
        result = asking.ask(question, k=50)
        assert result.reading is not None
        if not result.reading.complete:
            refused.append(question)
        elif isinstance(wanted, str):
            assert result.answer == wanted, (question, result.reading.text)
        else:
            told = {hit.name for hit in result.hits if hit.complete}
            assert told == wanted, (question, result.reading.text)
    assert len(every) > 80
    assert refused == []


@pytest.mark.parametrize(
    "question", ["Who left Ashby?", "Which clubs did Ann Lee leave?", "Who never left Ashby?", "who is left of Ashby"]
)
def test_who_left_did_not_only_join(league, question: str) -> None:
    reading = league[0].ask(question).reading
    assert reading is None or not reading.complete, reading


def test_of_two_edges_with_dates_none_is_joined(league) -> None:
    both = retriever(league[1], Edge("Ann Lee", "loans", "Ashby", properties={"start_date": "2003-01-01"}))
    for question in ("Who joined Ashby before 2000?", "When did Ann Lee join Ashby?"):
        reading = both.ask(question).reading
        assert reading is None or not reading.complete, reading


def test_who_joined_us_began_then() -> None:
    """Where people have a date of their own, who only "joined in 2003" may have joined either."""
    chance = random.Random(1)
    year = {name: chance.randrange(2001, 2005) for name in PEOPLE}
    nodes = [Node(name, "person", name, properties={"hired_on": f"{year[name]}-03-01"}) for name in PEOPLE]
    edges = [Edge("Ann Lee", "contracts", "Ashby", properties={"start_date": "2003-01-01"})]
    asking = Retriever(Graph.from_records([*nodes, Node("Ashby", "club", "Ashby")], edges), method="anchor")
    for own in range(2001, 2005):
        for question, wanted in {
            f"Who joined us in {own}?": {name for name in PEOPLE if year[name] == own},
            f"persons who joined the company before {own}": {name for name in PEOPLE if year[name] < own},
        }.items():
            result = asking.ask(question, k=50)
            assert result.reading is not None
            assert result.reading.complete, question
            assert {hit.name for hit in result.hits if hit.complete} == wanted, result.reading.text
    reading = asking.ask("Who joined in 2003?").reading
    assert reading is None or not reading.complete, reading


def test_what_each_did_is_counted_for_each() -> None:
    chance = random.Random(2)
    scored = {f"g{number}": chance.choice(CLUBS) for number in range(20)}
    nodes = [Node(club, "club", club) for club in CLUBS] + [Node(goal, "goal", goal) for goal in scored]
    graph = Graph.from_records(nodes, [Edge(goal, "club", club) for goal, club in scored.items()])
    result = Retriever(graph, method="anchor").ask("How many goals did each club score?")
    told = (part.rpartition(": ") for part in (result.answer or "").split("; "))
    wanted = {club: list(scored.values()).count(club) for club in CLUBS if club in scored.values()}
    assert {club: int(number) for club, _, number in told} == wanted
