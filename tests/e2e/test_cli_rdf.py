"""RDF on the command line: imported, searched where it lies, refused."""

from __future__ import annotations

import gzip
import sys

import pytest

pytest.importorskip("pyoxigraph")

TOWNS = """
@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:lodz a ex:City ; rdfs:label "Lodz"@en , "Łódź"@pl ; rdfs:comment "A city with a film school."@en ;
    ex:locatedIn ex:poland ; ex:people 670642 .
ex:locatedIn rdfs:label "is located in"@en .
ex:poland a ex:Country ; rdfs:label "Poland"@en , "Polska"@pl .
"""
TWINS = b"<http://ex.org/lodz> <http://ex.org/twin> <http://ex.org/lyon> .\nno statement\n"


@pytest.fixture
def towns(home):
    folder = home / "towns"
    folder.mkdir()
    (folder / "towns.ttl").write_text(TOWNS, encoding="utf-8")
    (folder / "twins.nt.gz").write_bytes(gzip.compress(TWINS))
    return folder


def test_import_show_neighbors(cli, towns):
    ran = cli("import", towns, "-o", "graph", "--json")
    assert ran.code == 0
    assert (ran.json["nodes"], ran.json["edges"]) == (4, 2)
    assert ran.json["labels"] == {"locatedIn": "is located in"}
    (cut,) = ran.json["dropped"]
    assert (cut["reason"], cut["count"], cut["first"][0]["line"]) == ("malformed", 1, 2)
    shown = cli("show", "graph", "Lodz", "--json").json
    assert shown["id"] == "ex:lodz"
    assert shown["properties"] == {"people": 670642, "iri": "http://ex.org/lodz"}
    (hit,) = cli("neighbors", "graph", "ex:lodz", "--edge", "is located in", "--json").json["hits"]
    assert hit["name"] == "Poland"
    assert "left out 2 values in other languages than 'en' (pl 2)" in cli("validate", towns).out
    assert cli("import", towns, "-o", "graph", "--force", "--language", "pl").code == 0
    assert cli("show", "graph", "ex:lodz", "--json").json["name"] == "Łódź"


def test_searched_where_it_lies_and_made_anew_on_change(cli, towns):
    (hit,) = cli("search", towns, "film school", "--json").json["hits"]
    assert hit["id"] == "ex:lodz"
    (towns / "more.nt").write_text('<http://ex.org/oslo> <http://ex.org/motto> "Unanimous and constant" .\n')
    assert cli("show", towns, "oslo", "--json").json["id"] == "ex:oslo"


def test_faults_end_with_two(cli, towns, monkeypatch):
    ran = cli("import", towns, "-o", "graph", "--strict")
    assert (ran.code, "twins.nt.gz, line 2" in ran.err) == (2, True)
    (towns / "towns.ttl").write_text(TOWNS + "ex:a ex:b .", encoding="utf-8")
    ran = cli("import", towns, "-o", "graph")
    assert (ran.code, ran.err.count("error: "), "towns.ttl, line 8" in ran.err.splitlines()[-1]) == (2, 1, True)
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    ran = cli("import", towns, "-o", "graph")
    assert (ran.code, "pip install 'orienteer[rdf]'" in ran.err) == (2, True)
