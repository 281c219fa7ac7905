"""A node is named by its id, its name or an alias, else by a part of its name that no other node has."""

import json

import pytest


@pytest.fixture
def beers(home, cli):
    """Give a graph of beers and breweries."""
    folder = home / "beers"
    folder.mkdir()
    nodes = [
        {"id": "y1", "type": "brewery", "name": "Russian River Brewing Company", "country": "USA"},
        {"id": "y2", "type": "brewery", "name": "Brasserie de Chimay", "country": "Belgium"},
        {"id": "y3", "type": "brewery", "name": "Duvel Moortgat", "country": "Belgium"},
        {"id": "b1", "type": "beer", "name": "Chimay Bleue"},
        {"id": "b2", "type": "beer", "name": "Chimay Rouge"},
        {"id": "b3", "type": "beer", "name": "Duvel"},
        {"id": "b4", "type": "beer", "name": "Blind Pig"},
    ]
    nodes += [{"id": f"m{at}", "type": "note", "name": f"Note {at}", "text": "of Chimay and Duvel"} for at in range(80)]
    edges = [("b1", "y2"), ("b2", "y2"), ("b3", "y3"), ("b4", "y1")]
    (folder / "nodes.jsonl").write_text("".join(json.dumps(node) + "\n" for node in nodes))
    (folder / "edges.jsonl").write_text(
        "".join(json.dumps({"source": a, "type": "brewed_by", "target": b}) + "\n" for a, b in edges)
    )
    assert cli("import", folder, "-o", "graph", "-q").code == 0
    return "graph"


def test_a_part_of_one_name_is_that_node_and_is_said(cli, beers):
    ran = cli("show", beers, "Russian River", "--json")
    assert (ran.code, ran.json["id"]) == (0, "y1")
    assert ran.err == (
        "note: 'Russian River' is read as Russian River Brewing Company (y1), the only name that holds it\n"
    )
    assert cli("neighbors", beers, "russian river", "--json").json["node"] == "y1"
    assert cli("paths", beers, "Russian River", "Blind Pig", "--json").json["paths"][0]["nodes"] == ["y1", "b4"]
    assert [hit["id"] for hit in cli("intersect", beers, "moortgat", "y3", "--json").json["hits"]] == ["b3"]


def test_a_part_of_several_names_is_none_of_them_and_all_are_offered(cli, beers):
    ran = cli("show", beers, "Chimay")
    assert (ran.code, ran.out) == (2, "")
    assert all(name in ran.err for name in ("Chimay Bleue", "Chimay Rouge", "Brasserie de Chimay"))
    assert cli("show", beers, "de").code == 2  # a word that says nothing is no part of a name


def test_a_whole_name_is_no_part(cli, beers):
    assert cli("show", beers, "Duvel", "--json").json["id"] == "b3"


def test_a_name_of_several_nodes_is_never_read_in_silence(cli, home):
    (home / "two").mkdir()
    nodes = [{"id": "d1", "type": "disease", "name": "migraine"}, {"id": "s1", "type": "effect", "name": "Migraine"}]
    (home / "two" / "nodes.jsonl").write_text("".join(json.dumps(node) + "\n" for node in nodes))
    (home / "two" / "edges.jsonl").write_text(json.dumps({"source": "d1", "type": "like", "target": "s1"}) + "\n")
    assert cli("import", "two", "-o", "graph", "-q").code == 0
    both = "2 nodes bear the name {!r}: d1 (disease); s1 (effect)"
    for name, meant in (("migraine", "d1"), ("Migraine", "s1")):
        for command in (("show", "graph", name), ("neighbors", "graph", name)):
            ran = cli(*command)
            assert ran.code == 0
            assert ran.err == f"note: {both.format(name)}. Read as {meant}; for another give its id\n"
        ran = cli("search", "graph", name, "--json")
        assert [hit["id"] for hit in ran.json["hits"]][0] == meant
        assert ran.json["notes"] == [both.format(name)]
    ran = cli("show", "graph", "MIGRAINE")
    assert (ran.code, "d1 (disease); s1 (effect)" in ran.err) == (2, True)
    assert cli("show", "graph", "d1").err == ""


@pytest.mark.parametrize(("mistyped", "near"), [("Duvl", "Duvel"), ("Chimey", "Chimay"), ("Blnd Pig", "Blind Pig")])
def test_a_mistyped_name_is_offered_what_is_near(cli, beers, mistyped, near):
    ran = cli("neighbors", beers, mistyped)
    assert ran.code == 2
    assert ran.err.startswith(f"error: No node '{mistyped}'. Near: ")
    assert near in ran.err
