"""A hundred folders of tables as people have them: what the import makes of each, against truths written by hand."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from tables import OWN, Outcome, Told, Truth, facts_of, folder_of, outcome_of, truths_in

TRUTHS = truths_in(OWN / "truths")
RIGHT = 2979  # of 3,000 facts
WRONG = 3  # facts that were told wrongly, links to a wrong table among them
LETTERS = {
    "bibliothek": "latin-1",
    "receitas": "latin-1",
    "porty": "cp1251",
    "fjord": "cp1252",
    "degustateurs": "cp1252",
    "biavl": "cp1252",
    "ergaleia": "utf-16",
    "bunbougu": "cp932",
    "cave_cooperative": "cp1252",
    "divadlo": "cp1250",
    "imkerverein": "cp1252",
    "radwerkstatt": "cp1252",
    "shebei": "gb18030",
}
MOST_BESIDE = 3
"""Rows of totals, units and notes of a table, which are none of its rows."""
HEADLESS = {"repeaters"}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: outcome_of(folder_of(name, [OWN]) or OWN, truth) for name, truth in TRUTHS.items()}


@pytest.mark.slow
def test_facts_are_told_as_they_are(outcomes: dict[str, Outcome]) -> None:
    facts = [(name, fact) for name, outcome in outcomes.items() for fact in outcome.facts]
    verdicts = Counter(fact.verdict for _, fact in facts)
    wrong = [f"{name}, {fact.table}: {fact.name} ({fact.seen})" for name, fact in facts if fact.verdict == "wrong"]
    assert verdicts["right"] >= RIGHT, verdicts
    assert len(wrong) <= WRONG, wrong


@pytest.mark.slow
def test_no_row_is_lost_unsaid(outcomes: dict[str, Outcome]) -> None:
    assert {name: outcome.lost for name, outcome in outcomes.items() if outcome.lost} == {}


def _files() -> list[Any]:
    of_text = ((name, table, wanted) for name, truth in TRUTHS.items() for table, wanted in truth["tables"].items())
    return [
        pytest.param(name, table, wanted, id=f"{name}-{table}")
        for name, table, wanted in of_text
        if wanted["file"][-4:] in (".csv", ".tsv") and table not in HEADLESS
    ]


@pytest.mark.parametrize(("name", "table", "wanted"), _files())
def test_the_truths_are_of_the_files_that_are_here(name: str, table: str, wanted: Truth) -> None:
    path = OWN / name / wanted["file"]
    lines = path.read_text(encoding=LETTERS.get(name, LETTERS.get(table, "utf-8-sig"))).splitlines()
    named = {*wanted.get("kinds", ()), *wanted.get("links", ()), *wanted.get("sums", ()), *wanted.get("check", ())}
    named = {column for name in named for several in name.split("|") for column in several.split("+")}
    named |= {part for column in (*wanted.get("key", ()), *wanted.get("name", ())) for part in column.split("+")}
    delimiter = max(",;\t", key=lambda sign: sum(line.count(sign) for line in lines))
    found = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    first = next(place for place, row in enumerate(found) if named <= set(row) and len(row) > 1)
    header = found[first]
    rows = [row for row in found[first + 1 :] if row != header]
    assert wanted["rows"] <= len(rows) <= wanted["rows"] + MOST_BESIDE
    rows = rows[: wanted["rows"]]
    for column, (value, count) in wanted.get("check", {}).items():
        if column not in wanted.get("kinds", {}):  # a number or a date is written otherwise in the file
            assert [row[header.index(column)] for row in rows].count(value) == count
    for key in wanted.get("key", ()):
        values = [tuple(row[header.index(part)] for part in key.split("+")) for row in rows]
        assert len(set(values)) == len(values)


# ---------------------------------------------------------------------------------------------------- the measure

WANTED: Truth = {
    "file": "boats.csv",
    "rows": 3,
    "as": ["things"],
    "key": ["no"],
    "name": ["first+last", "title"],
    "links": {"port": "ports", "maker": "new", "from_id|from": "ports"},
    "maybe": ["twin"],
    "kinds": {"length": "number", "built": "date", "code": "text"},
    "sums": {"length": 12.5},
    "check": {"code": ["007", 1]},
}
TRUTH: Truth = {"tables": {"boats": WANTED, "ports": {"file": "ports.csv", "rows": None, "as": ["things"]}}}
TOLD = {
    "kind": "things",
    "rows": 3,
    "key": "no",
    "names": ("last", "first"),
    "links": {"port": "ports", "maker": "new", "from": "ports", "twin": "ports"},
    "kinds": {"length": "number", "built": "date", "code": "text"},
    "sums": {"length": 12.5},
    "checks": {"code": 1},
}


def verdicts(**changed: Any) -> dict[str, str]:  # Any: fields of `Told`
    told = Told(**{**TOLD, **changed})
    return {fact.name: fact.verdict for fact in facts_of(TRUTH, {"boats": told}) if fact.table == "boats"}


def test_a_table_that_is_told_as_it_is_has_every_fact_right() -> None:
    assert len(verdicts()) == 12
    assert set(verdicts().values()) == {"right"}


@pytest.mark.parametrize(
    ("changed", "fact", "verdict"),
    [
        ({"kind": "edges"}, "as", "wrong"),
        ({"rows": 2}, "rows", "wrong"),
        ({"key": None}, "key", "missing"),
        ({"key": "code"}, "key", "wrong"),
        ({"names": ("first",)}, "name", "wrong"),
        ({"names": ()}, "name", "wrong"),  # it is called by its key
        ({"names": ("title",)}, "name", "right"),
        ({"links": {"maker": "new"}}, "link port", "missing"),
        ({"links": {"port": "new:port"}}, "link port", "missing"),
        ({"links": {"port": "boats"}}, "link port", "wrong"),
        ({"links": {"from_id": "ports"}}, "link from_id|from", "right"),
        ({"links": {"code": "ports"}}, "false link code", "wrong"),
        ({"kinds": {"length": "text"}}, "kind length", "missing"),
        ({"kinds": {"code": "number"}}, "kind code", "wrong"),
        ({"kinds": {"built": "number"}}, "kind built", "wrong"),
        ({"sums": {"length": 12.4}}, "sum length", "wrong"),
        ({"sums": {}}, "sum length", "missing"),
        ({"checks": {"code": 0}}, "check code", "wrong"),
    ],
)
def test_what_is_told_otherwise_is_missing_or_wrong(changed: dict[str, Any], fact: str, verdict: str) -> None:
    assert verdicts(**changed)[fact] == verdict


def test_edges_are_asked_for_no_key_and_no_name() -> None:
    assert not {"key", "name"} & verdicts(kind="edges").keys()


def _folder(path: Path, **tables: Sequence[str]) -> Path:
    for name, lines in tables.items():
        (path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_that_are_in_no_node_and_in_no_report_are_lost(tmp_path: Path) -> None:
    folder = _folder(tmp_path, nodes=["id,name", "a,Ada", "b,Ben"], edges=["source,target", "a,b", "a,c"])
    edges = {"file": "edges.csv", "rows": 2, "as": ["edges"], "links": {"source": "nodes", "target": "nodes"}}
    nodes = {"file": "nodes.csv", "rows": 2, "as": ["things"]}
    dropped = outcome_of(folder, {"tables": {"nodes": nodes, "edges": edges}})
    assert [fact.name for fact in dropped.facts if fact.verdict != "right"] == ["rows"]
    assert dropped.lost == 0  # the report has the row that leads nowhere
    more = outcome_of(folder, {"tables": {"nodes": {**nodes, "rows": 3}, "edges": edges}})
    assert more.lost == 1
