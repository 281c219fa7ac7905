"""Values compared with what the graph tells, over random worlds, against plain Python: right, or refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import mean, median
from typing import NamedTuple

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

NAMES = (
    "Ann Lee",
    "Bob Ray",
    "Cy Dunn",
    "Dee Fox",
    "Eli Orr",
    "Fay Moss",
    "Gus Hale",
    "Ida Penn",
    "Jon Beck",
    "Kit Vale",
)
TEAMS = ("Sales", "Works")


class Person(NamedTuple):
    name: str
    boss: str | None
    father: str | None
    team: str
    salary: int | None
    born: int
    died: int | None


@pytest.fixture(scope="module", params=range(6))
def staff(request) -> tuple[Retriever, list[Person]]:
    chance = random.Random(request.param)

    def maybe(value: int) -> int | None:
        return value if chance.random() < 0.8 else None

    people: list[Person] = []
    for at, name in enumerate(NAMES):
        above = [one.name for one in people]
        born = chance.randrange(1900, 1960)
        boss, father = (chance.choice(above) if at and chance.random() < 0.8 else None for _ in range(2))
        team, salary, died = (
            chance.choice(TEAMS),
            maybe(chance.randrange(20, 90) * 100),
            maybe(born + chance.randrange(20, 60)),
        )
        people.append(Person(name, boss, father, team, salary, born, died))
    nodes = [Node(team, "team", team) for team in TEAMS]
    edges = []
    for one in people:
        told = {"salary": one.salary, "born": one.born, "died": one.died}
        own = {name: value for name, value in told.items() if value is not None}
        nodes.append(Node(one.name, "employee", one.name, properties=own))
        edges.append(Edge(one.name, "team", one.team))
        edges += [Edge(one.name, "boss", one.boss)] if one.boss else []
        edges += [Edge(one.name, "father", one.father)] if one.father else []
    return Retriever(Graph.from_records(nodes, edges), method="anchor"), people


def less(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one < other


def asked(people: list[Person]) -> Iterator[tuple[str, set[str]]]:
    by_name = {one.name: one for one in people}
    nobody = Person("", None, None, "", None, 0, None)
    boss = {one.name: by_name.get(one.boss or "", nobody) for one in people}
    father = {one.name: by_name.get(one.father or "", nobody) for one in people}
    earning = [one.salary for one in people if one.salary is not None]
    rich = {one.name for one in people if less(mean(earning), one.salary)}
    above = {one.name for one in people if less(boss[one.name].salary, one.salary)}
    yield "Which employees earn more than their boss?", above
    yield "employees whose salary is higher than that of their boss", above
    yield "Which employees earn less than their boss?", {p.name for p in people if less(p.salary, boss[p.name].salary)}
    yield "Which employees earn more than the average?", rich
    yield "employees with an above average salary", rich
    yield "employees with a salary above the average", rich
    yield "employees who earn less than average", {one.name for one in people if less(one.salary, mean(earning))}
    poor = {one.name for one in people if less(one.salary, median(earning))}
    yield "employees who earn less than the median salary of all employees", poor
    younger = {p.name for p in people if boss[p.name].name and p.born > boss[p.name].born}
    yield "Which employees are younger than their boss?", younger
    older = {p.name for p in people if boss[p.name].name and p.born < boss[p.name].born}
    yield "employees older than their boss", older
    sons = {p.name for p in people if father[p.name].name and less(p.died, father[p.name].born)}
    yield "Which employees died before their father was born?", sons
    late = {p.name for p in people if father[p.name].name and less(father[p.name].died, p.born)}
    yield "Which employees were born after their father died?", late
    yield "employees who died before their father", {p.name for p in people if less(p.died, father[p.name].died)}
    yield "employees born before the average", {p.name for p in people if p.born < mean(q.born for q in people)}
    for one in people:
        yield f"Which employees died before {one.name} was born?", {p.name for p in people if less(p.died, one.born)}
        born = {p.name for p in people if less(one.died, p.born)}
        yield f"Which employees were born after {one.name} died?", born


def test_values_are_compared_with_what_the_graph_tells(staff) -> None:
    retriever, people = staff
    refused, every = 0, list(asked(people))
    for question, wanted in every:
        result = retriever.ask(question, k=50)
        assert result.reading is not None
        if not result.reading.complete:
            refused += 1
            continue
        assert {hit.name for hit in result.hits if hit.complete} == wanted, (question, result.reading.text)
    assert len(every) > 30
    assert refused <= 0.1 * len(every)


@pytest.mark.parametrize(
    "question",
    [
        "employees of Sales who earn more than the average",  # of the employees, or of Sales?
        "Which employees are older than their team?",
        "employees whose boss earns more than their father",
    ],
)
def test_what_it_is_compared_with_is_to_be_known(staff, question: str) -> None:
    reading = staff[0].ask(question).reading
    assert reading is None or not reading.complete, reading


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ('employee that salary > average salary of (employee that -team-> "Sales")', None),
        ("employee that not salary >= salary at -boss-> employee", lambda one, boss: less(one.salary, boss.salary)),
        ("employee that born > died at -father-> employee", None),
        ('employee that died < born of "Fay Moss"', None),
    ],
)
def test_a_line_names_what_it_compares_with(staff, line: str, holds) -> None:
    retriever, people = staff
    result = retriever.ask("by hand", reading=line, k=50)
    assert result.reading is not None
    assert result.reading.text == line
    by_name = {one.name: one for one in people}
    if holds is not None:
        wanted = {one.name for one in people if one.boss and holds(one, by_name[one.boss])}
        assert {hit.name for hit in result.hits if hit.complete} == wanted
    own = [one.salary for one in people if one.team == "Sales" and one.salary is not None]
    if "Sales" in line:
        told = {one.name for one in people if own and less(mean(own), one.salary)}
        assert {hit.name for hit in result.hits if hit.complete} == told


_BUILT = ("2023-05-01", "2024-02-10", "2024-03-01", "2024-03-31", "2024-04-01", "2024-12-31", "2025-01-01")
_SPANS = {
    "2024": ("2024-01-01", "2024-12-31"),
    "March 2024": ("2024-03-01", "2024-03-31"),
    "1 April 2024": ("2024-04-01",) * 2,
}
_SAID = {"newer": ">", "older": "<", "later": ">", "earlier": "<"}


@pytest.mark.parametrize("word", _SAID)
@pytest.mark.parametrize("span", _SPANS)
def test_a_date_is_compared_with_all_of_a_span(word: str, span: str) -> None:
    """What is newer than March begins in April; ISO dates compare as texts."""
    boats = [Node(date, "boat", f"Boat {at}", properties={"built": date}) for at, date in enumerate(_BUILT)]
    first, last = _SPANS[span]
    truth = {date for date in _BUILT if (date > last if _SAID[word] == ">" else date < first)}
    built = "built " if word in ("later", "earlier") else ""
    result = Retriever(Graph.from_records(boats, []), method="anchor").ask(
        f"Which boats were {built}{word} than {span}?"
    )
    assert result.reading is not None
    assert {hit.id for hit in result.hits if hit.complete} == truth
