"""Tables that tempt an import to a wrong answer that looks like a right one: what is told of each instead."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from orienteer.graph import Graph
from orienteer.ingest import ImportReport, import_graph
from orienteer.records import Node


def made(folder: Path, files: Mapping[str, str]) -> tuple[Graph, ImportReport]:
    (folder / "files").mkdir()
    for name, text in files.items():
        (folder / "files" / name).write_text(text, encoding="utf-8")
    report = import_graph([folder / "files"], folder / "graph")
    return Graph.open(folder / "graph"), report


def rows_of(graph: Graph, node_type: str) -> list[Node]:
    nodes = (graph.node(node_id) for node_id in graph.arrays.ids)
    return [node for node in nodes if node.type == node_type]


def as_csv(header: str, rows: Sequence[Sequence[object]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def things(header: str, cells: Sequence[str]) -> str:
    return as_csv(f"name,{header}", [(f"Thing {at}", f'"{cell}"') for at, cell in enumerate(cells)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "words", ["A B C D E", "red blue green black white grey", "Lund Graz Faro Bern Ghent Riga Ulm"]
)
@pytest.mark.parametrize(
    "header", ["id,first,second", "plate,colour inside,colour outside", "person_id,birth_town,town"]
)
def test_two_columns_of_one_vocabulary_are_no_edges(header: str, words: str, seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rows = [(f"x{at}", draw.choice(words.split()), draw.choice(words.split())) for at in range(60)]
    graph, report = made(tmp_path, {"cars.csv": as_csv(header, rows)})
    assert report.node_types["car"] == 60
    assert {node.id for node in rows_of(graph, "car")} == {f"x{at}" for at in range(60)}


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("phone", ["069 123 453", "069 222 111", "030 555 444"]),
        ("mobile", ["+491701234563", "+491701234564", "+43662123456"]),
        ("fax", ["555 123 311", "555 124 118", "555 987 001"]),
        ("account", ["012 345 111", "098 765 222", "011 111 333"]),
        ("PLZ", ["10115", "80331", "20095"]),
        ("part", ["007", "012", "113"]),
    ],
)
def test_what_is_no_number_keeps_every_sign(header: str, cells: list[str], tmp_path: Path) -> None:
    graph, _ = made(tmp_path, {"things.csv": things(header, cells)})
    assert [node.properties[header] for node in rows_of(graph, "thing")] == cells


@pytest.mark.parametrize("big", ["1e400 kg", "123456789012345678901 kg"])
def test_a_number_that_no_graph_can_hold_stays_as_it_is_written(big: str, tmp_path: Path) -> None:
    graph, _ = made(tmp_path, {"things.csv": things("mass", ["5 kg", "7 kg", big])})
    assert rows_of(graph, "thing")[-1].properties == {"mass": big}


def test_a_unit_does_not_take_the_place_of_a_column_of_its_name(tmp_path: Path) -> None:
    graph, _ = made(tmp_path, {"things.csv": "id,weight,weight_kg\na,30 kg,3\nb,40 kg,4\n"})
    assert [dict(node.properties) for node in rows_of(graph, "thing")] == [
        {"weight": 30, "weight_kg": 3},
        {"weight": 40, "weight_kg": 4},
    ]


def test_years_first_in_one_column_say_nothing_of_days_first_in_another(tmp_path: Path) -> None:
    rows = [(f"T{at}", f"2024/01/{at:02}", f"{at:02}/02/2023") for at in range(1, 10)]
    graph, report = made(tmp_path, {"things.csv": as_csv("name,made,sold", rows)})
    assert {node.properties["sold"] for node in rows_of(graph, "thing")} == {f"2023-{at:02}-02" for at in range(1, 10)}
    assert "sold: no day is over 12; taken for month before day" in report.mapping[0].questions


@pytest.mark.parametrize(
    ("cells", "numbers", "question"),
    [
        (["1.247", "843", "2.010"], [1247, 843, 2010], "1.234 may be thousands or decimals; taken for thousands"),
        (["1.247", "1843", "2.010"], [1.247, 1843, 2.01], "1.234 may be thousands or decimals; taken for decimals"),
        (["1.247,5", "843", "2.010"], [1247.5, 843, 2010], ""),
    ],
)
def test_a_group_of_three_digits_is_asked_about_as_it_was_taken(
    cells: list[str], numbers: list[float], question: str, tmp_path: Path
) -> None:
    graph, report = made(tmp_path, {"things.csv": things("height", cells)})
    assert [node.properties["height"] for node in rows_of(graph, "thing")] == numbers
    assert report.mapping[0].questions == ((f"height: {question}",) if question else ())


def test_weeks_that_rise_with_the_ids_are_no_tree(tmp_path: Path) -> None:
    rows = [(at, f"Lesson {at}", max(0, at - 4) // 3 or "") for at in range(1, 60)]
    graph, _ = made(tmp_path, {"lessons.csv": as_csv("id,title,week", rows)})
    assert graph.arrays.manifest.edges == 0


def test_a_title_that_begins_as_a_total_is_a_row(tmp_path: Path) -> None:
    films = [*(f"Film {at}" for at in range(20)), "Sum of Us", "Total Recall"]
    graph, _ = made(tmp_path, {"films.csv": as_csv("title,votes", [(film, 7) for film in films])})
    assert sorted(node.name for node in rows_of(graph, "film")) == sorted(films)


def test_somebody_of_whom_nothing_is_known_is_a_row(tmp_path: Path) -> None:
    people = [*((f"Ann {at}", f"Town {at % 3}", at) for at in range(20)), ("Zed Lee", "", "")]
    graph, _ = made(tmp_path, {"people.csv": as_csv("name,town,age", people)})
    assert len(rows_of(graph, "person")) == 21


def test_tables_of_one_type_are_told_apart(tmp_path: Path) -> None:
    files = {
        "beer.csv": as_csv("id,name", [(at, f"Ale {at}") for at in range(1, 9)]),
        "beers.csv": as_csv("code,title", [(f"C{at}", f"Bock {at}") for at in range(1, 9)]),
        "pairs.csv": as_csv("beer_code,other_code", [(f"C{at}", f"C{at + 1}") for at in range(1, 8)]),
    }
    graph, _ = made(tmp_path, files)
    names = {f"{kind} {at}" for kind in ("Ale", "Bock") for at in range(1, 9)}
    assert {graph.node(node_id).name for node_id in graph.arrays.ids} == names
    assert graph.arrays.manifest.edges == 7


def test_rows_within_rows_of_two_lists_lose_no_row(tmp_path: Path) -> None:
    lines = [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]
    value = {"orders": [{"id": 1, "lines": lines}], "returns": [{"id": 1, "lines": lines}]}
    _, report = made(tmp_path, {"shop.json": json.dumps(value)})
    assert report.nodes == 6


def test_no_is_a_country_in_yaml_and_a_time_of_day_no_number(tmp_path: Path) -> None:
    countries = {"NO": "Norway", "SE": "Sweden"}
    text = "".join(f"- {{code: {code}, name: {name}, opens: 12:30:45}}\n" for code, name in countries.items())
    graph, _ = made(tmp_path, {"countries.yaml": text})
    assert {node.id: node.properties["opens"] for node in rows_of(graph, "country")} == dict.fromkeys(
        countries, "12:30:45"
    )


FEATURE = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": []}}


@pytest.mark.parametrize(
    ("value", "note"),
    [
        ({"currency": "EUR", "items": [{"id": 1, "p": 2}, {"id": 2, "p": 3}]}, "beside the rows, not read: currency"),
        (
            {
                "type": "FeatureCollection",
                "features": [{**FEATURE, "properties": {"name": f"P{at}"}} for at in range(3)],
            },
            "the geometry of 3 features is not read: of others than points",
        ),
    ],
)
def test_what_is_beside_rows_or_within_them_and_not_read_is_said(value: Any, note: str, tmp_path: Path) -> None:
    _, report = made(tmp_path, {"shop.json": json.dumps(value)})
    assert [text.split(": ", 1)[1] for text in report.notes] == [note]


def test_keys_with_dots_and_people_without_marks_lose_nothing(tmp_path: Path) -> None:
    rows = [{"a.b": at, "a": {"b": -at}, "n": f"x{at}"} for at in range(1, 4)]
    tree = "0 HEAD\n0 @I1@ INDI\n1 NAME C /D/\n0 INDI\n1 NAME Lost /Man/\n0 TRLR\n"
    graph, _ = made(tmp_path, {"dots.json": json.dumps(rows), "tree.ged": tree})
    assert {node.name for node in rows_of(graph, "person")} == {"C D", "Lost Man"}
    assert {node.properties["a.b_2"] for node in rows_of(graph, "dot")} == {-1, -2, -3}
