"""`orienteer cypher` as people type it."""

import json

import pytest

from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.serve import main


@pytest.fixture(scope="module")
def languages(scratch):
    path = scratch()
    Graph.from_records(*demo_records(), path=path)
    return str(path)


def test_json_has_columns_rows_total_truncated(languages, capsys):
    query = "MATCH (l:language) WHERE l.year > $year RETURN l.name, l.year ORDER BY l.name"
    assert main(["cypher", languages, query, "--param", "year=2000", "--limit", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    years = sorted(
        (node.name, node.properties["year"])
        for node in demo_records()[0]
        if node.type == "language" and node.properties.get("year", 0) > 2000
    )
    assert result == {
        "columns": ["l.name", "l.year"],
        "rows": [list(row) for row in years[:2]],
        "total": len(years),
        "truncated": True,
        "notes": [],
        "proofs": [],
    }


def test_a_table_for_people_and_what_is_missing_on_standard_error(languages, capsys):
    assert main(["cypher", languages, "MATCH (l:language) RETURN l.name ORDER BY l.name", "--limit", "1"]) == 0
    out, err = capsys.readouterr()
    assert out.split() == ["l.name", "ABC"]
    assert "1 of 45 rows" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["MATCH (n) DETACH DELETE n"], 2, "DETACH is not allowed"),
        (["MATCH (n:Languge) RETURN n"], 2, "Near: language"),
        (["MATCH (n) RETURN $x", "--param", "x"], 2, "--param NAME=VALUE"),
        (
            [
                "MATCH (a), (b), (c), (d), (e) WHERE a.name + b.name + c.name + d.name + e.name = 'x' RETURN count(*)",
                "--seconds",
                "0.2",
            ],
            1,
            "longer than 0.2 s",
        ),
    ],
)
def test_errors_are_one_line_with_an_exit_code(languages, capsys, arguments, code, message):
    assert main(["cypher", languages, *arguments]) == code
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert err.count("\n") == 1


def test_a_parameter_is_json_where_it_parses_else_a_text(languages, capsys):
    flags = ["--param", "a=[1, 2]", "--param", "b=12x", "--param", "$c=null", "--param", "d=a=b"]
    assert main(["cypher", languages, "RETURN $a AS a, $b AS b, $c IS NULL AS c, $d AS d", *flags, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [[[1, 2], "12x", True, "a=b"]]


def test_a_view_names_ids_and_types_its_way(languages, capsys):
    query = (
        "MATCH (p:Person:computing {id: 'niklaus-wirth'})-[r]->(l:Language {id: 'oberon'}) RETURN type(r), labels(l)"
    )
    assert main(["cypher", languages, query, "--view", "computing", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows == [["LANGUAGE_DESIGNED_BY_PERSON", ["language", "computing"]]]
    assert main(["cypher", languages, query]) == 2
    assert main(["cypher", languages, "MATCH (n) RETURN n", "--view", "Language"]) == 2
    assert "is a node type" in capsys.readouterr().err


def test_proofs_say_what_the_first_rows_rest_on(languages, capsys):
    query = "MATCH (l:language)-[d:designed_by]->(p) RETURN p.name ORDER BY p.name, l.name"
    assert main(["cypher", languages, query, "--limit", "2", "--proofs", "1", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    [proof] = table["proofs"]
    [laid] = proof["laid"]
    assert proof["values"] == {"p.name": table["rows"][0][0]} == {"p.name": laid["p"]["name"]}
    assert (laid["d"]["source"], laid["d"]["target"]) == (laid["l"]["id"], laid["p"]["id"])
    assert main(["cypher", languages, query, "--limit", "1", "--proofs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "row 1" in printed
    assert f"{laid['d']['source']} -designed_by-> {laid['d']['target']}" in printed
