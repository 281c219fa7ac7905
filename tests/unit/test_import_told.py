"""Tables that new people brought: what their values say against what their headers seem to."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fakes.inside import inside
from orienteer.graph import Graph
from orienteer.ingest import DelimitedText, ImportOptions, ImportReport, import_graph
from orienteer.serve import main

FIRST = ["Ann", "Bob", "Cid", "Dora", "Emil", "Finn", "Gus", "Hana"]
LAST = ["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Oak"]
PEOPLE = list(itertools.product(FIRST, LAST))


def made(folder: Path, files: Mapping[str, str | bytes]) -> tuple[Graph, ImportReport]:
    (folder / "files").mkdir()
    for name, text in files.items():
        (folder / "files" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    report = import_graph([folder / "files"], folder / "graph")
    return Graph.open(folder / "graph"), report


def table(header: str, rows: Sequence[Sequence[object]], sign: str = ",") -> str:
    return "\n".join([header, *(sign.join(map(str, row)) for row in rows)]) + "\n"


def roles_of(report: ImportReport, file: str) -> Mapping[str, str]:
    return next(mapping.columns for mapping in report.mapping if mapping.file.endswith(f"/{file}"))


@pytest.mark.parametrize("pair", ["from,to", "start,end", "From,To"])
def test_days_are_no_ends_whatever_they_are_called(pair: str, tmp_path: Path) -> None:
    tenants = table("tenant,name", [(f"T{at:03}", f"{a} {b}") for at, (a, b) in enumerate(PEOPLE[:20])])
    lets = [(f"T{at % 20:03}", f"2023-01-{at + 1:02}", f"2023-02-{at + 1:02}", at * 10) for at in range(25)]
    graph, report = made(tmp_path, {"tenants.csv": tenants, "lets.csv": table(f"tenant,{pair},deposit", lets)})
    assert graph.schema.node_types == {"tenant": 20, "let": 25}
    assert {(edge.source, edge.target) for edge in graph.iter_edges()} == {
        (f"let:{at + 2}", f"T{at % 20:03}") for at in range(25)
    }
    assert not report.dropped


@pytest.mark.parametrize("pair", ["from,to", "start,end", "source,target"])
def test_names_of_towns_are_ends_whatever_they_are_called(pair: str, tmp_path: Path) -> None:
    roads = table(f"{pair},km", [("Ulm", "Linz", 300), ("Graz", "Linz", 220), ("Ulm", "Riga", 1600)])
    graph, _ = made(tmp_path, {"roads.csv": roads})
    assert len(list(graph.iter_edges())) == 3
    assert sum(graph.schema.node_types.values()) == 4


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_other_columns_of_tables_with_known_names_are_told_by_their_values(form: str, tmp_path: Path) -> None:
    nodes = [
        ("a", "Ann", "1.234,50", "31.12.2024", "red|blue"),
        ("b", "Bob", "12,00", "01.02.2023", "blue"),
        ("c", "Cid", "3,25", "15.06.2022", "red"),
    ]
    edges = [("a", "b", "5 kg", "13/01/2024"), ("b", "c", "7 kg", "14/02/2024")]
    heads = ["id", "name", "price", "opened", "tags"], ["source", "target", "mass", "since"]
    if form == "csv":
        texts = [table(";".join(head), rows, ";") for head, rows in zip(heads, (nodes, edges), strict=True)]
    else:
        texts = [
            "".join(json.dumps(dict(zip(head, row, strict=True))) + "\n" for row in rows)
            for head, rows in zip(heads, (nodes, edges), strict=True)
        ]
    graph, _ = made(tmp_path, {f"nodes.{form}": texts[0], f"edges.{form}": texts[1]})
    assert graph.node("a").properties == {"price": 1234.5, "opened": "2024-12-31", "tags": ["red", "blue"]}
    assert [edge.properties for edge in graph.iter_edges()] == [
        {"mass_kg": 5, "since": "2024-01-13"},
        {"mass_kg": 7, "since": "2024-02-14"},
    ]


@pytest.mark.parametrize("header", ["x,x_text", "x_text,x"])
@pytest.mark.parametrize("name", ["things", "nodes"])
def test_a_text_beside_numbers_takes_no_other_columns_name(name: str, header: str, tmp_path: Path) -> None:
    at = header.split(",").index("x")
    cells = [[f"{row}.5", f"word {row}"] for row in range(19)] + [["ca. 5", "last"]]
    rows = [(f"a{row}", f"Thing {row}", *(cell if at == 0 else cell[::-1])) for row, cell in enumerate(cells)]
    graph, report = made(tmp_path, {f"{name}.csv": table(f"id,name,{header}", rows)})
    assert graph.node("a3").properties["x"] == 3.5
    assert [graph.node(f"a{row}").properties["x_text"] for row in (0, 19)] == ["word 0", "last"]
    assert "x" not in graph.node("a19").properties
    assert graph.node("a19").properties["x_text1"] == "ca. 5"
    assert any("kept as x_text1" in question for mapping in report.mapping for question in mapping.questions)


def test_a_mapping_that_is_written_gives_the_same_graph_of_signs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [("---" if at % 7 == 0 else f"{at}.25", "?" if at % 5 == 0 else f"2024-01-{at + 1:02}") for at in range(28)]
    graph, _ = made(
        tmp_path, {"readings.csv": table("id,temp,day", [(f"t{at}", *row) for at, row in enumerate(cells)])}
    )
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "files", "--write-mapping", "m.toml", "-q"]) == 0
    import_graph([Path("files")], Path("given"), options=ImportOptions(mapping=Path("m.toml")))
    given = Graph.open(tmp_path / "given")
    for at in range(28):
        assert given.node(f"t{at}").properties == graph.node(f"t{at}").properties
    assert graph.node("t0").properties == {}


def test_routes_with_an_end_that_is_missing_stay_routes(tmp_path: Path) -> None:
    rows = [(f"A{at % 30}", f"A{at * 7 % 30}", at) for at in range(1, 400)] + [("A1", "", 5)]
    graph, report = made(tmp_path, {"routes.csv": table("from,to,km", rows)})
    assert len(list(graph.iter_edges())) + sum(cut.count for cut in report.merged) == 399
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("empty id", 1)]


def test_people_who_share_a_first_name_or_both_are_not_one_another(tmp_path: Path) -> None:
    owners = table("Owner,First name,Last name", [(f"O{at}", FIRST[at], LAST[at]) for at in range(8)])
    guests = table("Guest no,First name,Last name", [(2000 + at, a, b) for at, (a, b) in enumerate(PEOPLE[:40])])
    clubs = table("Club,Chair", [("Chess", "Ann Ash"), ("Go", "Finn Hazel"), ("Dice", "Emil Elm")])
    graph, report = made(tmp_path, {"owners.csv": owners, "guests.csv": guests, "clubs.csv": clubs})
    assert {edge.type for edge in graph.iter_edges()} <= {"chair"}
    assert graph.node("2000").name == "Ann Ash"
    assert not roles_of(report, "guests.csv")["First name"].startswith("edge")


def test_a_column_leads_to_the_counter_that_is_called_alike(tmp_path: Path) -> None:
    members = table("N° adhérent;Nom;Ville", [(at, f"{a} {b}", "Lyon") for at, (a, b) in enumerate(PEOPLE, 1)], ";")
    orders = table("Panier;N° adhérent;Poids", [(f"P{at}", at * 7 % 60 + 1, at) for at in range(30)], ";")
    graph, report = made(tmp_path, {"adherents.csv": members, "paniers.csv": orders})
    assert roles_of(report, "paniers.csv")["N° adhérent"] == "edge adhérent -> adherent.N° adhérent"
    assert sum(edge.type == "adhérent" for edge in graph.iter_edges()) == 30


def test_rows_between_rows_that_are_totals_or_units_are_told_and_left_out(tmp_path: Path) -> None:
    rows = ["Hole,Site,Depth,Iron", ",,m,ppm", "H1,North,12.5,3", "H2,North,8,4", " Total North,,20.5,7"]
    rows += ["H3,South,3.5,1", "H4,South,4,9", "Subtotal South,,7.5,10"]
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "holes.csv").write_text("\n".join(rows) + "\n")
    report = import_graph([tmp_path / "files"], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    assert [graph.node(f"H{at}").properties["Depth"] for at in range(1, 5)] == [12.5, 8, 3.5, 4]
    assert graph.schema.node_types["hole"] == 4
    assert {cut.reason: cut.count for cut in report.dropped} == {"units": 1, "total": 2}


def test_films_that_are_called_total_are_no_totals(tmp_path: Path) -> None:
    films = table(
        "title,year,minutes,director",
        [
            ("Up", 2009, 96, "Pete"),
            ("Total Recall", 1990, 113, "Paul"),
            ("Total Eclipse", "", 111, ""),
            ("Her", 2013, 126, "Spike"),
        ],
    )
    graph, report = made(tmp_path, {"films.csv": films})
    assert graph.schema.node_types["film"] == 4
    assert not report.dropped


@pytest.mark.parametrize("has_arrow", [True, False])
def test_totals_between_rows_are_told_with_and_without_arrow(
    has_arrow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_arrow:
        monkeypatch.setattr(inside(DelimitedText), "has_arrow", lambda: False)
    rows: list[Sequence[object]] = []
    for house in range(40):
        rows += [(f"H{house:02}", f"{house}-{flat}", 50 + flat, 400 + house) for flat in range(60)]
        rows.append((f"Total H{house:02}", "", 60 * 79, 24_000))
    graph, report = made(tmp_path, {"flats.csv": table("House,Flat,Area,Rent", rows)})
    assert graph.schema.node_types["flat"] == 2_400
    assert {cut.reason: cut.count for cut in report.dropped} == {"total": 40}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "Os. č.;Jméno;Příjmení\n1;Kryštof;Jelínek\n2;Eva;Urbanová\n3;Jiří;Dvořák\n4;Běla;Kučerová\n"),
        ("cp1250", "Nr;Imię;Nazwisko\n1;Łukasz;Wiśniewski\n2;Małgorzata;Dąbrowska\n3;Paweł;Żuk\n"),
        ("cp1254", "No;Adı;Soyadı\n1;Işıl;Yıldız\n2;Çağrı;Şahin\n3;Gökçe;Öztürk\n4;İrem;Kılıç\n"),
        ("cp1252", "Nr;Vorname;Straße\n1;Jürgen;Große Gasse\n2;Käthe;Mühlweg\n3;Jörg;Am Bächle\n"),
        ("cp1252", "N;Prénom;Métier\n1;Hélène;Écrivaine\n2;François;Maçon\n3;Noël;Élève\n4;Zoé;Pâtissière\n"),
        ("cp1252", "Nr;Navn;By\n1;Søren;Ærøskøbing\n2;Åse;Tromsø\n3;Bjørn;Østerås\n"),
        ("cp1252", "N;Nombre;Ciudad\n1;Íñigo;Logroño\n2;Begoña;Cádiz\n3;Raúl;Málaga\n"),
        ("cp1252", "N;Nome;Cidade\n1;João;São Paulo\n2;Conceição;Olhão\n3;Inês;Évora\n"),
    ],
)
def test_letters_are_those_of_a_language(encoding: str, text: str, tmp_path: Path) -> None:
    _, report = made(tmp_path, {"people.csv": text.encode(encoding)})
    assert set(roles_of(report, "people.csv")) == set(text.split("\n")[0].split(";"))


def test_maps_beside_lists_of_objects_are_tables_too(tmp_path: Path) -> None:
    hosts = "hosts:\n" + "".join(f"- name: h{at}\n  watts: {at}\n" for at in range(4))
    services = "services:\n" + "".join(f"  s{at}:\n    host: h{at % 4}\n    port: {9000 + at}\n" for at in range(6))
    graph, report = made(tmp_path, {"lab.yml": f"site: attic\n{hosts}{services}"})
    assert graph.schema.node_types["host"] == 4
    assert graph.schema.node_types["service"] == 6
    assert not report.ignored
