"""`list`: nodes by type and property, without words."""

import json

import pytest


def test_a_page_in_order_with_the_number_of_all(cli, clubs):
    ran = cli("list", clubs, "--type", "person", "--sort", "born", "--descending", "-k", 2)
    lines = ran.out.splitlines()
    assert (ran.code, lines[0]) == (0, "4 nodes")
    assert [line.split()[0] for line in lines[2:]] == ["Cat", "Ann"]
    assert "born=1990" in lines[2]
    assert "2 of them have no born: they come last" in ran.err
    assert "2 more: --offset 2" in ran.err
    assert cli("list", clubs, "--offset", 6).out.splitlines()[2].startswith("Dan")


def test_json_has_the_promised_keys(cli, clubs):
    ran = cli("list", clubs, "--where", "born >= 1980", "--sort", "born", "--json")
    assert ran.json == {
        "total": 2,
        "offset": 0,
        "hits": [
            {"id": "ann", "type": "person", "name": "Ann", "properties": {"born": 1980}},
            {"id": "cat", "type": "person", "name": "Cat", "properties": {"born": 1990}},
        ],
    }
    assert cli("list", clubs, "--group-by", "type", "--json").json == {
        "total": 7,
        "groups": [{"value": "person", "count": 4}, {"value": "club", "count": 3}],
    }
    assert cli("list", clubs, "--count", "--json").json == {"total": 7, "offset": 0, "hits": []}


def test_counts_and_groups(cli, clubs):
    ran = cli("list", clubs, "--type", "club", "--count")
    assert (ran.out, ran.err) == ("3\n", "")
    ran = cli("list", clubs, "--group-by", "born", "--count")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["7", "nodes,", "3", "groups"], ["born", "count"], ["1980", "1"], ["1990", "1"], ["(none)", "5"],
    ]  # fmt: skip
    ran = cli("list", clubs, "--group-by", "born", "-k", 1)
    assert "5 of them have no born" in ran.err
    assert "2 more: --offset 1" in ran.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--type", "persn"), "No node type 'persn'. Near: person."),
        (("--sort", "bron"), "No node has a property 'bron'. Near: born."),
        (("--group-by", "bron"), "No node has a property 'bron'. Near: born."),
        (("--where", "bron>3"), "No node has a property 'bron'. Near: born."),
        (("--where", "born"), "'born' is not a condition"),
        (("--group-by", "born", "--sort", "name"), "groups cannot be sorted by 'name': sort them by count or by born"),
    ],
)
def test_what_there_is_not_is_one_line(cli, clubs, arguments, error):
    ran = cli("list", clubs, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {error}")
    assert ran.err.count("\n") == 1


def test_a_folder_of_tables_is_listed_too(cli, tables):
    assert json.loads(cli("list", tables, "--type", "club", "--sort", "name", "--json").out)["hits"][0]["id"] == "boats"
