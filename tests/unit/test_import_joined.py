"""Columns that name rows only together: ids of two columns, what leads there, and people by their two names."""

from __future__ import annotations

import csv
import random
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, ImportReport, import_graph, mappings_as_toml, spec_of


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
    write(folder / "colonies.csv", "yard,hive,queen", [(*place, f"Q{at}") for at, place in enumerate(places)])
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


@pytest.mark.parametrize(
    ("file", "header", "second"),
    [
        ("enrolments.csv", "student,course_id", "course"),
        ("friends.csv", "a,b", "student"),
        ("friend_edges.csv", "source,target", "student"),
    ],
)
def test_ends_of_edges_may_be_people_by_their_two_names(file: str, header: str, second: str, tmp_path: Path) -> None:
    folder = tmp_path / "school"
    folder.mkdir()
    draw = random.Random(4)
    people = [(f"First{at % 20}", f"Family{at}", 20 + at % 30) for at in range(50)]
    courses = [(f"C{at:03}", f"Course {at}") for at in range(20)]
    write(folder / "students.csv", "first_name,last_name,age", people)
    write(folder / "courses.csv", "course_id,title", courses)
    names = [f"{first} {last}" for first, last, _ in people]
    ends = names if second == "student" else [name for name, _ in courses]
    pairs = draw.sample([(a, b) for a in names for b in ends if a < b or second == "course"], 150)
    write(folder / file, header, pairs)
    graph, report = imported(folder, tmp_path / "graph")
    assert not report.dropped
    targets = {name: name if second == "course" else graph.node(name).name for name in graph.node_ids()}
    found = [(graph.node(edge.source).name, targets[edge.target]) for edge in graph.iter_edges()]
    assert sorted(found) == sorted(pairs)


def test_two_ends_of_one_table_are_no_key_that_hides_them(tmp_path: Path) -> None:
    draw = random.Random(8)
    folder = tmp_path / "services"
    folder.mkdir()
    write(folder / "services.csv", "id,name", [(at, f"service-{at}") for at in range(1, 20)])
    pairs = draw.sample([(a, b) for a in range(1, 20) for b in range(1, 20) if a != b], 60)
    write(folder / "dependencies.csv", "service_id,depends_on_id,kind", [(*pair, "sync") for pair in pairs])
    report = import_graph([folder], None)
    assert (report.node_types, report.edges) == ({"service": 19}, 60)


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        ("street,town,size", ["New", "New York", "Far", "Near"], ["York Hill", "Hill", "Stone", "Leaf"]),
        ("row+side,seat,size", ["A", "B", "C", "D"], ["1", "2", "3", "4"]),
    ],
)
def test_columns_that_cannot_be_joined_lose_no_row(
    header: str, first: list[str], second: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "places"
    folder.mkdir()
    write(folder / "places.csv", header, [(a, b, 7) for a in first for b in second])
    graph, report = imported(folder, tmp_path / "graph")
    assert report.node_types["place"] == 16
    assert not report.dropped


def test_a_private_column_is_no_part_of_another(tmp_path: Path) -> None:
    folder = tmp_path / "ward"
    folder.mkdir()
    with sqlite3.connect(folder / "ward.db") as database:
        database.executescript(
            "CREATE TABLE patient (ssn TEXT, born TEXT, ward TEXT, PRIMARY KEY (ssn, born));"
            "CREATE TABLE visit (no INTEGER PRIMARY KEY, ssn TEXT, born TEXT,"
            " FOREIGN KEY (ssn, born) REFERENCES patient (ssn, born));"
        )
        people = [(f"SSN{at % 4}", str(1950 + at // 4)) for at in range(12)]
        database.executemany("INSERT INTO patient VALUES (?, ?, 'W')", people)
        database.executemany("INSERT INTO visit VALUES (?, ?, ?)", [(at, *people[at]) for at in range(12)])
        database.execute("INSERT INTO visit VALUES (12, 'SSN9', '1950')")
    database.close()
    graph, report = imported(folder, tmp_path / "graph", ImportOptions(private=("ssn",)))
    assert "SSN" not in report.model_dump_json()
    assert "SSN" not in "".join(repr(graph.node(name)) for name in graph.node_ids())
    assert "patient" not in {edge.type for edge in graph.iter_edges()}


@pytest.mark.parametrize("role", ["id", "name"])
def test_a_private_column_that_a_table_is_given_by_is_refused(hives: Path, role: str, tmp_path: Path) -> None:
    options = ImportOptions(
        nodes=(spec_of(f"{hives / 'colonies.csv'}:{role}=yard", is_edges=False),), private=("yard",)
    )
    with pytest.raises(BadOption, match="'yard' cannot be private and used"):
        import_graph([], None, options=options)


def test_a_private_column_of_a_mapping_is_ignored_or_refused(hives: Path, tmp_path: Path) -> None:
    _, report = imported(hives, tmp_path / "first")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(mappings_as_toml(report.mapping, [hives]), encoding="utf-8")
    with pytest.raises(BadOption, match="'hive' cannot be private and used"):
        import_graph([hives], None, options=ImportOptions(mapping=mapping, private=("hive",)))
    edges = tmp_path / "edges"
    edges.mkdir()
    write(edges / "e.csv", "a,b,kind,note,town", [("x", "y", "hidden1", "hidden2", "hidden3")])
    roles = 'a = "source new p"\nb = "target new p"\nkind = "type"\nnote = "label"\ntown = "about source"'
    mapping.write_text(f'[[table]]\nfile = "e.csv"\nkind = "edges"\n[table.columns]\n{roles}\n', encoding="utf-8")
    options = ImportOptions(mapping=mapping, private=("kind", "note", "town"))
    graph, report = imported(edges, tmp_path / "second", options)
    assert "hidden" not in report.model_dump_json() + repr(list(graph.iter_edges()))
    assert report.private == {"kind": 1, "note": 1, "town": 1}


def test_a_column_whose_name_is_that_of_two_others_is_itself(tmp_path: Path) -> None:
    """What is made of two columns is no property, but a column of the file is."""
    folder = tmp_path / "boats"
    folder.mkdir()
    draw = random.Random(3)
    words = ["north", "south", "west"]
    rows = [(f"B{at:02}", f"c{at}", f"d{at % 7}", draw.choice(words), draw.choice(words)) for at in range(40)]
    write(folder / "boats.csv", "boat,c,d,c+d,coast", rows)
    graph, report = imported(folder, tmp_path / "graph")
    assert report.mapping[0].columns["c+d"] == "edge c_d -> new c_d"
    assert [graph.node(row[0]).properties["c+d"] for row in rows] == [row[3] for row in rows]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('"yard+hiv" = "prefixed id"', "no column 'hiv', a part of 'yard+hiv'. Its columns are: yard, hive, queen"),
        ('"yad+hive" = "prefixed id"', "no column 'yad', a part of 'yad+hive'"),
        ('"yad+hiv" = "prefixed id"', "no column 'yad+hiv'"),
        (
            '"yard+hive" = "edge of -> colony.yard+hiv"',
            "leads to colony.yard+hiv, and no table of nodes of the type colony has the column hiv",
        ),
        ('"yard+hiv" = "edge of -> colony.yard+hive"', "no column 'hiv', a part of 'yard+hiv'"),
    ],
)
def test_of_columns_that_are_joined_the_one_that_is_missing_is_named(
    wrong: str, told: str, hives: Path, tmp_path: Path
) -> None:
    _, report = imported(hives, tmp_path / "graph")
    right = "edge" if "edge" in wrong else "prefixed id"
    lines = mappings_as_toml(report.mapping, [hives]).splitlines()
    mapping = [wrong if line.startswith(f'"yard+hive" = "{right}') else line for line in lines]
    (tmp_path / "mapping.toml").write_text("\n".join(mapping), encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(told)):
        import_graph([hives], None, options=ImportOptions(mapping=tmp_path / "mapping.toml"))
