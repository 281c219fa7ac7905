"""JSON, YAML and GEDCOM as tables: rows wherever they are, and what is within them, without a row lost."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import (
    ImportOptions,
    ImportReport,
    graph_directory,
    import_graph,
    nested_tables,
    tables_of_json_lines,
)

PORTS = [
    {"id": "p1", "name": "Holm", "country": "Norway"},
    {"id": "p2", "name": "Salt", "country": "Denmark"},
    {"id": "p3", "name": "Noor", "country": "Norway"},
]
ORDERS = [
    {
        "id": f"o{number}",
        "paid": number % 2 == 0,
        "customer": {"id": f"c{number % 3}", "name": ["Ann", "Bo", "Cy"][number % 3], "address": {"city": "Oslo"}},
        "items": [{"sku": "net", "count": number + 1}, {"sku": "rope", "count": 2}],
        "tags": ["new", "north"],
        "ship": {"mode": "sea", "days": number},
    }
    for number in range(6)
]


def as_json(path: Path, value: Any) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps(value))
    return path


def as_yaml(path: Path, value: Any) -> Path:
    import yaml

    path = path.with_suffix(".yaml")
    path.write_text(yaml.safe_dump(value, sort_keys=False))
    return path


def as_lines(path: Path, value: list[Any]) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in value))
    return path


def as_json_in_lines(path: Path, value: Any) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps(value, indent=1))
    return path


Write = Callable[[Path, Any], Path]
ALL = pytest.mark.parametrize("write", [as_json, as_yaml, as_lines])
BOTH = pytest.mark.parametrize("write", [as_json, as_yaml])


def imported(path: Path, tmp_path: Path) -> tuple[ImportReport, Graph]:
    return import_graph([path], tmp_path / "graph"), Graph.open(tmp_path / "graph")


@BOTH
@pytest.mark.parametrize(
    ("value", "called"),
    [
        (PORTS, ""),
        ({"items": PORTS}, "#items"),
        ({"data": PORTS, "meta": {"page": 1}}, "#data"),
        ({"count": 3, "ports": PORTS, "next": None}, "#ports"),
        ({"register": {"ports": PORTS}}, "#register.ports"),
        ({row["id"]: {"name": row["name"], "country": row["country"]} for row in PORTS}, ""),
        ({"features": [{"type": "Feature", "properties": row, "geometry": None} for row in PORTS]}, "#features"),
    ],
    ids=["a list", "items", "data and meta", "a key", "two keys", "objects under keys", "GeoJSON"],
)
def test_rows_are_found_wherever_they_are(value: Any, called: str, write: Write, tmp_path: Path) -> None:
    path = write(tmp_path / "ports", value)
    report, graph = imported(path, tmp_path)
    assert report.node_types == {"port": 3}
    assert report.mapping[0].file == f"{path}{called}"
    assert [graph.node(row["id"]).properties["country"] for row in PORTS] == [row["country"] for row in PORTS]


@ALL
def test_what_is_within_rows_is_a_table_that_leads_to_them(write: Write, tmp_path: Path) -> None:
    report, graph = imported(write(tmp_path / "orders", ORDERS), tmp_path)
    assert {"order": 6, "item": 12, "customer": 3}.items() <= report.node_types.items()
    assert {"customer": 6, "order": 12}.items() <= report.edge_types.items()
    order = graph.node("o4").properties
    assert (order["paid"], order["ship.mode"], order["ship.days"]) == (True, "sea", 4)
    assert {graph.node(f"c{number}").properties["address.city"] for number in range(3)} == {"Oslo"}
    assert not report.dropped


@ALL
def test_the_same_people_under_two_keys_are_one_table(write: Write, tmp_path: Path) -> None:
    people = [{"login": f"u{number}", "name": f"Person {number}"} for number in range(4)]
    papers = [
        {"id": f"a{number}", "title": f"Paper {number}", "author": people[number % 4], "reviewers": people[:2]}
        for number in range(8)
    ]
    report, _ = imported(write(tmp_path / "papers", papers), tmp_path)
    assert sum(report.node_types.values()) == 8 + 4
    assert report.edges == 8 + 16


@ALL
def test_what_is_within_a_row_takes_no_part_in_what_it_is(write: Write, tmp_path: Path) -> None:
    rows = [{**row, "meta": {"name": "Other", "type": "thing", "at": number}} for number, row in enumerate(PORTS)]
    report, graph = imported(write(tmp_path / "ports", rows), tmp_path)
    assert report.node_types["port"] == 3
    assert [graph.node(row["id"]).name for row in PORTS] == [row["name"] for row in PORTS]


def test_rows_without_a_key_get_one(tmp_path: Path) -> None:
    teams = [{"city": "Oslo", "players": [{"shirt": n, "goals": n} for n in (1, 2, 3)]} for _ in range(4)]
    report, _ = imported(as_json(tmp_path / "teams", teams), tmp_path)
    assert (sum(report.node_types.values()), report.edges) == (4 + 12, 12)


def test_what_is_said_of_a_thing_in_several_places_is_put_together(tmp_path: Path) -> None:
    ann = {"id": "a", "name": "Ann"}
    ships = [{"id": f"s{n}", "owner": {**ann, "berths": [{"id": f"b{n}", "at": n}]}} for n in range(4)]
    report, _ = imported(as_json(tmp_path / "ships", ships), tmp_path)
    assert {"ship": 4, "owner": 1, "berth": 4}.items() <= report.node_types.items()


def test_lines_of_objects_are_rows_whatever_the_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text("\n".join(map(json.dumps, PORTS)))
    assert imported(tmp_path / "ports.json", tmp_path)[0].node_types == {"port": 3}


@BOTH
def test_a_file_is_asked_as_a_table(write: Write, tmp_path: Path) -> None:
    path = write(tmp_path / "ports", PORTS)
    graph = Graph.open(graph_directory(path, cache=tmp_path / "cache"))
    assert set(graph.arrays.manifest.node_types) == {"port"}


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        [{}],
        [[]],
        {"a": {}},
        {"openapi": "3.0", "info": {"title": "x"}, "servers": [{"url": "x"}], "paths": {"/a": {"get": {"x": 1}}}},
        {"name": "x", "dependencies": {"a": "1"}, "contributors": [{"name": "Ann"}]},
        7,
        None,
        "words",
    ],
    ids=repr,
)
@BOTH
def test_values_without_rows_are_no_table(value: Any, write: Write, tmp_path: Path) -> None:
    path = write(tmp_path / "odd", value)
    with pytest.raises(BadInput, match="is not among the formats"):
        import_graph([path], tmp_path / "graph")
    as_json(tmp_path / "ports", PORTS)
    assert import_graph([tmp_path], tmp_path / "both").node_types == {"port": 3}


LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{f'*a{n}, ' * 9}]\n" for n in range(9))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", "[" * 100_000),
        ("deep.yaml", "[" * 100_000),
        ("inner.yaml", "- " * 50_000 + "a"),
        ("laughs.yaml", LAUGHS),
        ("circle.yaml", "a: &a [*a]\n"),
        ("several.yaml", "a: 1\n---\nb: 2\n"),
        ("object.yaml", "!!python/object/apply:os.getcwd []\n"),
        ("tab.yaml", "a:\n\t- b: 1\n"),
        ("date.yaml", "- a: 2024-99-99\n  b: 1\n"),
        ("cut.json", '[{"a": 1}, {"a": '),
        ("cut.ged", "0 HEAD\n1 CHAR UTF-8\n"),
        ("bytes.json", '[{"a": "\\ud83d"}]'),
    ],
)
def test_hostile_files_are_refused(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=name):
        import_graph([tmp_path / name], tmp_path / "graph")


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text("ab é", max_size=3)
KEYS = st.sampled_from(["id", "name", "x", "items"])
NO_TEXT = st.just("\ud83d")
VALUES: st.SearchStrategy[Any] = st.deferred(
    lambda: SCALARS | NO_TEXT | st.lists(VALUES, max_size=4) | st.dictionaries(KEYS | NO_TEXT, VALUES, max_size=4)
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(value=VALUES)
@example(value={"\ud83d": [{"id": False}]})
@example(value=[{"id": 1, "\ud83d": [{"x": 1}, {"x": 2}]}, {"id": 2, "\ud83d": {"id": 3, "\ud83d": [{"id": 4}]}}])
def test_no_value_gives_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("any")
    with suppress(BadInput):
        import_graph([as_json(folder / "any", value)], folder / "graph")


PERSON = st.sampled_from([{"login": f"u{number}", "name": f"P{number % 3}"} for number in range(5)])
CELLS = st.deferred(
    lambda: (
        SCALARS.filter(lambda cell: cell == cell)  # no NaN, which equals nothing
        | PERSON
        | st.lists(PERSON, max_size=3)
        | st.lists(st.sampled_from(["new", "north"]), max_size=2)
        | st.dictionaries(KEYS, CELLS, max_size=4)
        | st.lists(st.dictionaries(KEYS, CELLS, max_size=4), max_size=3)
    )
)
ROWS = st.lists(st.dictionaries(KEYS, CELLS, min_size=1, max_size=4), min_size=1, max_size=9)


def told(tables: list[Any]) -> list[object]:
    """Return all that tables hold, in a form that tells 1 from 1.0 and true."""
    return sorted((table.called, repr(sorted(table.cells.items())), sorted(table.links.items())) for table in tables)


def scalars(value: Any) -> set[str]:
    """Return what a value says anywhere within it."""
    if isinstance(value, dict | list):
        members = value.values() if isinstance(value, dict) else value
        return {scalar for member in members for scalar in scalars(member)}
    return set() if value is None else {repr(value)}


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(rows=ROWS)
def test_everything_in_nested_rows_is_in_a_table(rows: list[dict[str, Any]]) -> None:
    tables = nested_tables(rows, "rows")
    found = {scalar for table in tables for cells in table.cells.values() for scalar in scalars(list(cells))}
    assert scalars(rows) <= found
    for table in tables:
        assert len({len(cells) for cells in table.cells.values()}) == 1
        for column, (called, key) in table.links.items():
            (other,) = [other for other in tables if other.called == called]
            assert scalars(list(table.cells[column])) - scalars(rows) <= scalars(list(other.cells[key]))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rows=ROWS, at_once=st.integers(1, 4))
def test_lines_in_parts_are_the_tables_of_the_whole(
    rows: list[dict[str, Any]], at_once: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [{"first": {"x": 1}}, *rows]
    path = as_lines(tmp_path_factory.mktemp("lines") / "rows", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(tables_of_json_lines), "HELD_ROWS", at_once)
        patch.setattr(inside(nested_tables), "COMPARED", 2)
        in_parts = tables_of_json_lines(path)
    assert told(in_parts) == told(nested_tables(rows, "rows"))


ISSUES = [
    {
        "id": number,
        "title": f"Issue {number}",
        "user": {"login": f"u{number % 3}", "type": "User", "name": f"P{number}"},
    }
    for number in range(40)
]


def test_objects_that_stay_in_cells_say_nothing_of_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_lines(tmp_path / "issues", ISSUES)
    monkeypatch.setattr(inside(tables_of_json_lines), "MOST_LINES", 100)
    report, graph = imported(path, tmp_path)
    assert report.node_types == {"issue": 40}
    assert any("objects stay in the cells" in note for note in report.notes)
    issue = graph.node("7")
    assert (issue.name, issue.properties["user.login"], issue.properties["user.type"]) == ("Issue 7", "u1", "User")


def test_a_line_that_is_no_unicode_costs_one_row_of_nested_ones(tmp_path: Path) -> None:
    path = as_lines(tmp_path / "orders", ORDERS)
    path.write_bytes(path.read_bytes() + b'{"id": "\xff", "customer": {"id": "c0"}}\n{"id": "\\ud83d"}\n\n')
    report, _ = imported(path, tmp_path)
    assert {"order": 6, "item": 12, "customer": 3}.items() <= report.node_types.items()
    assert [(group.reason, group.count) for group in report.dropped] == [("bad encoding", 2)]


@pytest.mark.parametrize("bad", [{"id": "b", "\ud83d": 1}, {"id": "b", "x": ["\ud83d"]}, {"id": "b", "x": "\ud83d"}])
def test_a_row_that_is_no_unicode_anywhere_is_dropped(bad: dict[str, Any], tmp_path: Path) -> None:
    report, graph = imported(as_json(tmp_path / "ports", [{"id": "a", "x": ["y"]}, bad]), tmp_path)
    assert list(graph.node_ids()) == ["a"]
    assert [(group.reason, group.count) for group in report.dropped] == [("bad encoding", 1)]


@pytest.mark.parametrize(
    ("write", "lines"),
    [(as_json, [1, 1, 1]), (as_lines, [3, 4, 4]), (as_json_in_lines, [15, 20, 23])],
)
def test_what_is_no_number_in_json_is_told_wherever_it_is(write: Write, lines: list[int], tmp_path: Path) -> None:
    """Python writes `NaN`, which JSON lacks; a text of these letters is one."""
    rows = [{"id": f"s{number}", "name": f'Ship {number} "NaN', "long": 1.5 * number} for number in range(6)]
    rows[2]["long"] = math.nan
    rows[3] |= {"long": math.nan, "sails": [1.5, math.nan]}
    report, graph = imported(write(tmp_path / "ships", rows), tmp_path)
    assert [group.reason for group in report.dropped] == ["NaN"]
    assert [place.line for place in report.dropped[0].first] == lines
    assert "dropped 3 NaN: no value of JSON, read as none" in report.render()
    assert graph.node("s2").properties == {}
    assert graph.node("s3").properties["sails"] == [1.5]


def test_a_broken_line_of_nested_ones_is_named(tmp_path: Path) -> None:
    path = as_lines(tmp_path / "orders", ORDERS)
    path.write_text(path.read_text() + '{"id": "o9", "customer": {\n')
    with pytest.raises(BadInput, match="line 7, .*broken JSON"):
        import_graph([path], tmp_path / "graph")


def test_objects_of_ever_new_keys_are_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside(nested_tables), "MOST_CELLS", 100)
    uses = [{f"lib{number}-{place}": "1.0" for place in range(4)} for number in range(60)]
    rows = [{"id": number, "uses": used, "by": {"at": number}} for number, used in enumerate(uses)]
    (table,) = nested_tables(rows, "packages")
    assert table.cells == {"id": list(range(60)), "uses": uses, "by.at": list(range(60))}


def test_things_that_differ_in_a_value_are_no_things() -> None:
    for one, other in ((1, True), (1, 1.0), (1, "1"), (0, None)):
        rows = [{"of": {"id": number % 3, "at": other if number == 8 else one}} for number in range(9)]
        (table,) = nested_tables(rows, "rows")
        assert list(map(repr, table.cells["of.at"])) == [*[repr(one)] * 8, repr(other)]


# ------------------------------------------------------------------------------------------------------ family trees

TREE = """\
0 HEAD
1 CHAR UTF-8
0 @I1@ INDI
1 NAME Ada /Holm/
1 SEX F
1 BIRT
2 DATE 1 MAY 1901
2 PLAC Salt Bay
1 NOTE A skipper,
2 CONC  and a painter.
2 CONT Never wed twice.
1 FAMS @F1@
0 @I2@ INDI
1 NAME Bo /Noor/
1 FAMS @F1@
0 @I3@ INDI
1 NAME Cy /Noor/
1 FAMC @F1@
0 @I4@ INDI
1 NAME Di /Noor/
1 FAMC @F1@
0 @F1@ FAM
1 HUSB @I2@
1 WIFE @I1@
1 CHIL @I3@
1 CHIL @I4@
1 MARR
2 DATE 1920
0 TRLR
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_people_and_families_of_a_tree(encoding: str, line_end: str, tmp_path: Path) -> None:
    path = tmp_path / "tree.ged"
    path.write_bytes(TREE.replace("Salt", "Sält").replace("\n", line_end).encode(encoding))
    report, graph = imported(path, tmp_path)
    assert report.node_types == {"person": 4, "family": 1}
    ada = graph.node("I1")
    assert (ada.name, ada.properties["birth date"], ada.properties["birth place"]) == (
        "Ada Holm",
        "1901-05-01",
        "Sält Bay",
    )
    assert "A skipper, and a painter.\nNever wed twice." in (ada.text, ada.properties.get("note"))
    assert {report.edge_types[kind] for kind in ("wife", "child")} == {1, 2}


def _keyed_json(folder: Path) -> None:
    rows = [{"id": n, "name": f"P{n}", "more": {"pin": f"secret{n % 2}", "town": f"T{n % 2}"}} for n in range(4)]
    (folder / "people.jsonl").write_text("\n".join(map(json.dumps, rows)))


def _listed_json(folder: Path) -> None:
    rows = [{"pin": f"secret{n}", "name": f"P{n}", "pets": [{"sort": "cat", "age": n}] * 2} for n in range(4)]
    (folder / "people.jsonl").write_text("\n".join(map(json.dumps, rows)))


def _database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "people.db")) as made:
        made.execute("CREATE TABLE card (town TEXT, pin TEXT UNIQUE)")
        made.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, card TEXT REFERENCES card(pin))")
        made.executemany("INSERT INTO card VALUES (?, ?)", [(f"T{n}", f"secret{n}") for n in range(2)])
        made.executemany("INSERT INTO person VALUES (?, ?, ?)", [(n, f"P{n}", f"secret{n % 2}") for n in range(4)])
        made.commit()


@pytest.mark.parametrize("make", [_keyed_json, _listed_json, _database])
def test_a_private_key_is_nowhere_not_even_in_what_leads_to_it(make: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    make(tmp_path / "in")
    with suppress(BadInput):  # it may be refused, since nothing else tells the rows apart
        import_graph([tmp_path / "in"], tmp_path / "graph", options=ImportOptions(private=("pin",)))
        graph = Graph.open(tmp_path / "graph")
        assert any(node.name == "P1" for node in map(graph.node, graph.arrays.ids))
    assert not [file for file in tmp_path.glob("graph/**/*") if file.is_file() and b"secret" in file.read_bytes()]
