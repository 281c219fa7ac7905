"""Columns that name rows only together: ids of two columns, what leads there, and people by their two names."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, ImportReport, import_graph, mappings_as_toml


def write(path: Path, header: str, rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])


@pytest.fixture
def hives(tmp_path: Path) -> Path:
    """Hives that are counted anew in each yard, and visits to them."""
    draw = random.Random(5)
    folder = tmp_path / "hives"
    folder.mkdir()
    places = [(yard, number) for yard in ("Forest", "Meadow", "Shore", "Old Mill") for number in range(1, 9)]
    write(folder / "colonies.csv", "yard,hive,queen", [(*place, draw.choice([2021, 2022, 2023])) for place in places])
    visits = [(day % 28 + 1, *draw.choice(places), f"{day / 4}") for day in range(120)]
    write(folder / "visits.csv", "day,yard,hive,honey", visits)
    return folder


def imported(folder: Path, target: Path, options: ImportOptions | None = None) -> tuple[Graph, ImportReport]:
    report = import_graph([folder], target, options=options)
    return Graph.open(target), report


def test_two_columns_are_the_id_and_lead_to_it(hives: Path, tmp_path: Path) -> None:
    graph, report = imported(hives, tmp_path / "graph")
    assert graph.node("colony:Old Mill 3").properties["hive"] == 3
    with (hives / "visits.csv").open(encoding="utf-8") as file:
        wanted = sorted(f"colony:{row['yard']} {row['hive']}" for row in csv.DictReader(file))
    assert sorted(edge.target for edge in graph.iter_edges() if edge.type == "colony") == wanted
    assert report.node_types["colony"] == 32
    assert not report.dropped


def test_a_mapping_file_keeps_columns_that_are_joined(hives: Path, tmp_path: Path) -> None:
    first, report = imported(hives, tmp_path / "first")
    (tmp_path / "mapping.toml").write_text(mappings_as_toml(report.mapping, [hives]), encoding="utf-8")
    second, _ = imported(hives, tmp_path / "second", ImportOptions(mapping=tmp_path / "mapping.toml"))
    assert list(second.iter_edges()) == list(first.iter_edges())
    assert list(second.arrays.ids) == list(first.arrays.ids)


def test_a_row_that_lacks_a_part_of_its_key_leads_nowhere_and_is_counted(hives: Path, tmp_path: Path) -> None:
    with (hives / "visits.csv").open("a", encoding="utf-8") as file:
        file.write("3,Forest,,1.0\n4,Forest,99,1.0\n")
    graph, report = imported(hives, tmp_path / "graph")
    assert sum(edge.type == "colony" for edge in graph.iter_edges()) == 120
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("unresolved", 1)]


def test_pairs_that_join_two_tables_stay_edges(tmp_path: Path) -> None:
    draw = random.Random(2)
    folder = tmp_path / "films"
    folder.mkdir()
    write(folder / "users.csv", "user_id,name", [(f"U{at:03}", f"Person {at}") for at in range(40)])
    write(folder / "films.csv", "film_id,title", [(f"F{at:03}", f"Film {at}") for at in range(40)])
    pairs = draw.sample([(f"U{u:03}", f"F{f:03}") for u in range(40) for f in range(40)], 300)
    write(folder / "likes.csv", "user_id,film_id,stars", [(*pair, draw.randint(1, 5)) for pair in pairs])
    assert import_graph([folder], None).edges == 300


@pytest.mark.parametrize("order", [("first_name", "last_name"), ("last_name", "first_name")])
def test_people_are_named_by_their_two_names_in_either_order(order: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "staff"
    folder.mkdir()
    draw = random.Random(4)
    people = [(f"{at:05}", f"First{at % 30}", f"Family{at}") for at in range(60)]
    write(folder / "staff.csv", "number,first_name,last_name", people)
    leave = []
    for at in range(90):
        _, first, last = draw.choice(people)
        said = {"first_name": first, "last_name": last}
        leave.append((at + 1, f"{said[order[0]]} {said[order[1]]}", 1 + at % 9))
    write(folder / "leave.csv", "no,employee,days", leave)
    graph, _ = imported(folder, tmp_path / "graph")
    edges = {(edge.source, graph.node(edge.target).name) for edge in graph.iter_edges() if edge.type == "employee"}
    wanted = {
        (str(no), name if order[0] == "first_name" else " ".join(reversed(name.split()))) for no, name, _ in leave
    }
    assert len(edges) == 90
    assert {name for _, name in edges} == {name for _, name in wanted}


def test_two_ends_of_one_table_are_no_key_that_hides_them(tmp_path: Path) -> None:
    draw = random.Random(8)
    folder = tmp_path / "services"
    folder.mkdir()
    write(folder / "services.csv", "id,name", [(at, f"service-{at}") for at in range(1, 20)])
    pairs = draw.sample([(a, b) for a in range(1, 20) for b in range(1, 20) if a != b], 60)
    write(folder / "dependencies.csv", "service_id,depends_on_id,kind", [(*pair, "sync") for pair in pairs])
    report = import_graph([folder], None)
    assert (report.node_types, report.edges) == ({"service": 19}, 60)
