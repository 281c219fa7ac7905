"""Columns that lead to rows of their own table, by name or by value; keys of a table that is not there lead nowhere."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph, mappings_as_toml

Rows = Sequence[Mapping[str, object]]


def written(folder: Path, **tables: Rows) -> Path:
    folder.mkdir()
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return folder


def edges_of(folder: Path, **options: bool) -> set[tuple[str, str, str]]:
    import_graph([folder], folder.parent / "graph", options=ImportOptions(**options))
    return {(edge.source, edge.type, edge.target) for edge in Graph.open(folder.parent / "graph").iter_edges()}


@pytest.mark.parametrize("column", ["ParentId", "reports to", "manager", "Vorgesetzter", "mère", "superior_id"])
def test_few_numbers_lead_to_rows_of_their_own_table_by_its_name(column: str, tmp_path: Path) -> None:
    rows = [{"id": at, "name": f"P {at}", column: 1 if at > 1 else ""} for at in range(1, 5)]
    ends = {(source, target) for source, _, target in edges_of(written(tmp_path / "tables", staff=rows))}
    assert ends == {("2", "1"), ("3", "1"), ("4", "1")}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("job", ["brewer", "head driver", "Lighting Designer"])
def test_small_numbers_lead_to_the_rows_that_say_what_the_column_says(job: str, seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    jobs = [job if at % 3 == 0 else draw.choice(["clerk", "cook", "guide"]) for at in range(1, 25)]
    staff = [{"id": at, "name": f"P {at}", "job title": title} for at, title in enumerate(jobs, 1)]
    pubs = [{"id": at, "name": f"Inn {at}", "opened": 1900 + at} for at in range(1, 31)]
    column = f"{job.split()[-1].casefold()}_id"
    rounds = [{"id": at, "day": f"2024-01-{at:02}", column: 3 * draw.randint(1, 8)} for at in range(1, 20)]
    edges = edges_of(written(tmp_path / "tables", staff=staff, pubs=pubs, rounds=rounds))
    assert {edge for edge in edges if edge[0].startswith("round:")} == {
        (f"round:{row['id']}", column.removesuffix("_id"), f"staff:{row[column]}") for row in rounds
    }


def test_a_chain_is_found_by_its_values_whatever_its_name_is(tmp_path: Path) -> None:
    order = random.Random(5).sample(range(100, 140), 40)
    followed = dict(zip(order, order[1:], strict=False))
    rows = [{"id": node, "name": f"Stop {node}", "following_id": followed.get(node, "")} for node in sorted(order)]
    assert edges_of(written(tmp_path / "tables", stops=rows)) == {
        (str(a), "following", str(b)) for a, b in followed.items()
    }


@pytest.mark.parametrize(
    "owner",
    [
        lambda node: node % 7 + 1,  # few, and they repeat
        lambda node: 31 - node,  # each once, and every row has one
        lambda node: "" if node % 3 else 500 + node,  # ids of something else
    ],
)
def test_keys_of_a_table_that_is_not_there_lead_to_no_rows_of_this_one(owner, tmp_path: Path) -> None:
    rows = [{"id": node, "name": f"Pet {node}", "owner_id": owner(node)} for node in range(1, 31)]
    assert edges_of(written(tmp_path / "tables", pets=rows)) == set()


@pytest.mark.slow
def test_what_is_found_is_told_with_its_share_and_can_be_refused(tmp_path: Path) -> None:
    rows = [{"id": at, "name": f"P {at}", "boss": f"P {at // 2}" if at > 1 else ""} for at in range(1, 9)]
    rows.append({"id": 9, "name": "P 9", "boss": "Nobody"})
    folder = written(tmp_path / "tables", people=rows)
    with pytest.raises(BadInput, match="boss: 80% of its values are names of person rows .not: Nobody"):
        import_graph([folder], tmp_path / "strict", options=ImportOptions(strict=True))
    report = import_graph([folder], tmp_path / "graph")
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("unresolved", 1)]
    edges = {(edge.source, edge.target) for edge in Graph.open(tmp_path / "graph").iter_edges()}
    assert edges == {(str(at), str(at // 2)) for at in range(2, 9)}
    (tmp_path / "mapping.toml").write_text(
        mappings_as_toml(report.mapping, [folder]).replace(LEADS, '"boss" = "property"')
    )
    import_graph([folder], tmp_path / "refused", options=ImportOptions(mapping=tmp_path / "mapping.toml"))
    refused = Graph.open(tmp_path / "refused")
    assert list(refused.iter_edges()) == []
    assert refused.node("P 8").properties == {"boss": "P 4"}


LEADS = '"boss" = "edge boss -> person.name"'


def test_numbers_without_a_telling_name_lead_to_rows_of_their_own_table(tmp_path: Path) -> None:
    """A tree whose one root has no value, and chains."""
    above = {number: number // 2 for number in range(2, 41)}
    following = {number: number + 1 for number in range(1, 31) if number % 3}
    tasks = [{"id": at, "name": f"Task {at}", "above_id": above.get(at, "")} for at in range(1, 41)]
    films = [{"id": at, "title": f"Film {at}", "sequel_id": following.get(at, "")} for at in range(1, 31)]
    truth = {(f"task:{one}", "above", f"task:{other}") for one, other in above.items()}
    truth |= {(f"film:{one}", "sequel", f"film:{other}") for one, other in following.items()}
    assert edges_of(written(tmp_path / "rows", task=tasks, film=films)) == truth
