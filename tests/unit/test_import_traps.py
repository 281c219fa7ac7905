"""Tables that tempt an import to a wrong answer that looks like a right one: what is told of each instead."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, ImportReport, import_graph
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


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("phone", ["069 123 453", "069 222 111", "030 555 444", "secret", "secret"]),
        ("mobile", ["+491701234563", "+491701234564", "+43662123456", "none yet", "none yet"]),
        ("zip", ["01067", "04109", "20095", "unknown", "unknown"]),
        ("version", ["1.1", "1.2", "1.10", "2.0", "beta"]),
        ("price", ["1.50", "2.25", "4.00", "7.99", "ca. 5", "ca. 7"]),
    ],
)
def test_a_word_beside_codes_makes_no_numbers_of_them(header: str, cells: list[str], tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("file", "node_type"),
    [
        ("products copy", "product_copy"),
        ("products - Copy", "product_copy"),
        ("products copies", "product_copy"),
        ("products_old", "product_old"),
        ("Products (1)", "product_1"),
        ("sales_orders", "sales_order"),
        ("productscopy", "productscopy"),
    ],
)
def test_a_table_called_as_another_with_a_word_behind_has_its_type_with_that_word(
    file: str, node_type: str, tmp_path: Path
) -> None:
    files = {
        "products.csv": as_csv("product_id,name", [(at, f"Lamp {at}") for at in range(1, 9)]),
        f"{file}.csv": as_csv("product_id,name", [(at, f"Desk {at}") for at in range(11, 19)]),
    }
    _, report = made(tmp_path, files)
    assert report.node_types == {"product": 8, node_type: 8}


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
            {"items": [{"id": 1, "p": 2}, {"id": 2, "p": 3}], "owner": {"name": "Ann", "town": "Kiel"}, "tags": ["a"]},
            "beside the rows, not read: owner, tags",
        ),
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


def values_of(cells: Sequence[str], folder: Path) -> tuple[list[Any], ImportReport]:  # Any: JSON
    """Return what a column `value` becomes, row by row, under whatever names."""
    graph, report = made(folder, {"things.csv": things("value", cells)})
    return [list(node.properties.values()) for node in sorted(rows_of(graph, "thing"), key=lambda n: n.id)], report


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["24,7 kg", "56,3 kg", "ikke målt", "32,6 kg"], {"value_kg": [24.7, 56.3, 32.6], "value_text": ["ikke målt"]}),
        (
            ["12 Aug 2024", "not yet", "3 Jan 2023", "not yet", "4 May 2024"],
            {"value": ["2024-08-12", "2023-01-03", "2024-05-04"], "value_text": ["not yet", "not yet"]},
        ),
        (
            ["2024-08-12", "open", "2023-01-03", "open", "2024-05-04"],
            {"value": ["2024-08-12", "2023-01-03", "2024-05-04"], "value_text": ["open", "open"]},
        ),
        (["1.5", "3.25", "ca. 5", "7.75"], {"value": [1.5, 3.25, 7.75], "value_text": ["ca. 5"]}),
        (["1.5", "---", "7.75", "3.25", "---"], {"value": [1.5, 7.75, 3.25]}),
        (
            ["11/01/2024", "12/01/2024", "13/01/2024", "31/02/2024"],
            {"value": ["2024-01-11", "2024-01-12", "2024-01-13"], "value_text": ["31/02/2024"]},
        ),
        (["20 kg", "21 kg", "22 kg", "6 t"], {"value_kg": [20, 21, 22], "value_text": ["6 t"]}),
        (
            ["1.5", "2.5", "3.5", "1234567890123456789012345"],
            {"value": [1.5, 2.5, 3.5], "value_text": ["1234567890123456789012345"]},
        ),
    ],
)
def test_a_word_that_says_why_there_is_no_number_stays_beside_the_numbers_and_is_told(
    cells: list[str], kept: dict[str, list[Any]], tmp_path: Path
) -> None:
    graph, report = made(tmp_path, {"things.csv": things("value", cells)})
    found: dict[str, list[Any]] = {}
    for node in sorted(rows_of(graph, "thing"), key=lambda node: node.id):
        for name, value in node.properties.items():
            found.setdefault(name, []).append(value)
    assert found == kept
    if "value_text" not in kept:
        questions = report.mapping[0].questions
        assert questions == ("value: 2 of 5 values are no number (---); read as empty",)
        return
    questions = [question for mapping in report.mapping for question in mapping.questions]
    assert any(
        re.search(" (is|are) no (number|date)", question) and kept["value_text"][0] in question
        for question in questions
    )


@pytest.mark.parametrize("cells", [["101", "102", "Aula", "104"], ["38", "40", "S", "M", "L"], ["A1", "B2", "none"]])
def test_names_of_rooms_and_sizes_are_no_numbers_with_a_word_beside(cells: list[str], tmp_path: Path) -> None:
    _, report = values_of(cells, tmp_path)
    assert all(role != "number" for mapping in report.mapping for role in mapping.columns.values())


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        (["1 den", "3 dny", "14 dní"], "number den"),
        (["1 day", "3 days", "14 days"], "number days"),
        (["$28.50/h", "$31.00/h", "$9.25/h"], "number usd_per_h"),
        (["8.400,00 DM", "950,00 DM", "1.250,50 DM"], "comma number dm"),
        (["350,00 kr.", "1.250,50 kr.", "9,00 kr."], "comma number kr"),
        (["5 m", "3 mm", "2 mm"], "property"),
        (["12 AB", "14 AB", "17 AB"], "property"),
        (["2/4-2024", "13/4-2024", "19/9-2024"], "date d/m/y"),
        (["2021-07-14 00:00:00", "14. 7. 2021", "2. 8. 2021"], "date d/m/y"),
        (["raps, lyng", "lind, lyng, raps", "pil, raps", "lyng, pil, lind"], "edge value -> new value split ,"),
        (["LM / PEB", "CR", "LM / CR / PEB", "PEB"], "edge value -> new value split /"),
        (["and/or", "24/7", "he/she", "n/v"], "property"),
        (["1/2", "3/4", "1", "2", "1/2"], "code"),
        (["2011/2012", "2012/2013", "2013"], "code"),
        (["km/h", "km", "h", "m/s", "km/h"], "property"),
        (["2.2.2", "3.3.5", "4.1.6"], "property"),
        (["4/2/3", "4/2/1", "1/1/1"], "property"),
        (["4-2-3", "4-2-1", "1-1-1"], "property"),
        (["150円", "3,300円", "220円"], "number jpy"),
        (["24-Apr-2005", "03-Jun-1994", "30-Dec-2005"], "date in words"),
        (["Lund, Skåne", "Graz, Styria", "Bern, Bern, CH", "Lund, Skåne"], "property"),
    ],
)
def test_units_dates_and_lists_are_told_by_all_values_or_not_at_all(
    cells: list[str], role: str, tmp_path: Path
) -> None:
    _, report = values_of(cells, tmp_path)
    assert report.mapping[0].columns["value"] == role


@pytest.mark.parametrize("word", ["I alt", "ΣΥΝΟΛΟ", "Celkem vzorků", "Summa summarum"])
def test_a_total_is_told_whatever_it_is_called(word: str, tmp_path: Path) -> None:
    rows = [f"{at:04},Name {at},town,{at}.50" for at in range(1, 9)]
    graph, report = made(tmp_path, {"members.csv": "\n".join(["no,name,place,fee", *rows, f"{word},,,40.00"]) + "\n"})
    assert report.node_types["member"] == 8
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("total", 1)]


@pytest.mark.parametrize("options", [["ssn"], []])
@pytest.mark.parametrize(
    ("reason", "line", "place"),
    [
        ("too many cells", "9,Ann,9.5,HIDDEN,x,y", 3),
        ("total", "I alt,,,7777", 8),
        ("one cell alone", "HIDDEN of us,,,", 8),
    ],
)
def test_a_row_that_is_dropped_shows_nothing_of_a_private_column(
    reason: str, line: str, place: int, options: list[str], tmp_path: Path
) -> None:
    rows = [f"{at:04},Name {at},{at}.50,{at}00" for at in range(1, 9)]
    rows.insert(place, line)
    (tmp_path / "members.csv").write_text("\n".join(["no,name,fee,ssn", *rows]) + "\n", encoding="utf-8")
    report = import_graph([tmp_path], None, options=ImportOptions(private=tuple(options)))
    (cut,) = report.dropped
    assert (cut.reason, cut.count, cut.first[0].line) == (reason, 1, place + 2)
    assert ("HIDDEN" in cut.first[0].value or "777" in cut.first[0].value) is not bool(options)


def test_a_last_row_with_the_cells_of_the_others_is_no_total(tmp_path: Path) -> None:
    rows = [f"{at:04},Name {at},town,{at}.50" for at in range(1, 9)]
    _, report = made(tmp_path, {"members.csv": "\n".join(["no,name,place,fee", *rows, "Zoe,Zoe,town,40.00"]) + "\n"})
    assert report.node_types["member"] == 9


def test_two_columns_that_end_with_the_last_id_of_a_table_lead_there_and_ratings_do_not(tmp_path: Path) -> None:
    draw = random.Random(7)
    people = as_csv("id,name", [(at, f"Person {at}") for at in range(1, 67)])
    pairs = [draw.sample(range(1, 67), 2) for _ in range(200)] + [[66, 65], [65, 66]]
    parcels = as_csv("id,ref,sender,receiver", [(at, f"BX{at:05}", *pair) for at, pair in enumerate(pairs, 1)])
    _, report = made(tmp_path, {"people.csv": people, "parcels.csv": parcels})
    assert report.edge_types == {"sender": 202, "receiver": 202}
    other = tmp_path / "other"
    other.mkdir()
    stars = [(at, f"Visit {at}", draw.randint(1, 10), draw.randint(1, 10)) for at in range(1, 200)]
    cooks = as_csv("id,name", [(at, f"Cook {at}") for at in range(1, 11)])
    _, report = made(other, {"cooks.csv": cooks, "visits.csv": as_csv("id,name,food,service", stars)})
    assert report.edges == 0


def test_fathers_who_are_grooms_are_not_called_by_their_weddings(tmp_path: Path) -> None:
    draw = random.Random(3)
    people = [
        (at, f"Anna {at}", draw.randint(1, 30) if at > 40 else "", draw.randint(31, 40) if at > 40 else "")
        for at in range(1, 119)
    ]
    weddings = [(groom, draw.randint(31, 60), f"17{groom + 20}-05-01") for groom in range(1, 31)]
    files = {
        "persons.csv": as_csv("no,name,begetter,bearer", people),
        "weddings.csv": as_csv("groom,bride,day", weddings),
    }
    _, report = made(tmp_path, files)
    links = {
        link.node_type
        for mapping in report.mapping
        for link in mapping.links.values()
        if mapping.file.endswith("persons.csv")
    }
    assert "wedding" not in links


SHOP = as_csv("Article No,Product,Price", [(f"P{at}", f"Tea number {at}", f"{at}.50") for at in range(100, 160)])
LINES = as_csv("order,sku,pieces", [(at // 2, f"P{100 + at * 7 % 55}", 1 + at % 3) for at in range(80)])


def test_a_row_that_is_there_twice_leaves_the_table_its_ids(tmp_path: Path) -> None:
    graph, report = made(tmp_path, {"products.csv": SHOP + SHOP.splitlines()[-1] + "\n", "lines.csv": LINES})
    assert graph.node("P159").type == "product"
    assert [(cut.reason, cut.count) for cut in report.merged] == [("duplicate", 1)]
    assert not report.dropped


def test_two_rows_of_one_id_that_differ_are_called_by_their_lines(tmp_path: Path) -> None:
    _, report = made(tmp_path, {"products.csv": SHOP + "P159,Another tea,9.90\n", "lines.csv": LINES})
    assert report.node_types["product"] == 61


def test_what_says_more_of_rows_does_not_take_what_leads_to_them(tmp_path: Path) -> None:
    stars = as_csv("sku,stars,votes", [(f"P{at}", at % 5 + 1, at * 3) for at in range(100, 160)])
    graph, report = made(tmp_path, {"products.csv": SHOP, "ratings.csv": stars, "lines.csv": LINES})
    assert graph.node("P101").properties["stars"] == 2
    assert "rating" not in report.node_types
    assert all(
        graph.node(edge.target).type in ("product", "order") or edge.type != "sku" for edge in graph.iter_edges()
    )
    assert {link.node_type for mapping in report.mapping for link in mapping.links.values() if link.key} == {"product"}


@pytest.mark.parametrize("header", ["category", "kind"])
def test_rows_stay_what_their_file_is_called_beside_a_column_of_kinds(header: str, tmp_path: Path) -> None:
    rows = [(f"T{at}", f"Tea number {at}", "green" if at % 2 else "black") for at in range(40)]
    _, report = made(tmp_path, {"teas.csv": as_csv(f"no,name,{header}", rows)})
    assert report.node_types["tea"] == 40


def test_a_mapping_that_the_values_contradict_changes_no_number(tmp_path: Path) -> None:
    from orienteer.ingest import ImportOptions, mappings_as_toml

    rows = "\n".join(["no;name;price", *(f"T{at};Tea {at};{at},46 €" for at in range(20))]) + "\n"
    _, report = made(tmp_path, {"teas.csv": rows})
    text = mappings_as_toml(report.mapping, [tmp_path / "files"]).replace('"comma number eur"', '"number eur"')
    (tmp_path / "mapping.toml").write_text(text, encoding="utf-8")
    import_graph([tmp_path / "files"], tmp_path / "other", options=ImportOptions(mapping=tmp_path / "mapping.toml"))
    node = Graph.open(tmp_path / "other").node("T7")
    assert "7,46 €" in node.properties.values()
    assert 746 not in node.properties.values()


def test_folders_within_are_told(tmp_path: Path) -> None:
    (tmp_path / "files" / "2023").mkdir(parents=True)
    (tmp_path / "files" / "2023" / "sales.csv").write_text(LINES, encoding="utf-8")
    (tmp_path / "files" / "products.csv").write_text(SHOP, encoding="utf-8")
    report = import_graph([tmp_path / "files"], None)
    assert any("2023" in note and "not read" in note for note in report.notes)


@pytest.mark.parametrize("last", ["Aula,,,12", "Depot,,,2"])
def test_a_last_row_that_is_called_otherwise_and_is_no_sum_stays(last: str, tmp_path: Path) -> None:
    rows = [f"{at},Room {at},east,{20 + at % 7}" for at in range(101, 112)]
    _, report = made(tmp_path, {"rooms.csv": "\n".join(["no,name,wing,seats", *rows, last]) + "\n"})
    assert report.node_types["room"] == 12


def test_months_do_not_lead_to_twelve_products(tmp_path: Path) -> None:
    draw = random.Random(9)
    products = as_csv("id,name", [(at, f"Soap {at}") for at in range(1, 13)])
    pairs = [draw.sample(range(1, 13), 2) for _ in range(120)]
    rows = [(f"B{at}", *pair) for at, pair in enumerate(pairs)]
    files = {"products.csv": products, "deliveries.csv": as_csv("batch,ordered month,delivered month", rows)}
    _, report = made(tmp_path, files)
    assert (report.edges, report.node_types["delivery"]) == (0, 120)


PEOPLE = [
    (f"K{at}", first, last)
    for at, (first, last) in enumerate(
        (first, last)
        for last in ("Meyer-Lux", "O'Neill", "Fuchs", "Noack", "Kunze")
        for first in ("Ada", "Bo", "Eve", "Ida")
    )
]


@pytest.mark.parametrize("header", ["k,n1,n2", "id,fn,sn"])
def test_first_and_last_names_are_told_by_their_values(header: str, tmp_path: Path) -> None:
    graph, report = made(tmp_path, {"kd.csv": as_csv(header, PEOPLE)})
    assert report.node_types == {"kd": 20}
    assert {(node.id, node.name) for node in rows_of(graph, "kd")} == {(k, f"{a} {b}") for k, a, b in PEOPLE}


@pytest.mark.parametrize(
    "cells",
    [
        [(k, a, "red" if at % 2 else "blue") for at, (k, a, _) in enumerate(PEOPLE)],  # no words with a capital
        [(k, a, "Fuchs") for k, a, _ in PEOPLE],  # two rows would have one name
        [(k, a, f"{b} 7") for k, a, b in PEOPLE],
    ],
)
def test_two_columns_that_do_not_name_each_row_are_no_names(cells: Sequence[Sequence[str]], tmp_path: Path) -> None:
    graph, _ = made(tmp_path, {"kd.csv": as_csv("k,n1,n2", cells)})
    assert {node.name for node in rows_of(graph, "kd")} == {k for k, _, _ in PEOPLE}


def test_a_code_is_the_id_where_others_refer_to_names(tmp_path: Path) -> None:
    boats = [(f"N-{at:03}-HR", name, 1980 + at) for at, name in enumerate(("Terna", "Bolgen", "Trygg", "Skarv", "Orn"))]
    landed = [(f"2024-01-{at + 1:02}", boats[at % 5][1], 10.5 + at) for at in range(20)]
    files = {"boats.csv": as_csv("mark,boat,built", boats), "landings.csv": as_csv("day,boat,kg", landed)}
    graph, report = made(tmp_path, files)
    assert {(node.id, node.name) for node in rows_of(graph, "boat")} == {(mark, boat) for mark, boat, _ in boats}
    assert report.edge_types == {"boat": 20}


def test_a_code_is_no_name_beside_a_name(tmp_path: Path) -> None:
    rows = [(at, f"N{at}", "Bergen" if at == 7 else "", "ab"[at % 2]) for at in range(1, 40)]
    graph, _ = made(tmp_path, {"rows.csv": as_csv("id,name,old_name_code,kind", rows)})
    codes = {node.name: node.properties.get("old_name_code") for node in rows_of(graph, "row")}
    assert codes == {name: code or None for _, name, code, _ in rows}
