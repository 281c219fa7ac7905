"""The benchmark of questions that come with gold Cypher: which statements decide, and what is right by them."""

import csv
import json
import sys
from pathlib import Path

import pytest

from orienteer import Cypher, Graph
from orienteer.ingest import import_graph

FILMS = [("Ash", 1990), ("Birch", 1990), ("Cedar", 1995), ("Dogwood", 2001)]
CAST = [("Ann", "Ash"), ("Ann", "Birch"), ("Bo", "Ash"), ("Bo", "Cedar"), ("Cy", "Dogwood")]
pytestmark = pytest.mark.process
OLDEST = "MATCH (f:Film) RETURN f.title, f.year ORDER BY f.year LIMIT {}"


@pytest.fixture(scope="module")
def gold():
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        import gold_cypher
    finally:
        sys.path.remove(folder)
    return gold_cypher


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    tables = {
        "films": [(":ID", "title", "year:int", ":LABEL"), *((name, name, year, "Film") for name, year in FILMS)],
        "people": [(":ID", "name", ":LABEL"), *((name, name, "Person") for name in ("Ann", "Bo", "Cy"))],
        "cast": [(":START_ID", ":END_ID", ":TYPE"), *((*pair, "ACTED_IN") for pair in CAST)],
    }
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    out = tmp_path_factory.mktemp("graph") / "films"
    import_graph([folder], out)
    return out


@pytest.fixture(scope="module")
def asked(gold, films):
    cypher = Cypher(Graph.open(films))
    yield lambda statement, question="": gold.gold_of(cypher, statement.replace("title", "name"), question)
    cypher.close()


def test_who_ties_at_a_cut_may_stand_for_another(asked) -> None:
    found = asked(OLDEST.format(1), "Which is the oldest film?")
    assert found.form == "first in order"
    assert all(map(found.right, ({"ash"}, {"birch"}, {"ash", "birch"})))
    assert not any(map(found.right, ({"cedar"}, {"ash", "cedar"}, set())))


def test_an_order_that_the_question_does_not_state_is_arbitrary(asked) -> None:
    found = asked(OLDEST.format(2), "List the first 2 films.")
    assert found.form == "some"
    assert all(map(found.right, ({"ash", "birch"}, {"cedar", "dogwood"}, {"ash", "birch", "cedar", "dogwood"})))
    assert not any(map(found.right, ({"ash"}, {"ash", "birch", "cedar"}, {"ash", "ann"})))


def test_an_order_may_be_counted_before_the_cut(asked) -> None:
    statement = "MATCH (p:Person)-[:ACTED_IN]->(f) WITH p, count(f) AS n ORDER BY n DESC LIMIT 2 RETURN p.name, n"
    found = asked(statement, "Who acted in the most films?")
    assert found.right({"ann", "bo"})
    assert not found.right({"ann", "cy"})


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (f:Film) RETURN f.title ORDER BY coalesce(f.year, 0), 'a, b' LIMIT 1",
        "MATCH (f:Film) RETURN f.title AS film, f.year AS year ORDER BY year, 'a, b' ASC LIMIT 1",
        "MATCH (f:Film) RETURN f.title ORDER BY f.year SKIP 0 LIMIT 1",
        "MATCH (f:Film) RETURN f.title ORDER BY f.year + 0 ASCENDING SKIP 0 LIMIT 1",
        "MATCH (f:Film) WITH f, f.year AS year ORDER BY year, f.year + 1 SKIP 0 LIMIT 1 RETURN f.title",
    ],
)
def test_an_order_of_several_parts_is_understood(asked, statement: str) -> None:
    found = asked(statement, "Which is the oldest film?")
    assert all(map(found.right, ({"ash"}, {"birch"})))
    assert not found.right({"cedar"})


def test_what_is_skipped_is_not_ranked(asked) -> None:
    found = asked("MATCH (f:Film) RETURN f.title ORDER BY f.year + 0 SKIP 2 LIMIT 1", "Which is the third oldest film?")
    assert found.right({"cedar"})
    assert not found.right({"dogwood"})


def test_a_cut_that_cuts_nothing_decides(asked) -> None:
    assert asked(OLDEST.format(9)).form == "all"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("MATCH (f:Film) WHERE f.year > 2020 RETURN f.title", "returns nothing"),
        ("MATCH (f:Film) RETURN f.votes", "names what the graph lacks"),
        ("MATCH (f:Film) RETURN", "does not run"),
        (
            "MATCH (f:Film) RETURN f.title, f.year AS year ORDER BY coalesce(year, 0) LIMIT 1",
            "the order is not understood",
        ),
        ("MATCH (f:Film) WITH f ORDER BY f.year + 0 LIMIT 1 RETURN count(f)", "the order is not understood"),
        ("MATCH (f:Film) WITH f LIMIT 1 MATCH (p)-[:ACTED_IN]->(f) RETURN p.name", "cuts and goes on"),
    ],
)
def test_statements_that_decide_nothing_are_left_out(gold, asked, statement: str, reason: str) -> None:
    with pytest.raises(gold.Skipped, match=reason):
        asked(statement)


def test_the_command_asks_and_counts(gold, films, tmp_path, monkeypatch, capsys) -> None:
    rows = [
        ("Which films did Ann act in?", "MATCH ({name: 'Ann'})-[:ACTED_IN]->(f) RETURN f.title", "films"),
        ("How many films are there?", "MATCH (f:Film) RETURN count(f)", "films"),
        ("Which films did Bo act in?", "MATCH ({name: 'Ann'})-[:ACTED_IN]->(f) RETURN f.title", "films"),
        ("Which films did Ann sing in?", "MATCH ({name: 'Ann'})-[:ACTED_IN]->(f) RETURN f.title", "films"),
        ("Which films are popular?", "MATCH (f:Film) WHERE f.votes > 5 RETURN f.title", "films"),
        ("Which films did Cy act in?", "MATCH ({name: 'Cy'})-[:ACTED_IN]->(f) RETURN f.title", "others"),
    ]
    with (tmp_path / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("question", "cypher", "database"), *rows])
    words = [tmp_path / "questions.csv", films, "--database", "films", "--call", "tit.e=year", "--call", "title=name"]
    monkeypatch.setattr(sys, "argv", ["gold_cypher.py", *map(str, words), "--json", str(tmp_path / "figures.json")])
    gold.main()
    assert "4 of 5 questions" in capsys.readouterr().out
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["by_form"] == {"all": {"right": 1, "wrong": 1, "refused": 1}, "one value": {"right": 1}}
    assert figures["left_out"] == {"names what the graph lacks": 1}
