"""The rows of files behind a node, at every door."""

import json
import os

import pytest

from orienteer.graph import Graph
from orienteer.records import Node
from orienteer.serve import look_up_tool, tools_of

BEERS = """beer_id,name,abv,brewer,pin
b1,Duvel,8.5,y1,1111
b2,Orval,6.2,y2,2222
b2,Orval,6.2,y2,2222
"""
BREWERS = "brewer_id,name\ny1,Moortgat\ny2,Abbey of Orval\n"


@pytest.fixture
def graph(home, cli):
    """Give a graph of two tables, of which one column is private."""
    folder = home / "beers"
    folder.mkdir()
    (folder / "beers.csv").write_text(BEERS)
    (folder / "brewers.csv").write_text(BREWERS)
    assert cli("import", folder, "-o", "graph", "--private", "pin", "-q").code == 0
    return "graph"


def test_a_row_as_it_stands_in_its_file(cli, graph):
    ran = cli("show", graph, "y1", "--rows", "--json")
    assert (ran.code, ran.json) == (
        0,
        [{"file": "brewers.csv", "line": 2, "cells": {"brewer_id": "y1", "name": "Moortgat"}}],
    )
    assert cli("show", graph, "y1", "--rows").out == "brewers.csv, line 2\nbrewer_id  y1\nname       Moortgat\n"
    assert "brewers.csv,2,name,Moortgat" in cli("show", graph, "y1", "--rows", "--format", "csv").out


def test_two_rows_of_one_node_and_no_private_cell(cli, graph):
    rows = cli("show", graph, "beer:b2", "--rows", "--json").json
    assert [(row["file"], row["line"]) for row in rows] == [("beers.csv", 3), ("beers.csv", 4)]
    assert all(row["cells"] == {"beer_id": "b2", "name": "Orval", "abv": "6.2", "brewer": "y2"} for row in rows)


def test_a_file_that_has_changed_or_gone_says_so(cli, graph, home):
    file = home / "beers" / "brewers.csv"
    file.write_text(BREWERS.replace("Moortgat", "Secret"))
    os.utime(file, ns=(0, 0))
    ran = cli("show", graph, "y1", "--rows")
    assert (ran.code, ran.out) == (1, "")
    assert "brewers.csv has changed since it was read" in ran.err
    file.unlink()
    ran = cli("show", graph, "y1", "--rows")
    assert (ran.code, ran.out) == (1, "")
    assert "brewers.csv is gone" in ran.err
    assert str(home) not in ran.err


def test_json_lines_and_workbooks(cli, home):
    folder = home / "mixed"
    folder.mkdir()
    lines = [{"id": f"p{at}", "name": f"Person {at}", "tags": ["a", "b"]} for at in range(30)]
    (folder / "people.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("town_id", "name", "size"), *((f"t{at}", f"Town {at}", at * 100) for at in range(9))]:
        book.active.append(row)
    book.save(folder / "towns.xlsx")
    assert cli("import", folder, "-o", "graph", "-q").code == 0
    (row,) = cli("show", "graph", "p28", "--rows", "--json").json
    assert (row["file"], row["line"]) == ("people.jsonl", 29)
    assert row["cells"] == {"id": "p28", "name": "Person 28", "tags": "a, b"}
    (row,) = cli("show", "graph", "t3", "--rows", "--json").json
    assert (row["line"], row["cells"]) == (5, {"town_id": "t3", "name": "Town 3", "size": "300"})


def test_a_value_of_many_rows_shows_the_first(cli, home):
    (home / "many").mkdir()
    rows = "".join(f"f{at},Film {at},{('Drama', 'Comedy')[at % 2]};Noir\n" for at in range(40))
    (home / "many" / "films.csv").write_text("film_id,name,genre\n" + rows)
    (home / "map.toml").write_text(
        '[[table]]\nfile = "films.csv"\nkind = "both"\ntype = "film"\n[table.columns]\nfilm_id = "id"\n'
        'name = "name"\ngenre = "edge genre -> new genre split ;"\n'
    )
    assert cli("import", "many", "-o", "graph", "--mapping", "map.toml", "-q").code == 0
    ran = cli("show", "graph", "genre:Comedy", "--rows", "--json")
    assert [row["line"] for row in ran.json] == list(range(3, 23, 2))
    assert "these are the first 10" in ran.err


def test_a_graph_of_records_has_no_rows(cli, build):
    ran = cli("show", build([Node("n", "t", "a")]).path, "n", "--rows")
    assert (ran.code, ran.out, ran.err) == (1, "", "note: no row of a table was read as this node\n")


def test_other_doors_give_the_same(cli, graph, home):
    expected = cli("show", graph, "y1", "--rows", "--json").json
    tool = tools_of(offers_cypher=False)["node"]
    for name in ("y1", "Moortgat (brewer)"):
        reply = look_up_tool(tool, Graph.open(home / graph), {"node": name, "rows": True})
        assert reply.text == "brewers.csv, line 2\n  brewer_id: y1\n  name: Moortgat"
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from fakes.http_site import serving

    with serving({"only": Graph.open(home / graph)}) as client:
        assert client.get("/api/rows?id=y1").json == {"rows": expected, "notes": []}
        assert client.get("/api/rows?id=none").status == 404
